"""A text taken apart into the lines to translate, and put together again.

Line breaks, blank lines and the spaces around a line come back as they were; so does a line
without any letter or digit. A line so long that every model would split it into sentences is split
here already: its sentences wait as items of their own and do not hold others up.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from heedful.data.sentences import split_keeping
from heedful.data.text import normalise

__all__ = ["Passage"]

LONG_LINE = 4_096
"""Characters that are surely more pieces than `decode.split_above`: a piece has at most 16."""

Part = str | None | list[str | None]
"""Text that stays, None for the next translation, or a list of both for a line's sentences."""

_BREAK = re.compile(r"(\r\n|\n|\r)")


class Passage:
    """One text: its lines, and all that is between them."""

    def __init__(self, text: str, language: str = "und") -> None:
        self.lines: list[str] = []
        """What is to be translated."""
        self._plan: list[Part] = []
        for number, part in enumerate(_BREAK.split(text)):
            if number % 2 or not any(map(str.isalnum, part)):
                self._plan.append(part)
                continue
            body = part.strip()
            start = part.index(body)
            self._plan.append(part[:start])
            self._add(body, language)
            self._plan.append(part[start + len(body) :])

    def _add(self, body: str, language: str) -> None:
        if len(body) <= LONG_LINE:
            self.lines.append(body)
            self._plan.append(None)
            return
        sentences: list[str | None] = []
        for sentence, space in split_keeping(normalise(body), language):
            if any(map(str.isalnum, sentence)):
                self.lines.append(sentence)
                sentences += [None, space]
            else:
                sentences.append(sentence + space)
        self._plan.append(sentences)

    def join(self, translations: Sequence[str]) -> str:
        """Put the translations where their lines were."""
        rest = iter(translations)

        def put(parts: Sequence[Part]) -> str:
            text = ""
            for part in parts:
                if part is None:
                    text += next(rest)
                else:  # sentences are joined to one line and normalised as the translator does
                    text += part if isinstance(part, str) else normalise(put(part))
            return text

        return put(self._plan)
