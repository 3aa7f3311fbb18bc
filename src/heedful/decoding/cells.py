"""Attention of a search's rows to numbered cells: one query a head, and no key is ever moved.

A cell holds the keys (or values) of all heads for one word, and lies in a pool with all others of
its layer. What a row looks at is a list of their numbers. So beams that change places change
numbers only, beams with a common past read the same memory, and a sentence's rows share one copy
of its source.

Two kernels of torch do just this. The scores are a product of which only some entries are
computed, `torch.sparse.sampled_addmm`; the mixed values are sums of rows of a table with a weight
each, `torch.embedding_bag`. With one query a head and a few dozen keys they take half the time of
batched matrix products, which are made for larger things.
"""

from __future__ import annotations

import functools
import math
import warnings

import torch
from torch import Tensor

__all__ = ["Look", "make_ready"]

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


class Look:
    """Which cells each row attends to: the same for all layers."""

    def __init__(self, cells: Tensor, heads: int, pool: int, mask: Tensor | None = None) -> None:
        """Take the numbers of the cells of each row, as many for all, out of a pool of so many.

        The mask is added to the scores, for rows that see fewer.
        """
        rows, seen = cells.shape
        looks = rows * heads
        self._numbers = (cells[:, None] * heads + torch.arange(heads)[:, None]).flatten()
        self._bounds = torch.arange(0, looks * seen + 1, seen)
        self._scores = torch.sparse_csr_tensor(
            self._bounds,
            self._numbers,
            torch.zeros(looks * seen),  # the product is added to no times these
            (looks, pool * heads),
            check_invariants=False,
        )
        self._shape = rows, heads, seen
        self._mask = None if mask is None else mask[:, None]
        self._wide: Tensor | None = None
        if seen < VECTOR:
            self._wide = torch.full((rows, heads, VECTOR), -math.inf)

    def __call__(self, queries: Tensor, keys: Tensor, values: Tensor) -> Tensor:
        """Mix the values of each row's cells by how well its queries match their keys."""
        rows, heads, seen = self._shape
        split, flat = queries.reshape(rows * heads, -1), keys.view(-1, keys.size(1) // heads)
        torch.sparse.sampled_addmm(self._scores, split, flat.t(), beta=0.0, out=self._scores)
        scores = self._scores.values().view(self._shape)
        if self._mask is not None:
            scores = scores + self._mask  # not in place: no times infinity is not a number
        if self._wide is None:
            weights = scores.softmax(-1)
        else:
            self._wide[..., :seen] = scores
            weights = self._wide.softmax(-1)[..., :seen]
        table = values.view(-1, values.size(1) // heads)
        mixed: Tensor = torch.embedding_bag(
            table, self._numbers, self._bounds, False, 0, False, weights.flatten(), True
        )[0]
        return mixed.view(rows, -1)
