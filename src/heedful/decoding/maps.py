"""Linear maps for the few rows of a decoder's step.

A matrix product is made for many rows: it first copies the weights into blocks as its kernel reads
them, and with 64 rows that copy costs a third of a product with the vocabulary. Weights that do
not change can be laid out in such blocks once, where torch has the kernels for it and they are
faster (with AVX-512; with less, plain products of matrices stored as (in, out) are).
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.machine import processor_has

__all__ = ["Map"]

WIDE = 512
"""Numbers out of a map from which blocks are worth their while."""
ROWS = 8
"""Rows of a product in blocks are filled up to a multiple of this: each number of rows that a
process meets for the first time costs half a millisecond."""


@functools.lru_cache(maxsize=1)
def blocks() -> bool:
    """Say whether this torch on this machine has fast products of weights in blocks."""
    there = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    has = hasattr(torch.ops.mkldnn, "_linear_pointwise") if there else False
    return has and processor_has("avx512_f")


class Map:
    """x @ matrix + bias, and the bend after it where that is a ReLU."""

    def __init__(self, matrix: Tensor, bias: Tensor, relu: bool = False) -> None:
        self._matrix, self._bias, self._relu = matrix, bias, relu
        self._blocks = matrix.size(1) >= WIDE and blocks()
        if self._blocks:
            self._matrix = torch.ops.mkldnn._reorder_linear_weight(matrix.t().contiguous(), None)

    def __call__(self, x: Tensor) -> Tensor:
        """Map every row."""
        if not self._blocks:
            found = torch.addmm(self._bias, x, self._matrix)
            return found.relu_() if self._relu else found
        rows = len(x)
        if rows > ROWS and rows % ROWS:
            x = F.pad(x, (0, 0, 0, -rows % ROWS))
        bend = "relu" if self._relu else "none"
        mapped: Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self._matrix, self._bias, bend, [], ""
        )
        return mapped[:rows]

    def add(self, x: Tensor, change: Tensor) -> Tensor:
        """Add a map of the change to x, in x's own memory: it is nobody else's."""
        if self._blocks:
            return x.add_(self(change))
        return x.add_(self._bias).addmm_(change, self._matrix)
