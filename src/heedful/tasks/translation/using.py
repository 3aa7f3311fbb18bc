"""Text in, text out, whatever the engine.

Line n out is line n in; an empty line stays empty; a long line is split into sentences and
joined again. Torch is imported only where it is used, so that another engine never loads it.
"""

from __future__ import annotations

import functools
import importlib.util
import logging
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from heedful import config
from heedful.data.sentences import chop, split_keeping
from heedful.data.text import normalise
from heedful.data.tokenizer import Tokenizer
from heedful.errors import ConfigError, DataError, InterchangeError
from heedful.models.folder import Folder
from heedful.settings import DecodeSettings, SamplingSettings
from heedful.tasks.contract import How
from heedful.tasks.translation.model import load_model, open_folder
from heedful.tasks.translation.settings import Settings

if TYPE_CHECKING:
    from heedful.decoding.batch import TorchEngine
    from heedful.decoding.engine import Engine
    from heedful.decoding.hypothesis import Hypothesis
    from heedful.models.transformer import Transformer
    from heedful.tasks.translation.exchange.ctranslate2 import Compute, CTranslate2Engine
    from heedful.tasks.translation.nearest import NearestTranslator
    from heedful.tasks.translation.showing import Attended

EngineName = Literal["auto", "torch", "ctranslate2"]
Note = Callable[[str], object]
ENGINES = ("auto", "torch", "ctranslate2")

logger = logging.getLogger("heedful")

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
        folder: Folder[Settings],
        fast: CTranslate2Engine | None,
        torch_engine: Callable[[], TorchEngine],
        note: Note,
        insist: bool,
    ) -> None:
        """Take the engines of a model; without a fast one, torch is loaded now and not later."""
        self.opened, self.settings = folder, folder.settings
        self.tokenizer = Tokenizer(folder.tokenizer, folder.ids)
        self._fast, self._torch = fast, functools.cache(torch_engine)
        self._note, self._insist = note, insist
        self.engine: Engine = fast or self._torch()

    @property
    def folder(self) -> Path:
        """Where the model is."""
        return self.opened.path

    @property
    def name(self) -> str:
        """What people call the model: the name of its folder."""
        return self.folder.resolve().name

    @classmethod
    def load(
        cls,
        path: str | Path,
        device: str = "cpu",
        plain: bool = False,
        workers: int = 0,
        engine: EngineName = "auto",
        compute: Compute = "float32",
        note: Note = logger.info,
    ) -> Translator:
        """Open a model folder.

        `engine` is "torch", "ctranslate2", or "auto": CTranslate2 where it is installed and can
        run the model. `plain` decodes without a cache: slow, for comparison. `workers` decode as
        many batches at once, one on each core by default. What was chosen and why is told to
        `note`; nothing is ever printed.
        """
        folder = open_folder(Path(path))

        def on_torch() -> TorchEngine:
            from heedful.decoding.batch import TorchEngine

            return TorchEngine(load_model(folder).to(device), workers, plain)

        fast = (
            None if plain or device != "cpu" else _open_fast(folder, engine, compute, workers, note)
        )
        return cls(folder, fast, on_torch, note, insist=engine == "ctranslate2")

    @property
    def model(self) -> Transformer:
        """The torch model, loaded when it is first asked for."""
        return self._torch().model

    def translate(self, texts: Sequence[str], prefix: str = "", **options: Any) -> list[str]:
        """Translate lines of text; `options` are decoding settings such as `beam=1`."""
        if isinstance(texts, str):
            raise DataError("translate() takes a list of texts; put the one text into a list")
        decode = self.decoding(**options)
        return [t.text for t in self.lines(texts, decode, prefix=prefix, scored=False)]

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
        scored: bool = True,
    ) -> Iterator[Translation]:
        """Translate a stream of lines, `at_once` at a time: 1 answers each as it comes.

        Greedy translations that need not be `scored` are found faster.
        """
        decode = decode or self.settings.decode
        if n_best > decode.beam and sampling is None:
            raise ConfigError(
                f"n_best = {n_best} is more than beam = {decode.beam}; raise the beam to match"
            )
        forced = self.tokenizer.encode(normalise(prefix), target=True)
        stream = iter(texts)
        while chunk := list(islice(stream, at_once)):
            lines = [self._parts(text, decode) for text in chunk]
            sources = [part.ids for parts in lines for part in parts]
            prefixes = None
            if forced:  # it belongs to the line's first part only
                prefixes = [forced if i == 0 else [] for parts in lines for i in range(len(parts))]
            engine = self._engine_for(sources, decode, sampling)
            found = iter(engine.search(sources, decode, n_best, sampling, prefixes, scored))
            for parts in lines:
                yield self._join(parts, [next(found) for _ in parts], n_best)

    def _engine_for(
        self, sources: list[list[int]], decode: DecodeSettings, sampling: SamplingSettings | None
    ) -> Engine:
        """Take the torch engine for what CTranslate2 cannot do, and say so."""
        if self._fast is None:
            return self._torch()
        if sampling is not None and not self._insist:
            self._note("sampling on torch: only there a sentence's draw is its own in any batch")
        elif not self._fast.fits(sources, decode):
            self._note("this text is longer than CTranslate2's table of positions: on torch")
        else:
            return self._fast
        return self._torch()

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

    def explain(self, text: str, translation: str | None = None) -> Attended:
        """Give every attention weight of a sentence and its translation, ours if none is given."""
        from heedful.tasks.translation.showing import attended

        given = self.translate([text])[0] if translation is None else translation
        tokenizer = self.tokenizer
        source = tokenizer.encode(normalise(text))
        target = tokenizer.encode(normalise(given), target=True)
        names = [tokenizer.pieces(source, target=False), tokenizer.pieces(target)]
        return attended(self.model, source, target, names)

    def align(self, text: str, translation: str) -> list[tuple[int, int]]:
        """Give, for each word of a translation, the word of the text it looked most at."""
        matrix = self.explain(text, translation).alignment
        return [(int(row.argmax()), i) for i, row in enumerate(matrix)] if matrix.size(1) else []

    def trace(
        self,
        text: str,
        translation: str | None = None,
        layers: Sequence[int] | None = None,
        heads: Sequence[int] | None = None,
        decimals: int = 4,
        values: bool = True,
        positions: int = 50,
    ) -> dict[str, Any]:
        """Give everything that happens when a sentence is translated, as docs/trace.md has it.

        Without a translation the model searches its own and the search is in the trace too.
        `layers`, `heads`, `decimals` and `values` bound its size; `positions` is how many rows of
        the position encoding are given at least.
        """
        from heedful.explain.trace import trace
        from heedful.explain.writer import Extent
        from heedful.tasks.translation.showing import show

        extent = Extent(layers, heads, values, decimals, positions)
        return trace(show(self, [text], {"translation": translation}), extent)

    def parts_of(self, text: str) -> list[list[int]]:
        """Give the ids of what is translated by itself: a line, or the sentences of a long one."""
        return [part.ids for part in self._parts(text, self.settings.decode)]

    def score(self, sources: Sequence[str], targets: Sequence[str]) -> list[tuple[float, int]]:
        """Give the log-probability of each target given its source, and its number of pieces."""
        left = [self.tokenizer.encode(normalise(text)) for text in sources]
        right = [self.tokenizer.encode(normalise(text), target=True) for text in targets]
        longest = max(map(len, (*left, *right)), default=0)
        fits = self._fast is not None and longest < self._fast.longest
        engine = self.engine if fits else self._torch()
        return engine.score(left, right, self.settings.decode.batch_tokens)


def open_model(path: Path, how: How) -> Translator | NearestTranslator:
    """Open a model, or the simple thing beside it, as the commands do."""
    if how.simple:
        from heedful.tasks.translation.nearest import NearestTranslator

        return NearestTranslator(Folder.open(path, Settings))
    return Translator.load(
        path,
        workers=how.threads,
        engine=how.engine,  # type: ignore[arg-type]  # an unknown one is refused in one line
        compute=how.compute,  # type: ignore[arg-type]
        note=how.note,
    )


def _open_fast(
    folder: Folder[Settings], engine: EngineName, compute: Compute, workers: int, note: Note
) -> CTranslate2Engine | None:
    """Open the model on CTranslate2 where that is wanted and possible; say why where it is not."""
    from heedful.tasks.translation.exchange.conversions import COMPUTES, open_engine
    from heedful.tasks.translation.exchange.ctranslate2 import unfit

    if engine not in ENGINES:
        raise ConfigError(f"engine {engine!r} is not known; expected {', '.join(ENGINES)}")
    if compute not in COMPUTES:
        raise ConfigError(f"compute {compute!r} is not known; expected {', '.join(COMPUTES)}")
    if engine == "torch":
        if compute != "float32":
            raise ConfigError(f"compute {compute!r} needs CTranslate2; leave out engine = 'torch'")
        return None
    try:
        if importlib.util.find_spec("ctranslate2") is None:
            raise InterchangeError("CTranslate2 is not installed; pip install ctranslate2")
        reason = unfit(folder.settings.model)
        if reason is not None:
            raise InterchangeError(f"CTranslate2 cannot run {folder.path}: {reason}")
        return open_engine(folder, compute, workers, note)
    except InterchangeError as error:
        if engine == "ctranslate2" or compute != "float32":
            raise
        note(f"{error}; on torch instead")
        return None
