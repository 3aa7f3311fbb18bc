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

from heedful.data.sentences import chop, split_keeping
from heedful.data.text import normalise
from heedful.data.tokenizer import Tokenizer
from heedful.errors import ConfigError
from heedful.models.folder import Folder, load_model
from heedful.settings import DecodeSettings, SamplingSettings, Settings

if TYPE_CHECKING:
    from heedful.decoding.search import Hypothesis
    from heedful.models.transformer import Transformer

__all__ = ["Candidate", "Translation", "Translator"]

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
    def _search(
        self,
        sources: list[list[int]],
        decode: DecodeSettings,
        n_best: int,
        sampling: SamplingSettings | None,
        prefixes: list[list[int]] | None,
    ) -> list[list[Hypothesis]]:
        from heedful.decoding.batch import search

        return search(self.model, sources, decode, n_best, sampling, prefixes, self._plain)

    def score(self) -> float:
        """The best candidate's score."""
        return self.candidates[0].score

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

    >>> Translator.load("model").translate(["Ein Hund.", "Zwei Katzen."])  # doctest: +SKIP
    ['A dog.', 'Two cats.']
    """

    def __init__(
        self, model: Transformer, tokenizer: Tokenizer, settings: Settings, plain: bool = False
    ) -> None:
        self.model, self.tokenizer, self.settings = model, tokenizer, settings
        self._plain = plain

    @classmethod
    def load(cls, path: str | Path, device: str = "cpu", plain: bool = False) -> Translator:
        """Open a model folder. `plain` decodes without a cache: slow, for comparison."""
        folder = Folder.open(Path(path))
        model = load_model(folder).to(device)
        return cls(model, Tokenizer(folder.tokenizer), folder.settings, plain)

    def translate(
        self,
        texts: Sequence[str],
        decode: DecodeSettings | None = None,
        prefix: str = "",
        **options: Any,
    ) -> list[str]:
        """Translate lines of text; `options` are decoding settings such as `beam=1`."""
        decode = self.decoding(decode, **options)
        return [t.text for t in self.lines(texts, decode, prefix=prefix)]

    def decoding(self, decode: DecodeSettings | None = None, **options: Any) -> DecodeSettings:
        """Give the model's own decoding settings with some changed."""
        base = decode or self.settings.decode
        unknown = sorted(set(options) - set(DecodeSettings.model_fields))
        if unknown:
            raise ConfigError(
                f"{unknown[0]} is not a decoding setting; "
                f"expected one of {', '.join(sorted(DecodeSettings.model_fields))}"
            )
        return DecodeSettings.model_validate(base.model_dump() | options)

    def lines(
        self,
        texts: Iterable[str],
        decode: DecodeSettings | None = None,
        n_best: int = 1,
        sampling: SamplingSettings | None = None,
        prefix: str = "",
    ) -> Iterator[Translation]:
        """Translate a stream of lines, a few thousand at a time."""
        decode = decode or self.settings.decode
        if n_best > decode.beam and sampling is None:
            raise ConfigError(
                f"n_best = {n_best} is more than beam = {decode.beam}; raise the beam to match"
            )
        stream = iter(texts)
        while chunk := list(islice(stream, LINES_AT_ONCE)):
            yield from self._chunk(chunk, decode, n_best, sampling, prefix)

    def _chunk(
        self,
        texts: list[str],
        decode: DecodeSettings,
        n_best: int,
        sampling: SamplingSettings | None,
        prefix: str,
    ) -> Iterator[Translation]:
        lines = [self._parts(text, decode) for text in texts]
        flat = [part.ids for parts in lines for part in parts]
        # A forced beginning belongs to the line's first part only.
        forced = self.tokenizer.encode(prefix) if prefix else []
        prefixes = [forced if i == 0 else [] for parts in lines for i, _ in enumerate(parts)]
        found = iter(self._search(flat, decode, n_best, sampling, prefixes if forced else None))
        for parts in lines:
            yield self._join(parts, [next(found) for _ in parts], n_best)

    def _parts(self, text: str, decode: DecodeSettings) -> list[_Part]:
        """Split a line into what is translated by itself: usually the line as it is."""
        text = normalise(text)
        if not text:
            return []
        limit = decode.split_above
        ids = self.tokenizer.encode(text)
        if len(ids) <= limit:
            return [_Part(ids, "")]
        parts: list[_Part] = []
        for sentence, space in split_keeping(text):
            ids = self.tokenizer.encode(sentence)
            if len(ids) <= limit:
                parts.append(_Part(ids, space))
                continue
            pieces = chop(sentence, limit, lambda t: len(self.tokenizer.encode(t)))
            for index, piece in enumerate(pieces):
                after = space if index == len(pieces) - 1 else piece[len(piece.rstrip()) :]
                parts.append(_Part(self.tokenizer.encode(piece), after))
        return [part for part in parts if part.ids]

    def _join(
        self, parts: list[_Part], found: list[list[Hypothesis]], n_best: int
    ) -> Translation:
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
                    text.strip(),
                    sum(h.score for h in chosen) / len(chosen),
                    sum(h.logp for h in chosen),
                    tuple(dict.fromkeys(h.stop for h in chosen if h.stop != "end")),
                )
            )
        return Translation(tuple(candidates))

    def _search(
        self,
        sources: list[list[int]],
        decode: DecodeSettings,
        n_best: int,
        sampling: SamplingSettings | None,
        prefixes: list[list[int]] | None,
    ) -> list[list[Hypothesis]]:
        from heedful.decoding.batch import search

        return search(self.model, sources, decode, n_best, sampling, prefixes, self._plain)

    def score(self) -> float:
        """The best candidate's score."""
        return self.candidates[0].score

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

    >>> Translator.load("model").translate(["Ein Hund.", "Zwei Katzen."])  # doctest: +SKIP
    ['A dog.', 'Two cats.']
    """

    def __init__(
        self, model: Transformer, tokenizer: Tokenizer, settings: Settings, plain: bool = False
    ) -> None:
        self.model, self.tokenizer, self.settings = model, tokenizer, settings
        self._plain = plain

    @classmethod
    def load(cls, path: str | Path, device: str = "cpu", plain: bool = False) -> Translator:
        """Open a model folder. `plain` decodes without a cache: slow, for comparison."""
        folder = Folder.open(Path(path))
        model = load_model(folder).to(device)
        return cls(model, Tokenizer(folder.tokenizer), folder.settings, plain)

    def translate(
        self,
        texts: Sequence[str],
        decode: DecodeSettings | None = None,
        prefix: str = "",
        **options: Any,
    ) -> list[str]:
        """Translate lines of text; `options` are decoding settings such as `beam=1`."""
        decode = self.decoding(decode, **options)
        return [t.text for t in self.lines(texts, decode, prefix=prefix)]

    def decoding(self, decode: DecodeSettings | None = None, **options: Any) -> DecodeSettings:
        """Give the model's own decoding settings with some changed."""
        base = decode or self.settings.decode
        unknown = sorted(set(options) - set(DecodeSettings.model_fields))
        if unknown:
            raise ConfigError(
                f"{unknown[0]} is not a decoding setting; "
                f"expected one of {', '.join(sorted(DecodeSettings.model_fields))}"
            )
        return DecodeSettings.model_validate(base.model_dump() | options)

    def lines(
        self,
        texts: Iterable[str],
        decode: DecodeSettings | None = None,
        n_best: int = 1,
        sampling: SamplingSettings | None = None,
        prefix: str = "",
    ) -> Iterator[Translation]:
        """Translate a stream of lines, a few thousand at a time."""
        decode = decode or self.settings.decode
        if n_best > decode.beam and sampling is None:
            raise ConfigError(
                f"n_best = {n_best} is more than beam = {decode.beam}; raise the beam to match"
            )
        stream = iter(texts)
        while chunk := list(islice(stream, LINES_AT_ONCE)):
            yield from self._chunk(chunk, decode, n_best, sampling, prefix)

    def _chunk(
        self,
        texts: list[str],
        decode: DecodeSettings,
        n_best: int,
        sampling: SamplingSettings | None,
        prefix: str,
    ) -> Iterator[Translation]:
        lines = [self._parts(text, decode) for text in texts]
        flat = [part.ids for parts in lines for part in parts]
        # A forced beginning belongs to the line's first part only.
        forced = self.tokenizer.encode(prefix) if prefix else []
        prefixes = [forced if i == 0 else [] for parts in lines for i, _ in enumerate(parts)]
        found = iter(self._search(flat, decode, n_best, sampling, prefixes if forced else None))
        for parts in lines:
            yield self._join(parts, [next(found) for _ in parts], n_best)

    def _parts(self, text: str, decode: DecodeSettings) -> list[_Part]:
        """Split a line into what is translated by itself: usually the line as it is."""
        text = normalise(text)
        if not text:
            return []
        limit = decode.split_above
        ids = self.tokenizer.encode(text)
        if len(ids) <= limit:
            return [_Part(ids, "")]
        parts: list[_Part] = []
        for sentence, space in split_keeping(text):
            ids = self.tokenizer.encode(sentence)
            if len(ids) <= limit:
                parts.append(_Part(ids, space))
                continue
            pieces = chop(sentence, limit, lambda t: len(self.tokenizer.encode(t)))
            for index, piece in enumerate(pieces):
                after = space if index == len(pieces) - 1 else piece[len(piece.rstrip()) :]
                parts.append(_Part(self.tokenizer.encode(piece), after))
        return [part for part in parts if part.ids]

    def _join(
        self, parts: list[_Part], found: list[list[Hypothesis]], n_best: int
    ) -> Translation:
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
                    text.strip(),
                    sum(h.score for h in chosen) / len(chosen),
                    sum(h.logp for h in chosen),
                    tuple(dict.fromkeys(h.stop for h in chosen if h.stop != "end")),
                )
            )
        return Translation(tuple(candidates))

    def search(
        self,
        sources: Sequence[Sequence[int]],
        decode: DecodeSettings,
        n_best: int = 1,
        sampling: SamplingSettings | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
    ) -> list[list[Hypothesis]]:
        """Search for every source's translations, in batches of like length, best first."""
        order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
        found: list[list[Hypothesis]] = [[] for _ in sources]
        width = n_best if sampling else decode.beam
        while order:
            rows = max(1, decode.batch_tokens // ((len(sources[order[0]]) + 1) * width))
            batch, order = order[:rows], order[rows:]
            results = self._batch(
                [sources[i] for i in batch],
                decode,
                n_best,
                sampling,
                None if prefixes is None else [prefixes[i] for i in batch],
            )
            for index, result in zip(batch, results, strict=True):
                found[index] = result
        return found

    def _batch(
        self,
        sources: list[Sequence[int]],
        decode: DecodeSettings,
        n_best: int,
        sampling: SamplingSettings | None,
        prefixes: list[Sequence[int]] | None,
    ) -> list[list[Hypothesis]]:
        import torch

        from heedful.data.batching import pad
        from heedful.decoding.guards import limits_for
        from heedful.decoding.sampling import sampler
        from heedful.decoding.search import beam, greedy
        from heedful.decoding.stepper import CachedStepper, PlainStepper

        ids, alpha = self.model.ids, decode.length_penalty
        copies = n_best if sampling else 1
        spread = [s for s in sources for _ in range(copies)]
        forced = None if prefixes is None else [p for p in prefixes for _ in range(copies)]
        limits = [limits_for(s, decode) for s in spread]
        device = self.model.output_weight.device
        with torch.inference_mode():
            table, lengths = pad([[*s, ids.eos] for s in spread], ids.pad)
            memory = self.model.encode(table.to(device), lengths.to(device))
            stepper = (PlainStepper if self._plain else CachedStepper)(self.model, memory)
            if sampling is not None:
                draw = sampler(
                    spread, sampling.seed, sampling.temperature, sampling.top_k, sampling.top_p, copies
                )
                drawn = greedy(stepper, limits, ids.start, ids.eos, alpha, forced, draw)
                return [drawn[i : i + copies] for i in range(0, len(drawn), copies)]
            if decode.beam == 1:
                return [[h] for h in greedy(stepper, limits, ids.start, ids.eos, alpha, forced)]
            return [
                found[:n_best]
                for found in beam(stepper, limits, decode.beam, ids.start, ids.eos, alpha, forced)
            ]

    def _search(
        self,
        sources: list[list[int]],
        decode: DecodeSettings,
        n_best: int,
        sampling: SamplingSettings | None,
        prefixes: list[list[int]] | None,
    ) -> list[list[Hypothesis]]:
        from heedful.decoding.batch import search

        return search(self.model, sources, decode, n_best, sampling, prefixes, self._plain)

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[float, int]]:
        """Give the log-probability of each target given its source, and its number of pieces."""
        import torch

        from heedful.data.batching import pad

        ids = self.model.ids
        left = [[*self.tokenizer.encode(normalise(s)), ids.eos] for s in sources]
        right = [[*self.tokenizer.encode(normalise(t)), ids.eos] for t in targets]
        order = sorted(range(len(left)), key=lambda i: -(len(left[i]) + len(right[i])))
        scores: list[tuple[float, int]] = [(0.0, 0)] * len(left)
        device = self.model.output_weight.device
        while order:
            longest = len(left[order[0]]) + len(right[order[0]])
            rows = max(1, self.settings.decode.batch_tokens // longest)
            batch, order = order[:rows], order[rows:]
            with torch.inference_mode():
                source, source_lengths = pad([left[i] for i in batch], ids.pad)
                goal, lengths = pad([right[i] for i in batch], ids.pad)
                start = torch.full((len(batch), 1), ids.start)
                logits = self.model(
                    source.to(device),
                    source_lengths.to(device),
                    torch.cat([start, goal[:, :-1]], dim=1).to(device),
                    lengths.to(device),
                ).cpu()
                logp = logits.gather(2, goal[:, :, None])[:, :, 0] - logits.logsumexp(-1)
            for row, index in enumerate(batch):
                length = int(lengths[row])
                scores[index] = (float(logp[row, :length].double().sum()), length)
        return scores
