"""Attention of a search's rows to numbered cells: one query a head, and no key is ever moved.

A cell holds the key and the value of one word for one head. A word has a place, a row of a table,
and a time; what a row of the search looks at is, for each time, a place. So beams that change their
order change numbers only, beams with a common past read the same memory, and all beams of a
sentence share one copy of its source.

Two kernels of torch do just this. The scores are a product of which only some entries are
computed, `torch.sparse.sampled_addmm`; the mixed values are sums of rows of a table with a weight
each, `torch.embedding_bag`. With one query a head and a few dozen keys they take less time than
batched matrix products, which are made for larger things.
"""

from __future__ import annotations

import functools
import math
import warnings

import torch
from torch import Tensor

__all__ = ["Look", "Pool", "make_ready"]

VECTOR = 16
"""Numbers that the longest vectors of a CPU hold: a softmax of fewer is computed one by one, and
takes five times as long as one of so many."""


@functools.lru_cache(maxsize=1)
def make_ready() -> None:
    """Let torch say to nobody, once a process, that its sparse tensors may still change."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        one = torch.ones(1, dtype=torch.long)
        torch.sparse_csr_tensor(one.new_tensor([0, 1]), 0 * one, one.float(), (1, 1))


class Pool:
    """Keys and values of one layer: place, head, time, width, in whatever order in memory."""

    def __init__(self, keys: Tensor, values: Tensor) -> None:
        self.keys, self.values = keys, values
        self.columns = _rows(keys).t()
        """Keys as the columns of a matrix."""
        self.rows = _rows(values)

    @classmethod
    def empty(cls, places: int, heads: int, times: int, *widths: int) -> Pool:
        """Make room to be filled time by time: what is written together lies together."""
        tables = (torch.empty(times, places, heads, width) for width in widths)
        return cls(*(table.permute(1, 2, 0, 3) for table in tables))

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self.keys.nbytes + self.values.nbytes

    def write(self, time: int, keys: Tensor, values: Tensor) -> None:
        """Fill the first places at a time, with rows of all heads side by side."""
        rows, heads = keys.size(0), self.keys.size(1)
        self.keys[:rows, :, time] = keys.view(rows, heads, -1)
        self.values[:rows, :, time] = values.view(rows, heads, -1)

    def numbers(self, places: Tensor) -> Tensor:
        """Give the numbers of the cells at each row's places: row, head, time."""
        heads, width = self.keys.size(1), self.keys.size(3)
        place, head, time = (step // width for step in self.keys.stride()[:3])
        first = torch.add(time * torch.arange(places.size(1)), places, alpha=place)
        return first[:, None] + head * torch.arange(heads)[:, None]

    def kept(self, numbers: Tensor, times: int) -> Pool:
        """Give a pool with room for so many times, where each row has a place of its own."""
        rows, heads, _ = numbers.shape
        new = Pool.empty(rows, heads, times, self.keys.size(3), self.values.size(3))
        flat = numbers.permute(2, 0, 1).flatten()
        torch.index_select(self.columns.t(), 0, flat, out=new.columns.t()[: len(flat)])
        torch.index_select(self.rows, 0, flat, out=new.rows[: len(flat)])
        return new


def _rows(table: Tensor) -> Tensor:
    """Give a table as it lies in memory, a row for each cell and head."""
    width = table.size(3)
    return table.as_strided((table.numel() // width, width), (width, 1))


class Look:
    """Which cells each row attends to: the same for all layers."""

    def __init__(self, numbers: Tensor, cells: int, mask: Tensor | None = None) -> None:
        """Take the numbers (row, head, time) of cells in pools of so many.

        The mask is added to the scores, for rows that see fewer.
        """
        rows, heads, seen = numbers.shape
        self._rows, self._looks, self._seen = rows, rows * heads, seen
        self._mask = None if mask is None else mask[:, None]
        self._numbers = numbers.flatten()
        count = self._looks * seen
        self._bounds = torch.arange(0, count + 1, seen)
        # The product is added to no times what was there, so that must be finite.
        self._product = torch.sparse_csr_tensor(
            self._bounds,
            self._numbers,
            torch.zeros(count),
            (self._looks, cells),
            check_invariants=False,
        )
        self._scores = self._product.values().view(numbers.shape)
        self._wide: Tensor | None = None
        if seen < VECTOR:
            self._wide = torch.full((rows, heads, VECTOR), -math.inf)
            self._narrow = self._wide[..., :seen]

    def __call__(self, queries: Tensor, pool: Pool) -> Tensor:
        """Mix the values of each row's cells by how well its queries match their keys."""
        split = queries.reshape(self._looks, -1)
        torch.sparse.sampled_addmm(self._product, split, pool.columns, beta=0.0, out=self._product)
        weights = self._weights().flatten()
        mixed: Tensor = torch.embedding_bag(
            pool.rows, self._numbers, self._bounds, False, 0, False, weights, True
        )[0]
        return mixed.view(self._rows, -1)

    def _weights(self) -> Tensor:
        """Give each row's share in each of its cells."""
        if self._wide is None:
            scores = self._scores if self._mask is None else self._scores + self._mask
            return scores.softmax(-1)
        if self._mask is None:
            self._narrow.copy_(self._scores)
        else:
            torch.add(self._scores, self._mask, out=self._narrow)
        return self._wide.softmax(-1)[..., : self._seen]
