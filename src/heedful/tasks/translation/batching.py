"""Sentences to batches: of like lengths on both sides, within a budget, in a repeatable order.

A batch costs rows x (longest source + longest target), padding included. Sorted by target length
alone, two fifths of a caption corpus would be padding; sorted by both, a twentieth is. With
subword regularisation the lengths change each epoch; then those of the sampled splits are used.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np
import torch
from torch import Tensor

from heedful.data.padding import pad
from heedful.data.variants import Variants, keys
from heedful.errors import DataError
from heedful.tasks.translation.corpus import Corpus

FORGET_EVERY = 4
"""Batches after which the mapped pages of the corpus are released."""
MEASURED = 10_000
"""Sentences whose sampled lengths are found at once."""


@dataclass(frozen=True)
class Batch:
    """Ids of some pairs, padded to rectangles; sources end with the end symbol."""

    rows: np.ndarray
    """Which pairs of the corpus these are."""
    source: Tensor
    source_lengths: Tensor
    target: Tensor
    target_lengths: Tensor
    idle: bool = False
    """Whether this is a stand-in for no rows, whose loss counts nothing."""
    whole: np.ndarray | None = None
    """The rows of all parts, where this is one of several."""

    @property
    def tokens(self) -> int:
        """Target tokens that are predicted: the words, and the end of each sentence."""
        return 0 if self.idle else int(self.target_lengths.sum()) + len(self.rows)

    def split(self, parts: int) -> list[Batch]:
        """Give the rows in so many batches, fewer where there are not enough rows."""
        size = -(-len(self.rows) // parts)
        return [
            Batch(
                self.rows[i : i + size],
                self.source[i : i + size],
                self.source_lengths[i : i + size],
                self.target[i : i + size],
                self.target_lengths[i : i + size],
            )
            for i in range(0, len(self.rows), size)
        ]

    def to(self, device: torch.device) -> Batch:
        """Move to where the model is."""
        return replace(
            self,
            source=self.source.to(device),
            source_lengths=self.source_lengths.to(device),
            target=self.target.to(device),
            target_lengths=self.target_lengths.to(device),
        )


class Batches:
    """The batches of every epoch; which they are follows from corpus, seed and epoch alone."""

    def __init__(
        self,
        corpus: Corpus,
        budget: int,
        eos: int,
        padding: int,
        seed: int = 1,
        variants: Variants | None = None,
    ) -> None:
        self._corpus, self._budget, self._seed = corpus, budget, seed
        self._eos, self._padding, self._variants = eos, padding, variants
        self._planned: tuple[int, list[np.ndarray]] | None = None
        self._source = corpus.source.lengths() + 1  # the end symbol
        self._target = corpus.target.lengths() + 1  # start or end symbol
        longest = int((self._source.astype(np.int64) + self._target).max())
        if longest > budget:
            raise DataError(
                f"a pair of {longest} positions does not fit into data.batch_tokens = {budget}; "
                f"raise data.batch_tokens or lower data.max_length"
            )

    def plan(self, epoch: int) -> list[np.ndarray]:
        """Say which rows go together in an epoch, in which order.

        Rows are sorted by target length, and within it by source length, up and down in turn so
        that neighbours stay alike where the target length changes. Equal ones are shuffled. The
        last plan is remembered.
        """
        if self._planned is not None and self._planned[0] == epoch:
            return self._planned[1]
        self._planned = None
        random = np.random.default_rng([self._seed, epoch])
        source, target = self.lengths(epoch)
        snake = np.where(target % 2 == 0, source, -source)
        order = np.lexsort((random.random(len(source), dtype=np.float32), snake, target))
        plan: list[np.ndarray] = []
        begin, widest_source, widest_target = 0, 0, 0
        left, right = source[order].tolist(), target[order].tolist()
        for place, (s, t) in enumerate(zip(left, right, strict=True)):
            wide_s, wide_t = max(widest_source, s), max(widest_target, t)
            if (place - begin + 1) * (wide_s + wide_t) > self._budget and place > begin:
                plan.append(order[begin:place])
                begin, wide_s, wide_t = place, s, t
            widest_source, widest_target = wide_s, wide_t
        plan.append(order[begin:])
        random.shuffle(plan)
        self._planned = epoch, plan
        return plan

    def batch(self, rows: np.ndarray, epoch: int, part: int = 0, parts: int = 1) -> Batch:
        """Make one batch of a plan, or one of several parts of like cost: every n-th row."""
        # Shifted, so that it is not always the same part that has a row more.
        whole, first = rows, (part + int(rows[0])) % parts
        idle = first >= len(rows)
        rows = rows[:1] if idle else rows[first::parts]
        sources, targets = (self._drawn(side, rows, epoch) for side in (0, 1))
        for source in sources:
            source.append(self._eos)
        return Batch(rows, *pad(sources, self._padding), *pad(targets, self._padding), idle, whole)

    def lengths(self, epoch: int) -> tuple[np.ndarray, np.ndarray]:
        """Give the lengths of both sides in an epoch, the end or start symbol included."""
        variants, corpus = self._variants, self._corpus
        if variants is None:
            return self._source, self._target
        found = np.empty((2, len(corpus)), dtype=np.int32)
        for number, side in enumerate((corpus.source, corpus.target)):
            for begin in range(0, len(corpus), MEASURED):
                rows = np.arange(begin, min(begin + MEASURED, len(corpus)))
                some = [side[i] for i in rows.tolist()]
                drawn = variants.lengths(some, keys(self._seed, epoch, number, rows))
                found[number, rows] = drawn + 1
                side.forget()
        return found[0], found[1]

    def _drawn(self, side: int, rows: np.ndarray, epoch: int) -> list[list[int]]:
        """Give sentences of one side as they are split in an epoch."""
        ids = (self._corpus.source, self._corpus.target)[side]
        some = [ids[i] for i in rows.tolist()]
        if self._variants is None:
            return [sentence.tolist() for sentence in some]
        return self._variants.draw(some, keys(self._seed, epoch, side, rows))

    def epoch(self, epoch: int, start: int = 0, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        """Give the batches of an epoch, from the `start`-th on, or one of several parts of each."""
        for number, rows in enumerate(self.plan(epoch)[start:]):
            if number % FORGET_EVERY == 0:
                self._corpus.forget()
            yield self.batch(rows, epoch, part, parts)
