"""A model's weights as a search wants them: linear maps and norms without what is around them.

A matrix product is made for many rows: it first copies the weights into blocks as its kernel reads
them, and with 64 rows that copy costs a third of a product with the vocabulary. Weights that do
not change can be laid out in such blocks once, where torch has the kernels for it and they are
faster (with AVX-512; with less, plain products of matrices stored as (in, out) are).

Keys and values need no bias. That of the keys adds the same number to all scores of a query, which
the softmax does not see; that of the values comes out of every average as it went in, and is
part of the output's here.

Annotations are evaluated here, as in `cells.py`: `freed.py` wants the types of the fields.
"""

from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.machine import blocks, blocks_faster
from heedful.nn.attention import Attention
from heedful.nn.layers import FeedForward

__all__ = [
    "Forward",
    "Map",
    "Norm",
    "added",
    "filled",
    "forwarded",
    "joint",
    "keys_and_values",
    "linear",
    "mapped",
    "normed",
    "output",
    "scaled",
]

WIDE = 512
"""Numbers out of a map from which blocks are worth their while for any number of rows."""
MANY = 128
"""Rows from which they are for any map."""
SOME = 8
"""Rows from which they are where oneDNN is much faster than what torch uses for the rest."""
ROWS = 8
"""Up to so many rows are left as they are, for a product in blocks; more are filled up."""


def filled(rows: int, step: int = ROWS) -> int:  # a freed function knows no names but arguments
    """Give the number of rows that a product in blocks is shown: eight steps from one power of two
    to the next.

    Each number that a process meets for the first time costs half a millisecond, and half a
    megabyte for the code made for it; a search meets thousands, if it is let.
    """
    if rows <= step:
        return rows
    while rows >= 16 * step:
        step *= 2
    return (rows + step - 1) // step * step


class Map(NamedTuple):
    """x @ matrix + bias, and the bend after it where that is a ReLU.

    A narrow matrix is there twice where blocks are fast: plain for few rows, in blocks for many.
    """

    matrix: Tensor
    bias: Tensor
    bend: str
    """What is computed along with it: "relu" or "none"."""
    least: int
    """Rows from which it is in blocks, if ever."""
    blocks: Tensor | None

    @classmethod
    def of(cls, matrix: Tensor, bias: Tensor, relu: bool = False) -> Self:
        """Lay out a matrix (in, out)."""
        bend, least, laid_out = "relu" if relu else "none", 0, None
        if matrix.size(1) < WIDE:
            least = SOME if blocks_faster() else MANY
        if blocks():
            laid_out = torch.ops.mkldnn._reorder_linear_weight(matrix.t().contiguous(), None)
            matrix = matrix if least else matrix.new_empty(0)
        return cls(matrix, bias, bend, least, laid_out)


class Norm(NamedTuple):
    """A LayerNorm, or nothing where there are no weights."""

    shape: list[int]
    weight: Tensor | None
    bias: Tensor | None
    epsilon: float

    @classmethod
    def of(cls, layer: nn.Module) -> Self:
        """Take a layer's weights."""
        if not isinstance(layer, nn.LayerNorm):
            return cls([], None, None, 0.0)
        return cls(list(layer.normalized_shape), layer.weight, layer.bias, layer.eps)


class Forward(NamedTuple):
    """The feed-forward."""

    inner: Map
    activation: str
    outer: Map

    @classmethod
    def of(cls, layer: FeedForward) -> Self:
        """Lay out both maps."""
        inner = Map.of(*linear(layer.inner), relu=layer.activation == "relu")
        return cls(inner, layer.activation, Map.of(*linear(layer.outer)))


# What follows is in the part of Python that `freed.py` can take out of the interpreter, as
# `filled` above is.


def mapped(x: Tensor, by: Map) -> Tensor:
    """Map every row."""
    rows, laid_out = x.size(0), by.blocks
    if laid_out is None or rows < by.least:
        # With room to write to; without, a freed function would make two operations of it.
        room = x.new_empty([rows, by.matrix.size(1)])
        found = torch.addmm(by.bias, x, by.matrix, out=room)
        return found.relu_() if by.bend == "relu" else found
    missing = filled(rows) - rows
    if missing:
        x = F.pad(x, (0, 0, 0, missing))
    full: Tensor = torch.ops.mkldnn._linear_pointwise(x, laid_out, by.bias, by.bend, [], "")
    return full[:rows] if missing else full


def added(x: Tensor, change: Tensor, by: Map) -> Tensor:
    """Add a map of the change to x, in x's own memory: it is nobody else's."""
    if by.blocks is None or x.size(0) < by.least:
        return x.add_(by.bias).addmm_(change, by.matrix)
    return x.add_(mapped(change, by))


def normed(x: Tensor, by: Norm) -> Tensor:
    """Normalise every row."""
    if by.weight is None:
        return x
    return torch.layer_norm(x, by.shape, by.weight, by.bias, by.epsilon)


def forwarded(x: Tensor, read: Tensor, by: Forward) -> Tensor:
    """Add to x, in its own memory, what the feed-forward makes of what is read."""
    bent = mapped(read, by.inner)
    if by.activation == "gelu":
        bent = F.gelu(bent)
    elif by.activation == "swish":
        bent = F.silu(bent)
    return added(x, bent, by.outer)


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


def joint(attention: Attention) -> tuple[Tensor, Tensor]:
    """Give the map to queries, keys and values in one product."""
    query, shift = scaled(attention)
    matrix = torch.cat([query, *keys_and_values(attention)], dim=1)
    unshifted = shift.new_zeros(matrix.size(1) - len(shift))
    return matrix, torch.cat([shift, unshifted])


def output(attention: Attention) -> Map:
    """Map back what the heads found, the bias of the values included."""
    weight, bias = linear(attention.output)
    return Map.of(weight, bias + attention.value.bias.detach() @ weight)


def _matrix(layer: nn.Linear) -> Tensor:
    return layer.weight.detach().t().contiguous()
