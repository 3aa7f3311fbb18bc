"""Files to ids: the corpus as numbers on disk, memory-mapped, so that its size needs no RAM.

`doctor.examine` has gone over the text once and said which lines are kept. `prepare` goes over it
again: a part of it teaches the pieces, a part is held out for development where none was
given, and the ids of the rest are written. Later runs map the ids and read no text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from itertools import compress, islice
from pathlib import Path

import numpy as np

from heedful import files
from heedful.data.ids import Ids, IdsWriter
from heedful.data.text import normalise
from heedful.data.tokenizer import Tokenizer, learn
from heedful.errors import DataError
from heedful.tasks.translation.reading import Progress, Source
from heedful.tasks.translation.settings import Settings

CHUNK = 20_000
"""Pairs encoded at once: enough to keep the cores busy, few enough to hold in memory."""

Pair = tuple[str, str]


@dataclass
class Corpus:
    """What training reads: the ids of both sides, and development text to score on."""

    source: Ids
    target: Ids
    dev: list[Pair]
    too_long: int = 0
    """Pairs left out because they had more pieces than `data.max_length`."""
    lines: np.ndarray | None = None
    """Which line of the text each pair was, counted through all files."""
    starts: Sequence[tuple[str, int]] = ()
    """The files, and at which line each of them begins."""

    def __len__(self) -> int:
        return len(self.source)

    def forget(self) -> None:
        """Release the mapped pages that were read."""
        self.source.forget()
        self.target.forget()

    def places(self, rows: np.ndarray) -> list[str]:
        """Name the lines of the text that some pairs were, as editors do."""
        if self.lines is None:
            return [f"pair {row + 1}" for row in rows.tolist()]
        found = []
        for line in self.lines[rows].tolist():
            file, start = next((f, s) for f, s in reversed(self.starts) if s <= line)
            found.append(f"{file}:{line - start + 1}")
        return found

    @classmethod
    def open(cls, folder: Path) -> Corpus:
        """Map a corpus that `prepare` wrote, after checking that no byte of it has changed."""
        facts = files.read_sealed(folder / "corpus.json")
        files.check(folder, facts["files"])
        return cls(
            Ids(folder / "source", facts["width"]),
            Ids(folder / "target", facts["width"]),
            [(s, t) for s, t in facts["dev"]],
            facts["too_long"],
            np.memmap(folder / "lines", dtype="<u4", mode="r"),
            [(file, start) for file, start in facts["starts"]],
        )


def development_pairs(model: Path) -> list[Pair]:
    """Give the development pairs of a model's training, if they are still there."""
    data = model / "run" / "data"
    return Corpus.open(data).dev if (data / "corpus.json").exists() else []


def development_size(pairs: int) -> int:
    """How many pairs to hold out: a twentieth of little data, never more than a thousand."""
    return max(1, min(1000, pairs // 20))


def number_of(text: str, seed: int) -> float:
    """Give a text a number in [0, 1) that depends on nothing but it and the seed."""
    digest = hashlib.blake2b(text.encode(), digest_size=8, key=str(seed).encode()).digest()
    return int.from_bytes(digest, "little") / 2**64


def pairs_of(sources: Sequence[Source], keep: np.ndarray | None = None) -> Iterator[Pair]:
    """Give the normalised pairs of all sources in order, those that are kept."""
    return (pair for _, pair in _lines_of(sources, keep))


def _lines_of(
    sources: Sequence[Source],
    keep: np.ndarray | None = None,
    starts: list[tuple[str, int]] | None = None,
) -> Iterator[tuple[int, Pair]]:
    """Give each pair with its line, counted through; note in `starts` where each source begins."""
    line = 0
    for source in sources:
        if starts is not None:
            starts.append((str(source.paths[0]), line))
        for _, left, right in source.pairs():
            if keep is None or keep[line]:
                yield line, (normalise(left), normalise(right))
            line += 1


class _Again:
    """Text that can be iterated more than once without being kept in memory."""

    def __init__(self, begin: Callable[[], Iterator[str]]) -> None:
        self._begin = begin

    def __iter__(self) -> Iterator[str]:
        return self._begin()


def _hold_out(
    sources: Sequence[Source], keep: np.ndarray, kept: int, settings: Settings
) -> tuple[float, list[Pair]]:
    """Choose development pairs: those whose source has a number below the one given first."""
    seed, wanted = settings.train.seed, settings.data.dev_size or development_size(kept)
    if wanted >= kept:
        raise DataError(
            f"data.dev_size = {wanted} leaves nothing of {kept} usable pairs to learn from; "
            f"lower it or give more text"
        )
    share = wanted / kept
    below = (p for p in pairs_of(sources, keep) if number_of(p[0], seed) < share)
    # A sentence with thousands of translations must not fill the memory.
    held = list(islice(below, 5 * wanted))
    if 0 < len(held) < kept:
        return share, held
    # Little data and an unlucky draw, none or all: take the sentence with the smallest number.
    numbers = sorted({number_of(s, seed) for s, _ in pairs_of(sources, keep)})
    if len(numbers) < 2:
        raise DataError(
            f"all {kept} usable pairs have the same source sentence: at least 2 different ones are "
            f"needed, one to learn from and one to check; give more text"
        )
    share = numbers[1]
    return share, [p for p in pairs_of(sources, keep) if number_of(p[0], seed) < share]


def prepare_corpus(
    sources: Sequence[Source],
    keep: np.ndarray,
    settings: Settings,
    folder: Path,
    dev: Sequence[Source] = (),
    tokenizer: Tokenizer | None = None,
    progress: Progress = lambda what, done, total: None,
) -> tuple[Corpus, Tokenizer]:
    """Write the ids of the kept pairs into `folder`, learning the pieces first unless given.

    The development set is held out by distinct source sentence: a sentence that occurs twice,
    with two translations, is wholly on one side. Which ones go follows from their text and the
    seed, so nothing about the order of the files matters.
    """
    kept = int(keep.sum())
    if kept < 2:
        raise DataError(
            f"{kept} usable pair{'s' * (kept != 1)} of {len(keep)} cannot be trained on: at least "
            f"2 are needed, one to learn from and one to check; give more text"
        )
    seed = settings.train.seed
    if dev:
        share = 0.0
        held = [p for p in pairs_of(dev) if p[0] and p[1]]
        if not held:
            raise DataError(
                f"{dev[0].paths[0]} has no pair with text on both sides to check on; "
                f"give other development text, or none to have a part held out"
            )
    else:
        share, held = _hold_out(sources, keep, kept, settings)

    starts: list[tuple[str, int]] = []

    def training() -> Iterator[tuple[int, Pair]]:
        starts.clear()
        for line, pair in _lines_of(sources, keep, starts):
            if number_of(pair[0], seed) >= share:
                yield line, pair

    if tokenizer is None:
        progress("learning pieces", 0, kept)
        wanted = min(1.0, settings.tokenizer.sample_lines / kept)
        sampled = _Again(
            lambda: (
                t for _, pair in training() if number_of(pair[1], seed + 1) < wanted for t in pair
            )
        )
        tokenizer = Tokenizer(learn(sampled, settings.tokenizer))

    folder.mkdir(parents=True, exist_ok=True)
    width = "<u2" if tokenizer.ids.size <= 1 << 16 else "<i4"
    pairs, done, too_long, longest = training(), 0, 0, settings.data.max_length
    with (
        closing(IdsWriter(folder / "source", width)) as source_ids,
        closing(IdsWriter(folder / "target", width)) as target_ids,
        (folder / "lines").open("wb") as lines,
    ):
        while chunk := list(islice(pairs, CHUNK)):
            left = tokenizer.encode_many([s for _, (s, _) in chunk])
            right = tokenizer.encode_many([t for _, (_, t) in chunk], target=True)
            fit = [
                0 < len(s) <= longest and 0 < len(t) <= longest
                for s, t in zip(left, right, strict=True)
            ]
            too_long += len(fit) - sum(fit)
            source_ids.write(list(compress(left, fit)))
            target_ids.write(list(compress(right, fit)))
            fitting = [line for line, _ in compress(chunk, fit)]
            lines.write(np.array(fitting, dtype="<u4").tobytes())
            done += len(chunk)
            progress("preparing", done, kept)
    if too_long == done:
        raise DataError(
            f"all {done} pairs are longer than data.max_length = {longest} pieces or empty; "
            f"raise data.max_length or split the lines into sentences"
        )
    names = ("source.ids", "source.ends", "target.ids", "target.ends", "lines")
    for name in names:
        files.force(folder / name)
    facts = {
        "files": {name: files.sha256(folder / name) for name in names},
        "width": width,
        "starts": starts,
        "too_long": too_long,
        "dev": held,
    }
    files.write_sealed(folder / "corpus.json", facts)
    return Corpus.open(folder), tokenizer
