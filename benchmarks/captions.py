"""The text that is trained on and translated: Multi30k where it is, or one invented to its measure.

`HEEDFUL_DATA` names the folder of real data. Without it, sentences are made of invented words, as
many in a sentence and as unevenly used as in captions, so that batches have the same shapes.
"""

from __future__ import annotations

import functools
import gzip
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np

from benchmarks.peers.work import Ids, TrainingWork
from heedful.data.ids import Ids as Side
from heedful.data.tokenizer import Tokenizer, learn
from heedful.settings import TokenizerSettings
from heedful.tasks.translation.batching import Batches
from heedful.tasks.translation.corpus import Corpus

WORDS, DEVIATION = 11.5, 3.7
"""Words of a sentence of Multi30k, of either side, on average and around it."""
SYLLABLES = [c + v for c in "bdfgklmnprstvwz" for v in ("a", "e", "i", "o", "u", "ein", "er")]


class _Rows(list[np.ndarray]):
    """Sequences in memory, where a prepared corpus has them in a file."""

    def forget(self) -> None:
        """Nothing to forget."""

    def lengths(self) -> np.ndarray:
        return np.array([len(row) for row in self], dtype=np.int32)


@dataclass(frozen=True)
class Captions:
    """Ids of pairs to train on and of sentences to translate, and the pieces they are made of."""

    name: str
    tokenizer: Tokenizer
    corpus: Corpus
    test: list[list[int]]
    text: list[str]
    """The same sentences as `test`, as they are written."""
    pairs: tuple[list[str], list[str]]
    """The pairs to train on, as they are written."""

    def work(self, sizes: dict[str, float | str], steps: int, budget: int) -> TrainingWork:
        """Give batches within a budget of positions, as training makes them, in random order."""
        ids = self.tokenizer.ids
        batches = Batches(self.corpus, budget, ids.eos, ids.pad)
        plan = batches.plan(0)
        chosen = [plan[i % len(plan)] for i in range(steps)]
        source, target = self.corpus.source, self.corpus.target
        return TrainingWork(
            sizes,
            Ids(**ids.model_dump()),
            [
                ([[*source[i].tolist(), ids.eos] for i in rows], [target[i].tolist() for i in rows])
                for rows in chosen
            ],
        )


@functools.cache
def captions(pieces: int = 4000, pairs: int = 29_000, test: int = 1000) -> Captions:
    """Read or invent the text, learn pieces from it, and split it."""
    sides = [part(f"train.{side}")[:pairs] for side in ("de", "en")]
    text = part("test_2016_flickr.de")[:test]
    if text:
        name = "Multi30k, German to English"
    else:
        name = "invented captions (HEEDFUL_DATA is not set)"
        lines = invented(2 * pairs + test)
        sides = [[next(lines) for _ in range(pairs)] for _ in range(2)]
        text = [next(lines) for _ in range(test)]
    settings = TokenizerSettings(vocab_size=pieces)
    tokenizer = Tokenizer(learn([line for side in sides for line in side], settings))
    left, right = (
        cast(Side, _Rows(np.array(ids, dtype=np.int32) for ids in tokenizer.encode_many(side)))
        for side in sides
    )
    return Captions(
        name,
        tokenizer,
        Corpus(left, right, [], 0),
        tokenizer.encode_many(text),
        text,
        (sides[0], sides[1]),
    )


def part(name: str) -> list[str]:
    """Read one side of a part of Multi30k, such as "val.de"; nothing where it is not there."""
    folder = Path(os.environ.get("HEEDFUL_DATA") or "nowhere") / "multi30k" / "raw"
    path = folder / f"{name}.gz"
    return gzip.decompress(path.read_bytes()).decode("utf-8").splitlines() if path.exists() else []


def invented(count: int, seed: int = 7) -> Iterator[str]:
    """Make up sentences of invented words; the n-th word is used a 1/n-th as often."""
    random = np.random.default_rng(seed)
    words = ["".join(random.choice(SYLLABLES, size=random.integers(1, 4))) for _ in range(9000)]
    share = np.cumsum(1 / np.arange(1, len(words) + 1))
    for size in np.clip(random.normal(WORDS, DEVIATION, count).round().astype(int), 2, 40):
        places = np.searchsorted(share, random.random(size) * share[-1])
        yield " ".join(words[i] for i in places) + "."
