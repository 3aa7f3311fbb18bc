"""Linear maps: in float32, or with their products in whatever way a CPU is fastest at them.

That can be numbers half as long, where it has units for them, or oneDNN's blocks: torch's usual
library for products in float32 gives processors of some makers the code of older ones, and on such
with AVX-512 oneDNN's are twice as fast. Inside `products_in` the one or the other is taken.

`torch.autocast` would shorten numbers too, but on a CPU it gives most of the gain away again: it
shortens attention, which is made of many tiny products there, and meets a new number of rows at
every step (see `shortened`). Here only the large products are short, in bfloat16 those of the loss
among them.
Weights, sums, norms, attention and the softmax stay in float32; a GPU keeps its autocast.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

__all__ = [
    "ROWS",
    "Linear",
    "in_blocks",
    "linear",
    "product",
    "product_numbers",
    "products_in",
    "restored",
    "shortened",
]

ROWS = 32
"""Rows of a product of oneDNN's are filled up to a multiple of this, or of twice as many where they
are `MANY`."""
MANY = 1024


class _Asked(threading.local):
    def __init__(self) -> None:
        self.numbers = torch.float32
        self.blocks = False

    def usual(self, x: Tensor) -> bool:
        """Whether x is multiplied as it is."""
        return not self.blocks and self.numbers in (torch.float32, x.dtype)


_asked = _Asked()


@contextmanager
def products_in(numbers: torch.dtype, blocks: bool = False) -> Iterator[None]:
    """Compute products in these numbers inside a `with`; every thread says so for itself.

    `blocks` has oneDNN compute those in float32, which has to be there.
    """
    before = _asked.numbers, _asked.blocks
    _asked.numbers, _asked.blocks = numbers, blocks
    try:
        yield
    finally:
        _asked.numbers, _asked.blocks = before


def product_numbers() -> torch.dtype:
    """Give the numbers that products are computed in here and now."""
    return _asked.numbers


def in_blocks() -> bool:
    """Say whether oneDNN computes them."""
    return _asked.blocks


def product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply two matrices; both are of the numbers asked for, and nothing is learned by it."""
    if not _asked.blocks:
        return a @ b
    return _multiplied(a, b.t())


def _multiplied(a: Tensor, b: Tensor, bias: Tensor | None = None) -> Tensor:
    """Have oneDNN compute a @ b.T + bias."""
    found: Tensor = torch.ops.mkldnn._linear_pointwise(a, b, bias, "none", [], "")
    return found


class _InBlocks(torch.autograd.Function):
    """A linear map and its gradients by oneDNN, which keeps its input and nothing else.

    `aten::mkldnn_linear` would do the same without Python, but copies its input and its output, and
    keeps all four.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return _multiplied(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        (up,) = gradients
        x, weight = ctx.saved_tensors
        return _multiplied(up, weight.t()), _multiplied(up.t(), x.t()), up.sum(0)


def shortened(x: Tensor) -> Tensor:
    """Give x in the numbers asked for: itself, or its rows under each other, short, and filled up.

    oneDNN makes code for every number of rows that it meets, which takes longer than to run it: so
    it is shown multiples only, with zeros for the rows between.
    """
    if _asked.usual(x):
        return x
    short = x.to(_asked.numbers).reshape(-1, x.size(-1))
    missing = -len(short) % (ROWS if len(short) < MANY else 2 * ROWS)
    return F.pad(short, (0, 0, 0, missing)) if missing else short


def restored(found: Tensor, x: Tensor) -> Tensor:
    """Give what was made of `shortened(x)` the numbers and rows of x again."""
    if _asked.usual(x):
        return found  # in autocast's numbers where that is on
    rows = x.shape[:-1].numel()
    return found[:rows].to(x.dtype).view(*x.shape[:-1], found.size(-1))


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Map x, in the numbers asked for; what was shortened before stays short."""
    short = shortened(x)
    if _asked.blocks and len(short):
        found = _InBlocks.apply(short, weight, bias)  # type: ignore[no-untyped-call]
    else:
        found = F.linear(short, weight.to(short.dtype), bias.to(short.dtype))
    return restored(found, x)


class Linear(nn.Linear):
    """`nn.Linear` in the numbers asked for."""

    def forward(self, x: Tensor) -> Tensor:
        """Map x."""
        return linear(x, self.weight, self.bias)
