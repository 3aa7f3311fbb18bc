"""Attention of a search's rows to numbered cells: one query a head, and no key is ever moved.

A cell holds the key and the value of one word for one head. A word has a place, a row of a table,
and a time; what a row of the search looks at is, for each time, a place. So beams that change their
order change numbers only, beams with a common past read the same memory, and all beams of a
sentence share one copy of its source.

Two kernels of torch do just this. The scores are a product of which only some entries are
computed, `torch.sparse.sampled_addmm`; the mixed values are sums of rows of a table with a weight
each, `torch.embedding_bag`. With one query a head and a few dozen keys they take less time than
batched matrix products, which are made for larger things.

Annotations are evaluated here, as in `maps.py`: `freed.py` wants the types of the fields.
"""

import functools
import math
import warnings
from typing import NamedTuple, Self

import torch
from torch import Tensor

__all__ = ["Look", "Pool", "attend", "look", "make_ready", "write"]

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


class Pool(NamedTuple):
    """Keys and values of one layer: place, head, time, width, in whatever order in memory."""

    keys: Tensor
    values: Tensor
    columns: Tensor
    """Keys as the columns of a matrix."""
    rows: Tensor
    """Values as the rows of one."""

    @classmethod
    def of(cls, keys: Tensor, values: Tensor) -> Self:
        """Take what was computed together."""
        return cls(keys, values, _rows(keys).t(), _rows(values))

    @classmethod
    def empty(cls, places: int, heads: int, times: int, *widths: int) -> Self:
        """Make room to be filled time by time: what is written together lies together."""
        tables = (torch.empty(times, places, heads, width) for width in widths)
        return cls.of(*(table.permute(1, 2, 0, 3) for table in tables))

    @property
    def nbytes(self) -> int:
        """Memory it takes."""
        return self.keys.nbytes + self.values.nbytes

    def numbers(self, places: Tensor) -> Tensor:
        """Give the numbers of the cells at each row's places: row, head, time."""
        heads, width = self.keys.size(1), self.keys.size(3)
        place, head, time = (step // width for step in self.keys.stride()[:3])
        first = torch.add(time * torch.arange(places.size(1)), places, alpha=place)
        return first[:, None] + head * torch.arange(heads)[:, None]

    def kept(self, numbers: Tensor, times: int) -> "Pool":
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


class Look(NamedTuple):
    """Which cells each row attends to, the same for all layers, and memory to compute in."""

    numbers: Tensor
    bounds: Tensor
    """Where each head's cells begin among the numbers."""
    product: Tensor
    """Queries times keys, of which only the named cells are there."""
    scores: Tensor
    """Those cells by row, head and time: the same memory."""
    mask: Tensor | None
    """Added to the scores, for rows that see fewer."""
    wide: Tensor | None
    """The scores filled up to a vector, where they are fewer."""


# What follows is in the part of Python that `freed.py` can take out of the interpreter; constants
# are defaults of arguments there, for it knows no other names.


def write(pool: Pool, time: int, keys: Tensor, values: Tensor) -> None:
    """Fill the first places at a time, with rows of all heads side by side."""
    rows, heads = keys.size(0), pool.keys.size(1)
    pool.keys[:rows, :, time] = keys.view(rows, heads, -1)
    pool.values[:rows, :, time] = values.view(rows, heads, -1)


def look(numbers: Tensor, cells: int, mask: Tensor | None = None, vector: int = VECTOR) -> Look:
    """Make ready to attend to the numbers (row, head, time) of cells in pools of so many."""
    rows, heads, seen = numbers.size(0), numbers.size(1), numbers.size(2)
    flat, count = numbers.flatten(), rows * heads * seen
    bounds = torch.arange(0, count + 1, seen)
    # The product is added to no times what was there, so that must be finite.
    product = torch.sparse_compressed_tensor(
        bounds, flat, torch.zeros(count), [rows * heads, cells], layout=torch.sparse_csr
    )
    wide: Tensor | None = None
    if seen < vector:
        wide = torch.full((rows, heads, vector), -math.inf)
    scores = product.values().view(rows, heads, seen)
    return Look(flat, bounds, product, scores, None if mask is None else mask[:, None], wide)


def attend(cells: Look, queries: Tensor, pool: Pool) -> Tensor:
    """Mix the values of each row's cells by how well its queries match their keys."""
    split = queries.reshape(cells.bounds.size(0) - 1, -1)
    torch.ops.aten.sparse_sampled_addmm(
        cells.product, split, pool.columns, beta=0.0, out=cells.product
    )
    scores, wide, mask = cells.scores, cells.wide, cells.mask
    if wide is None:
        weights = (scores if mask is None else scores + mask).softmax(-1)
    else:
        seen = scores.size(2)
        narrow = wide[:, :, :seen]
        if mask is None:
            narrow.copy_(scores)
        else:
            torch.add(scores, mask, out=narrow)
        weights = wide.softmax(-1)[:, :, :seen]
    mixed = torch.embedding_bag(
        pool.rows, cells.numbers, cells.bounds, False, 0, False, weights.flatten(), True
    )[0]
    return mixed.view(scores.size(0), -1)
