"""Which models are served, and which of them lead from one language to another."""

from __future__ import annotations

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heedful.data.languages import language_name
from heedful.serve.api import Model, Note
from heedful.serve.errors import RequestError, clip

if TYPE_CHECKING:
    from heedful.settings import DecodeSettings
    from heedful.tasks.translation.using import Translation, Translator

Line = tuple[str, int]
"""A text, and how many translations of it are wanted."""
logger = logging.getLogger("heedful.serve")


@dataclass(eq=False)
class Served(Model):
    """A model that is served: its name, its two languages and its translator."""

    name: str
    source: str
    target: str
    translator: Translator
    task: str = "translation"

    def __post_init__(self) -> None:
        """Say what it is."""
        self.about = f"{self.source} to {self.target}"


def translate_lines(
    translator: Translator, beam: int | None
) -> Callable[[list[Line]], list[Translation]]:
    """Make the function that translates a round; lines with the same `n_best` are one batch."""

    def decode(n_best: int) -> DecodeSettings:
        own = translator.decoding() if beam is None else translator.decoding(beam=beam)
        return own if own.beam >= n_best else translator.decoding(beam=n_best)

    def work(lines: list[Line]) -> list[Translation]:
        found: dict[int, Translation] = {}
        for n_best in sorted({wanted for _, wanted in lines}):
            rows = [row for row, (_, wanted) in enumerate(lines) if wanted == n_best]
            texts = [lines[row][0] for row in rows]
            translated = translator.lines(texts, decode(n_best), n_best=n_best)
            found.update(zip(rows, translated, strict=True))
        return [found[row] for row in range(len(lines))]

    return work


class Directions:
    """Routes between languages: one model, or two by way of a third language."""

    def __init__(self, served: Sequence[Served], note: Note = logger.info) -> None:
        self._direct: dict[tuple[str, str], Served] = {}
        for one in served:
            first = self._direct.setdefault((one.source, one.target), one)
            if first is not one:
                note(
                    f"{one.name} is not used: {first.name} translates "
                    f"{one.source} to {one.target} already"
                )
        self.models = list(self._direct.values())
        pairs = [(one.source, one.target) for one in self.models]
        self.languages = list(dict.fromkeys(code for pair in pairs for code in pair))
        self._spelled = {_plain(code): code for code in reversed(self.languages)}

    def language(self, code: str) -> str:
        """Give a language as it is served: `EN` and `en-US` are `en` where that is all there is."""
        if code in self.languages:
            return code
        plain = _plain(code)
        for spelling in (plain, plain.split("-")[0]):
            if spelling in self._spelled:
                return self._spelled[spelling]
        raise RequestError(400, f"{clip(code)} is not supported")

    def way(self, source: str, target: str) -> tuple[Served, ...]:
        """Give the models to apply in turn; none for a language into itself."""
        found = self._find(source, target)
        if found is None:
            names = [f"{language_name(code)} ({code})" for code in (target, source)]
            raise RequestError(
                400, f"{names[0]} is not available as a target language from {names[1]}"
            )
        return found

    def _find(self, source: str, target: str) -> tuple[Served, ...] | None:
        direct = self._direct.get((source, target))
        if direct is not None:
            return (direct,)
        if source == target:
            return ()
        # English first: models from and to English are usually the best.
        for between in sorted(self.languages, key=lambda code: code != "en"):
            one, other = self._direct.get((source, between)), self._direct.get((between, target))
            if one is not None and other is not None:
                return (one, other)
        return None

    def targets(self, source: str) -> list[str]:
        """Give every language it can be translated into; itself too, as LibreTranslate does."""
        return sorted(code for code in self.languages if self._find(source, code) is not None)

    def listed(self) -> list[dict[str, Any]]:
        """Give LibreTranslate's list of languages."""
        return [
            {"code": code, "name": language_name(code), "targets": self.targets(code)}
            for code in self.languages
        ]


def _plain(code: str) -> str:
    return code.strip().lower().replace("_", "-")
