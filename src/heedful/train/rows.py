"""A learner whose examples are rows in memory: what small data of any kind has in common."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeVar

import numpy as np

from heedful.train.learner import Learner

RowT = TypeVar("RowT")


class RowsLearner(Learner[list[RowT]]):
    """Gives batches of so many rows, in an order that follows from seed and epoch alone."""

    rows: Sequence[RowT]
    batch_rows: int = 16
    seed: int = 1

    def size(self, epoch: int) -> int:
        """How many batches an epoch has."""
        return -(-len(self.rows) // self.batch_rows)

    def batches(
        self, epoch: int, start: int, part: int = 0, parts: int = 1
    ) -> Iterator[list[RowT]]:
        """Give the batches of an epoch from the `start`-th on, or one of `parts` of each."""
        order = np.random.default_rng([self.seed, epoch]).permutation(len(self.rows))
        for begin in range(start * self.batch_rows, len(order), self.batch_rows):
            yield [self.rows[i] for i in order[begin : begin + self.batch_rows]][part::parts]

    def where(self, batch: list[RowT]) -> list[str]:
        """Name the examples of a batch."""
        return [str(row) for row in batch]

    def count(self, batch: list[RowT]) -> int:
        """One prediction for each row."""
        return len(batch)

    def split(self, batch: list[RowT], parts: int) -> list[list[RowT]]:
        """Deal the rows out."""
        return [batch[i::parts] for i in range(min(parts, len(batch)))]
