"""Word alignments of one request's texts, for the tags and the formatting within them."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence

from heedful.errors import HeedfulError
from heedful.serve.translation.directions import Served

MOST = 512
"""Texts of a request that are aligned; in those after, tags are placed by proportion."""


class Aligner:
    """Aligns the words of one request's texts, in a thread, until the client has left.

    It runs on torch and its cost grows with the square of a text's length, so one runs at a time,
    and a text longer than `longest` is not aligned.
    """

    def __init__(
        self,
        way: Sequence[Served],
        between: Mapping[str, str],
        longest: int,
        torch: threading.Lock,
    ) -> None:
        """Take the models passed through, and each text in the language between two of them."""
        self._way, self._between, self._longest, self._torch = way, between, longest, torch
        self._left = MOST

    def stop(self) -> None:
        """Align nothing more: the client has left."""
        self._left = 0

    def __call__(self, text: str, translation: str) -> list[tuple[int, int]]:
        """Give pairs of a word of the text and a word of its translation."""
        if self._left <= 0 or max(len(text), len(translation)) > self._longest:
            return []
        self._left -= 1
        try:
            with self._torch:
                first = self._way[0].translator
                if len(self._way) == 1:
                    return first.align(text, translation)
                middle = self._between[text]
                ahead = first.align(text, middle)
                behind = self._way[1].translator.align(middle, translation)
        except (HeedfulError, KeyError):  # a text the model cannot be asked about
            return []
        return sorted({(i, k) for i, j in ahead for other, k in behind if j == other})
