"""A model's weights as a search wants them: linear maps and norms without what is around them.

A matrix product is made for many rows: it first copies the weights into blocks as its kernel reads
them, and with 64 rows that copy costs a third of a product with the vocabulary. Weights that do
not change can be laid out in such blocks once, where torch has the kernels for it and they are
faster (with AVX-512; with less, plain products of matrices stored as (in, out) are).

Keys and values need no bias. That of the keys adds the same number to all scores of a query, which
the softmax does not see; that of the values comes out of every average as it went in, and is
part of the output's here.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.machine import processor_has
from heedful.nn.attention import Attention

__all__ = [
    "Map",
    "Norm",
    "blocks",
    "filled",
    "keys_and_values",
    "linear",
    "norm",
    "output",
    "own",
    "scaled",
]

Norm = Callable[[Tensor], Tensor]

WIDE = 512
"""Numbers out of a map from which blocks are worth their while for any number of rows."""
MANY = 128
"""Rows from which they are for any map."""
ROWS = 8
"""Up to so many rows are left as they are, for a product in blocks; more are filled up."""


@functools.lru_cache(maxsize=1)
def blocks() -> bool:
    """Say whether this torch on this machine has fast products of weights in blocks."""
    there = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    has = hasattr(torch.ops.mkldnn, "_linear_pointwise") if there else False
    return has and processor_has("avx512_f")


def filled(rows: int) -> int:
    """Give the number of rows that a product in blocks is shown: eight steps from one power of two
    to the next.

    Each number that a process meets for the first time costs half a millisecond, and half a
    megabyte for the code made for it; a search meets thousands, if it is let.
    """
    if rows <= ROWS:
        return rows
    step = max(ROWS, 1 << (rows.bit_length() - 4))
    return -(-rows // step) * step


class Map:
    """x @ matrix + bias, and the bend after it where that is a ReLU.

    A narrow matrix is there twice where blocks are fast: plain for few rows, in blocks for many.
    """

    def __init__(self, matrix: Tensor, bias: Tensor, relu: bool = False) -> None:
        self._matrix, self._bias, self._bend = matrix, bias, "relu" if relu else "none"
        self._least = MANY if matrix.size(1) < WIDE else 0
        """Rows from which it is in blocks, if ever."""
        self._blocks: Tensor | None = None
        if blocks():
            self._blocks = torch.ops.mkldnn._reorder_linear_weight(matrix.t().contiguous(), None)
            if not self._least:
                self._matrix = matrix.new_empty(0)

    def __call__(self, x: Tensor) -> Tensor:
        """Map every row."""
        rows = x.size(0)
        if self._blocks is None or rows < self._least:
            found = torch.addmm(self._bias, x, self._matrix)
            return found.relu_() if self._bend == "relu" else found
        missing = filled(rows) - rows
        if missing:
            x = F.pad(x, (0, 0, 0, missing))
        mapped: Tensor = torch.ops.mkldnn._linear_pointwise(
            x, self._blocks, self._bias, self._bend, [], ""
        )
        return mapped[:rows] if missing else mapped

    def add(self, x: Tensor, change: Tensor) -> Tensor:
        """Add a map of the change to x, perhaps in x's own memory: it is nobody else's."""
        rows = x.size(0)
        if self._blocks is None or rows < self._least:
            return x.add_(self._bias).addmm_(change, self._matrix)
        if filled(rows) > rows:
            return x.add_(self(change))
        added: Tensor = torch.ops.mkldnn._linear_pointwise.binary(
            change, x, self._blocks, self._bias, "add"
        )
        return added


def linear(layer: nn.Linear) -> tuple[Tensor, Tensor]:
    """Give a layer's matrix as (in, out), and its bias."""
    return _matrix(layer), layer.bias.detach()


def scaled(attention: Attention) -> tuple[Tensor, Tensor]:
    """Give the map to the queries, what dot products are multiplied with already in it."""
    weight, bias = linear(attention.query)
    return weight * attention.scale, bias * attention.scale


def keys_and_values(attention: Attention) -> tuple[Tensor, Tensor]:
    """Give the matrices to keys and to values; they need no bias."""
    return _matrix(attention.key), _matrix(attention.value)


def own(attention: Attention) -> Map:
    """Map to queries, keys and values in one product."""
    query, shift = scaled(attention)
    matrix = torch.cat([query, *keys_and_values(attention)], dim=1)
    unshifted = shift.new_zeros(matrix.size(1) - len(shift))
    return Map(matrix, torch.cat([shift, unshifted]))


def output(attention: Attention) -> Map:
    """Map back what the heads found, the bias of the values included."""
    weight, bias = linear(attention.output)
    return Map(weight, bias + attention.value.bias.detach() @ weight)


def norm(layer: nn.Module) -> Norm:
    """Give a norm without what a module does around its arithmetic."""
    if not isinstance(layer, nn.LayerNorm):
        return lambda x: x
    shape, weight, bias, eps = list(layer.normalized_shape), layer.weight, layer.bias, layer.eps
    return lambda x: torch.layer_norm(x, shape, weight, bias, eps)


def _matrix(layer: nn.Linear) -> Tensor:
    return layer.weight.detach().t().contiguous()
