"""Linear maps: in float32, or with products in the form that a CPU is fastest at.

That can be bfloat16, where the processor has units for it, or oneDNN's float32 products, which are
twice as fast as torch's usual ones on some processors. `products_in` chooses for training; in
inference mode each weight is packed once (`packed.py`).

`torch.autocast` loses most of that gain on a CPU: it also converts attention, which is many tiny
products there, and meets a new number of rows at every step (see `shortened`). Here only the large
products are converted, in bfloat16 those of the loss among them. Weights, sums, norms, attention
and the softmax stay in float32; a GPU uses autocast.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn import onednn
from heedful.nn.packed import Packed

ROWS = 32
"""Rows of a product by oneDNN are padded to a multiple of this; of twice this above `MANY`."""
MANY = 1024


class Asked(threading.local):
    """How this thread computes products: in which dtype, and whether oneDNN does the float32 ones.

    Only `products_in` changes it.
    """

    numbers = torch.float32
    onednn = False

    def usual(self, x: Tensor) -> bool:
        """Whether x is multiplied in the dtype it has."""
        return not self.onednn and self.numbers in (torch.float32, x.dtype)


asked = Asked()


@contextmanager
def products_in(numbers: torch.dtype, with_onednn: bool = False) -> Iterator[None]:
    """Compute products in this dtype inside a `with`; the choice holds for this thread only.

    `with_onednn` has oneDNN compute those in float32; `onednn.available()` has to be true.
    """
    before = asked.numbers, asked.onednn
    asked.numbers, asked.onednn = numbers, with_onednn
    try:
        yield
    finally:
        asked.numbers, asked.onednn = before


def product(a: Tensor, b: Tensor) -> Tensor:
    """Multiply two matrices that have the dtype asked for; no gradient is kept."""
    return onednn.linear(a, b.t()) if asked.onednn else a @ b


class _ByOneDNN(torch.autograd.Function):
    """A linear map and its gradients by oneDNN; saves its input and its weight, nothing else.

    `aten::mkldnn_linear` would do the same without Python, but copies its input and its output, and
    saves all four.
    """

    @staticmethod
    def forward(ctx: Any, x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        ctx.save_for_backward(x, weight)
        return onednn.linear(x, weight, bias)

    @staticmethod
    def backward(ctx: Any, *gradients: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        (up,) = gradients
        x, weight = ctx.saved_tensors
        return onednn.linear(up, weight.t()), onednn.linear(up.t(), x.t()), up.sum(0)


def shortened(x: Tensor) -> Tensor:
    """Give x in the dtype asked for: itself, or flattened to rows, converted and padded.

    oneDNN compiles code for every number of rows it meets, which takes longer than running it: so
    the rows are padded with zeros to a multiple.
    """
    if asked.usual(x):
        return x
    short = x.to(asked.numbers).reshape(-1, x.size(-1))
    missing = -len(short) % (ROWS if len(short) < MANY else 2 * ROWS)
    return F.pad(short, (0, 0, 0, missing)) if missing else short


def restored(found: Tensor, x: Tensor) -> Tensor:
    """Give what was made of `shortened(x)` the dtype and rows of x again."""
    if asked.usual(x):
        return found  # in autocast's dtype where that is on
    rows = x.shape[:-1].numel()
    return found[:rows].to(x.dtype).view(*x.shape[:-1], found.size(-1))


def linear(x: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Map x in the dtype asked for; what `shortened` gave stays in it."""
    short = shortened(x)
    if asked.onednn and len(short):
        found = _ByOneDNN.apply(short, weight, bias)  # type: ignore[no-untyped-call]
    else:
        found = F.linear(short, weight.to(short.dtype), bias.to(short.dtype))
    return restored(found, x)


def side_by_side(x: Tensor, maps: Sequence[nn.Linear], packed: Packed) -> Tensor:
    """Apply several maps to the same input as one product, and give their results joined.

    One large product is faster than several small ones, forward and backward, by more than laying
    the matrices side by side costs; in inference that is done once.
    """
    parameters = [p for one in maps for p in (one.weight, one.bias)]

    def joined() -> tuple[Tensor, Tensor]:
        if len(maps) == 1:
            return maps[0].weight, maps[0].bias
        return torch.cat([one.weight for one in maps]), torch.cat([one.bias for one in maps])

    return packed.linear(x, parameters, joined) if packed.applies(x) else linear(x, *joined())


class Linear(nn.Linear):
    """`nn.Linear` in the dtype asked for, its weight packed in inference mode."""

    def __init__(self, *sizes: Any, **options: Any) -> None:
        super().__init__(*sizes, **options)
        self._packed = Packed()

    def forward(self, x: Tensor) -> Tensor:
        """Map x."""
        return side_by_side(x, [self], self._packed)
