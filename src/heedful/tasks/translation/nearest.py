"""Translation's simple thing: the translation of the nearest training sentence.

Two sentences are near if they share n-grams of characters, rare ones counting for more: the cosine
of which n-grams occur, through an index from each n-gram to the sentences that have it. The sums
are of whole numbers, so that what is equally near is so exactly, and the earliest pair answers.

A folder keeps the pairs as text, and the index is made anew when they are opened: that takes ten
seconds for a million pairs, and the index would be many times as large on the disk.
"""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from heedful import files
from heedful.data.text import normalise
from heedful.errors import ConfigError, DataError
from heedful.metrics.text import judged
from heedful.tasks.translation.reading import Progress
from heedful.tasks.translation.using import Candidate, Translation

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from heedful.models.folder import Folder
    from heedful.settings import DecodeSettings, SamplingSettings
    from heedful.tasks.contract import Prepared
    from heedful.tasks.translation.settings import Settings
    from heedful.train.report import Report

FACTS, PAIRS = "simple.json", "simple.tsv.gz"

LIMIT = 1_000_000
"""The most pairs that are kept: where there are more, as many of them, evenly spread."""

PAIRS_A_SECOND = 20_000
"""Pairs that a slow core reads, indexes, saves and opens again in a second (docs/log.md)."""

SIZES = (3, 4, 5, 2, 6, 8)
"""The n-grams that are tried, and of equally good ones the first is taken."""

ENOUGH_PAIRS, ENOUGH_ROWS = 30_000, 500
"""Training and development pairs the size is chosen on at most: it shall take seconds."""

CHUNK = 2048
"""Sentences whose n-grams are in memory at once."""

Pair = tuple[str, str]
Item = TypeVar("Item")


class NearestSentence:
    """Answers with the translation of the training sentence nearest to the one asked."""

    def __init__(self, lines: list[bytes], facts: dict[str, Any]) -> None:
        self._lines = lines
        self.facts = facts
        """The `size` of the n-grams, the `pairs` kept and `of` how many, what was `tried`."""
        self._index = _Index(lines, facts["size"])

    @classmethod
    def fit(
        cls,
        pair: Callable[[int], Pair],
        of: int,
        dev: Sequence[Pair] = (),
        language: str = "und",
        limit: int = LIMIT,
        progress: Progress = lambda what, done, total: None,
    ) -> NearestSentence:
        """Keep as many as `limit` of the pairs, evenly spread, and choose the n-grams on `dev`.

        `pair` gives one by its number; it is asked for those that are kept, in order. `dev` are
        the pairs the model was chosen on, never those it will be judged on. The choice is by the
        leading score of the target language, on a part where there is much.
        """
        kept = _lines(map(pair, _spread(range(of), limit)), min(of, limit), progress)
        sample = list(_spread(kept, ENOUGH_PAIRS))
        rows = list(_spread(dev, ENOUGH_ROWS))
        tried = {}
        for done, size in enumerate(SIZES if rows else ()):
            progress("choosing the n-grams", done, len(SIZES))
            index = _Index(sample, size)
            texts = [_target(sample[index.nearest(normalise(source))]) for source, _ in rows]
            wanted = [normalise(target) for _, target in rows]
            tried[size] = next(judged(texts, wanted, language)).value
        best = max(tried, key=tried.__getitem__, default=SIZES[0])
        return cls(kept, {"size": best, "pairs": len(kept), "of": of, "tried": list(tried.items())})

    def save(self, folder: str | Path) -> None:
        """Write the pairs and what is known of them; the same pairs make the same bytes."""
        path = Path(folder) / PAIRS
        for own in (path, path.with_name(FACTS)):
            files.sweep(own)
        with (
            files.replacing(path) as temporary,
            temporary.open("wb") as raw,
            gzip.GzipFile("", "wb", 3, raw, mtime=0) as file,
        ):
            file.write(b"".join(self._lines))
        digests = {PAIRS: files.sha256(path)}
        files.write_sealed(path.with_name(FACTS), {**self.facts, "files": digests})

    @classmethod
    def open(cls, folder: str | Path) -> NearestSentence:
        """Read what `save` wrote; a file that is not what was written is refused."""
        facts = files.read_sealed(Path(folder) / FACTS)
        files.check(folder, facts.pop("files"))
        text = gzip.decompress((Path(folder) / PAIRS).read_bytes())
        return cls(text.splitlines(keepends=True), facts)

    @property
    def name(self) -> str:
        """What it is, for a verdict: honest about a sample."""
        kept, of = self.facts["pairs"], self.facts["of"]
        sample = "" if kept == of else f" (a sample of {kept:,} of {of:,} pairs)"
        return f"nearest training sentence{sample}"

    def translate(self, texts: Iterable[str]) -> list[str]:
        """Translate line by line; an empty line stays empty.

        A text that has no n-gram in common with any sentence gets the earliest one's translation.
        """
        given = map(normalise, texts)
        return [_target(self._lines[self._index.nearest(t)]) if t else "" for t in given]


class NearestTranslator:
    """The simple thing in the place of a `Translator`."""

    def __init__(self, folder: Folder[Settings]) -> None:
        self.settings, self._nearest = folder.settings, NearestSentence.open(folder.path)

    def decoding(self, **options: Any) -> DecodeSettings:
        """Give the settings of the model beside it: nothing is searched for here."""
        _refuse(options)
        return self.settings.decode

    def lines(
        self,
        texts: Iterable[str],
        decode: DecodeSettings | None = None,
        n_best: int = 1,
        sampling: SamplingSettings | None = None,
        prefix: str = "",
        at_once: int = 1,
        scored: bool = False,
    ) -> Iterator[Translation]:
        """Translate a stream of lines, each as it comes."""
        _refuse({"n_best": n_best > 1, "sample": sampling, "prefix": prefix, "scores": scored})
        for text in texts:
            yield Translation((Candidate(self._nearest.translate([text])[0], 0.0, 0.0),))

    def translate(self, texts: Sequence[str], **options: object) -> list[str]:
        """Translate lines of text."""
        _refuse(options)
        return self._nearest.translate(texts)


def _refuse(options: Mapping[str, object]) -> None:
    """Refuse what only a model has, rather than leave it out in silence."""
    given = [f"--{name.replace('_', '-')}" for name, value in options.items() if value]
    if given:
        raise ConfigError(
            f"{', '.join(given)}: the simple thing has one translation of a line and does not "
            f"search; leave that out, or --simple"
        )


def _lines(pairs: Iterable[Pair], size: int, progress: Progress) -> list[bytes]:
    """Take in a stream of pairs, each as a line of source, TAB and target.

    As bytes, a million of them take 150 MB; normalised text has neither a TAB nor an end.
    """
    lines = []
    for done, (source, target) in enumerate(pairs):
        lines.append(f"{normalise(source)}\t{normalise(target)}\n".encode())
        if done % CHUNK == 0:
            progress("reading the pairs for the simple thing", done, size)
    if not lines:
        raise DataError("there are no pairs to find the nearest of; give at least one")
    return lines


def _target(line: bytes) -> str:
    return line.decode().rstrip("\n").partition("\t")[2]


def _sources(lines: list[bytes]) -> Iterator[tuple[int, list[str]]]:
    """Give all sources in chunks, each with the number of its first."""
    for begin in range(0, len(lines), CHUNK):
        chunk = lines[begin : begin + CHUNK]
        yield begin, [line.partition(b"\t")[0].decode() for line in chunk]


class _Index:
    """For each n-gram, known by its hash, the sentences that have it, in order."""

    def __init__(self, lines: list[bytes], size: int) -> None:
        self._size, count = size, len(lines)
        self._bits = min(22, max(18, (32 * count).bit_length()))
        frequency = np.zeros(1 << self._bits, np.int64)
        for _, texts in _sources(lines):
            np.add.at(frequency, self._grams(texts)[0], 1)
        # Flatter than the square of it, which tf-idf has: that is 2 BLEU worse (docs/log.md).
        inverse = np.log1p(count / np.maximum(frequency, 1))
        self._weights = np.rint(1000 * np.sqrt(inverse)).astype(np.int32)
        self._starts = np.concatenate(([0], np.cumsum(frequency)))
        self._sentences = np.empty(self._starts[-1], np.int32)
        self._norms = np.empty(count)
        free = self._starts[:-1].copy()
        for begin, texts in _sources(lines):
            grams, of = self._grams(texts)
            place = np.arange(len(grams))
            first = np.flatnonzero(np.diff(grams, prepend=-1))  # of each n-gram in this chunk
            place -= np.repeat(first, np.diff(first, append=len(grams)))
            self._sentences[free[grams] + place] = begin + of
            np.add.at(free, grams, 1)
            squares = np.bincount(of, self._weights[grams], len(texts))
            self._norms[begin : begin + len(texts)] = np.sqrt(squares)

    def nearest(self, text: str) -> int:
        """Give the number of the nearest sentence, the earliest of equally near ones."""
        shared = np.zeros(len(self._norms), np.int32)
        for gram in self._grams([text])[0].tolist():
            found = self._sentences[self._starts[gram] : self._starts[gram + 1]]
            np.add.at(shared, found, self._weights[gram])
        return int((shared / self._norms).argmax())

    def _grams(self, texts: Sequence[str]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Give the hashes of the n-grams, each once a text and in order, and the texts they are of.

        Small and capital letters are the same, the ends of a text count as characters, and the
        text as it stands is one n-gram more, so that nothing is nearer to a sentence than itself.
        """
        joined = "\n".join(["", *texts, ""]).lower()
        codes = np.frombuffer(joined.encode("utf-32-le"), np.uint32)
        ends = codes == ord("\n")
        before = np.cumsum(ends)  # ends so far, this character included
        count = max(0, len(codes) - self._size + 1)
        hashes = np.zeros(count, np.uint32)
        for i in range(self._size):
            hashes = (hashes ^ codes[i : i + count]) * np.uint32(0x9E3779B1)
            hashes ^= hashes >> np.uint32(15)
        # An end inside an n-gram would make it one of two texts.
        within = before[self._size - 2 : self._size - 2 + count] == before[:count]
        whole = np.array([zlib.crc32(text.encode()) for text in texts], np.uint32)
        found = np.concatenate((hashes[within], whole)).astype(np.int64) >> (32 - self._bits)
        of = np.concatenate((before[:count][within] - 1, np.arange(len(texts))))
        keys = np.sort(found << 32 | of)
        keys = keys[np.diff(keys, prepend=-1) != 0]
        return keys >> 32, keys & 0xFFFFFFFF


def _spread(items: Sequence[Item], limit: int) -> Iterator[Item]:
    """Give as many as `limit` of some items, evenly spread."""
    kept = min(limit, len(items))
    return (items[i * len(items) // kept] for i in range(kept))


def most_pairs(minutes: float | None) -> int:
    """How many pairs are kept at most: those that take a twentieth of a training's minutes.

    It follows from the settings, not from a clock: the same training keeps the same pairs.
    """
    if minutes is None:
        return LIMIT
    return min(LIMIT, max(1000, int(minutes * 60 / 20 * PAIRS_A_SECOND)))


def seconds(pairs: int, minutes: float | None) -> float:
    """Foresee what fitting so many pairs takes, the choice of the n-grams included."""
    choosing = min(pairs, ENOUGH_PAIRS) * 1e-4
    return choosing + min(pairs, most_pairs(minutes)) / PAIRS_A_SECOND


def fit(prepared: Prepared, dev: Sequence[Pair], folder: Path, report: Report) -> str:
    """Keep the pairs of a training in its folder, as the simple thing beside the model."""
    corpus, tokenizer = prepared.data

    def pair(number: int) -> Pair:
        source = tokenizer.decode(corpus.source[number].tolist(), target=False)
        return source, tokenizer.decode(corpus.target[number].tolist())

    settings = prepared.settings
    limit = most_pairs(settings.train.minutes)
    found = NearestSentence.fit(pair, len(corpus), dev, settings.target, limit, report.progress)
    found.save(folder)
    corpus.forget()
    return found.name
