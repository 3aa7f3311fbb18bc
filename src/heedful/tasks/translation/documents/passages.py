"""A text taken apart into the lines to translate, and put together again.

Line breaks, blank lines and the spaces around a line come back as they were; so does a line
without any letter or digit. A line so long that every model would split it into sentences is split
here already, so that its sentences are queued one by one and do not hold others up.
"""

from __future__ import annotations

from collections.abc import Sequence

from heedful.data.sentences import split_keeping
from heedful.data.text import normalise
from heedful.tasks.translation.documents.document import LINE_BREAK, strip_spaces

LONG_LINE = 4_096
"""Characters that always make more pieces than `decode.split_above`: a piece has at most 16."""

Fragment = str | None | list[str | None]
"""Text that stays, None where a translation goes, or a list of the same for a long line."""


class Passage:
    """One text: its lines, and all that is between them."""

    def __init__(self, text: str, language: str = "und") -> None:
        self.lines: list[str] = []
        """What is to be translated."""
        self._plan: list[Fragment] = []
        for part in LINE_BREAK.split(text):
            if any(map(str.isalnum, part)):
                before, body, behind = strip_spaces(part)
                self._plan.append(before)
                self._add(body, language)
                self._plan.append(behind)
            else:
                self._plan.append(part)

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

        def put(parts: Sequence[Fragment]) -> str:
            text = ""
            for part in parts:
                if part is None:
                    text += next(rest)
                else:  # the sentences of one line, normalised as the translator would
                    text += part if isinstance(part, str) else normalise(put(part))
            return text

        return put(self._plan)
