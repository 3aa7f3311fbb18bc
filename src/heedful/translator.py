"""Text in, text out, whatever the engine.

Line n out is line n in; an empty line stays empty; a long line is split into sentences and
joined again. Torch is imported only where it is used, so that another engine never loads it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful import config
from heedful.data.sentences import chop, split_keeping
from heedful.data.text import normalise
from heedful.data.tokenizer import Tokenizer
from heedful.errors import ConfigError, DataError
from heedful.models.folder import Folder, load_model
from heedful.settings import DecodeSettings, SamplingSettings, Settings

if TYPE_CHECKING:
    from heedful.decoding.search import Hypothesis
    from heedful.models.transformer import Transformer

__all__ = ["LINES_AT_ONCE", "Candidate", "Translation", "Translator"]

LINES_AT_ONCE = 2048
"""Lines of a stream held in memory: enough to sort by length, few enough for any file."""


@dataclass(frozen=True)
class Candidate:
    """One possible translation of a line."""

    text: str
    score: float
    """Length-normalised log-probability, what candidates are ranked by."""
    logp: float
    """Log-probability of all its pieces."""
    guards: tuple[str, ...] = ()
    """The guards that stopped it: "length", "repetition"."""


@dataclass(frozen=True)
class Translation:
    """The translation of one line, best candidate first."""

    candidates: tuple[Candidate, ...]

    @property
    def text(self) -> str:
        """The best candidate's text."""
        return self.candidates[0].text

    @property
    def guards(self) -> tuple[str, ...]:
        """Guards that acted on the best candidate."""
        return self.candidates[0].guards


@dataclass(frozen=True)
class _Part:
    """A piece of a line that is translated by itself, and the space that follows it."""

    ids: list[int]
    space: str


class Translator:
    """A loaded model that translates text.

    Most people need two lines: `Translator.load("model").translate(["Ein Hund.", "개 한 마리."])`.
    """

    def __init__(
        self,
        model: Transformer,
        tokenizer: Tokenizer,
        settings: Settings,
        plain: bool = False,
        workers: int = 1,
    ) -> None:
        self.model, self.tokenizer, self.settings = model, tokenizer, settings
        self._plain, self._workers = plain, workers

    @classmethod
    def load(
        cls, path: str | Path, device: str = "cpu", plain: bool = False, workers: int = 1
    ) -> Translator:
        """Open a model folder.

        `plain` decodes without a cache: slow, for comparison. Several workers decode several
        batches at once, which pays where torch is set to few threads.
        """
        folder = Folder.open(Path(path))
        model = load_model(folder).to(device)
        return cls(model, Tokenizer(folder.tokenizer), folder.settings, plain, workers)

    def translate(self, texts: Sequence[str], prefix: str = "", **options: Any) -> list[str]:
        """Translate lines of text; `options` are decoding settings such as `beam=1`."""
        if isinstance(texts, str):
            raise DataError("translate() takes a list of texts; put the one text into a list")
        return [t.text for t in self.lines(texts, self.decoding(**options), prefix=prefix)]

    def decoding(self, **options: Any) -> DecodeSettings:
        """Give the model's own decoding settings with some changed."""
        values = self.settings.decode.model_dump(exclude_none=True) | options
        return config.part(DecodeSettings, values, "decode.")

    def lines(
        self,
        texts: Iterable[str],
        decode: DecodeSettings | None = None,
        n_best: int = 1,
        sampling: SamplingSettings | None = None,
        prefix: str = "",
        at_once: int = LINES_AT_ONCE,
    ) -> Iterator[Translation]:
        """Translate a stream of lines, `at_once` at a time: 1 answers each as it comes."""
        decode = decode or self.settings.decode
        if n_best > decode.beam and sampling is None:
            raise ConfigError(
                f"n_best = {n_best} is more than beam = {decode.beam}; raise the beam to match"
            )
        stream = iter(texts)
        while chunk := list(islice(stream, at_once)):
            yield from self._chunk(chunk, decode, n_best, sampling, prefix)

    def _chunk(
        self,
        texts: list[str],
        decode: DecodeSettings,
        n_best: int,
        sampling: SamplingSettings | None,
        prefix: str,
    ) -> Iterator[Translation]:
        from heedful.decoding.batch import search

        lines = [self._parts(text, decode) for text in texts]
        flat = [part.ids for parts in lines for part in parts]
        # A forced beginning belongs to the line's first part only.
        forced = self.tokenizer.encode(normalise(prefix))
        prefixes = [forced if i == 0 else [] for parts in lines for i, _ in enumerate(parts)]
        found = iter(
            search(
                self.model,
                flat,
                decode,
                n_best,
                sampling,
                prefixes if forced else None,
                self._plain,
                self._workers,
            )
        )
        for parts in lines:
            yield self._join(parts, [next(found) for _ in parts], n_best)

    def _parts(self, text: str, decode: DecodeSettings) -> list[_Part]:
        """Split a line into what is translated by itself: usually the line as it is."""
        text = normalise(text)
        limit = decode.split_above
        ids = self._encode(text, limit)
        if ids is not None:
            return [_Part(ids, "")] if ids else []
        parts: list[_Part] = []
        for sentence, space in split_keeping(text, self.settings.source):
            ids = self._encode(sentence, limit)
            if ids is not None:
                parts.append(_Part(ids, space))
                continue
            pieces = chop(sentence, limit, lambda t: len(self.tokenizer.encode(t)))
            for index, piece in enumerate(pieces):
                after = space if index == len(pieces) - 1 else piece[len(piece.rstrip()) :]
                parts.append(_Part(self.tokenizer.encode(piece), after))
        return [part for part in parts if part.ids]

    def _encode(self, text: str, limit: int) -> list[int] | None:
        """Give the ids of a text, or None where they are more than `limit`."""
        if len(text) > 64 * limit:  # no piece is that long: do not even try a line of a megabyte
            return None
        ids = self.tokenizer.encode(text)
        return ids if len(ids) <= limit else None

    def _join(self, parts: list[_Part], found: list[list[Hypothesis]], n_best: int) -> Translation:
        """Put the translations of a line's parts together again."""
        if not parts:
            return Translation((Candidate("", 0.0, 0.0),))
        candidates = []
        for rank in range(min(n_best, max(len(f) for f in found))):
            chosen = [f[min(rank, len(f) - 1)] for f in found]
            text = ""
            for part, hypothesis in zip(parts, chosen, strict=True):
                text += self.tokenizer.decode(hypothesis.ids) + part.space
            candidates.append(
                Candidate(
                    normalise(text),  # a model may spell a line feed in bytes
                    sum(h.score for h in chosen) / len(chosen),
                    sum(h.logp for h in chosen),
                    tuple(dict.fromkeys(h.stop for h in chosen if h.stop != "end")),
                )
            )
        return Translation(tuple(candidates))

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[float, int]]:
        """Give the log-probability of each target given its source, and its number of pieces."""
        from heedful.decoding.batch import score

        ids = [
            [self.tokenizer.encode(normalise(text)) for text in texts]
            for texts in (sources, targets)
        ]
        return score(self.model, ids[0], ids[1], self.settings.decode.batch_tokens)
