"""Dropout, and the one sum it always precedes: residual + dropped sublayer output.

On a CPU, drawing a Bernoulli mask costs more than the addition it guards (a fifth of a training
step). `Dropout` takes its masks instead as slices, at random places, of one large mask drawn
once: any two numbers of a mask are independent as before, and a mask costs nothing to store
for the backward pass. On other devices PyTorch's own dropout runs.
"""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.errors import TrainingError

POOL = 1 << 23
"""Numbers in the large mask; tensors of more than half of it draw a mask of their own."""


@functools.lru_cache(maxsize=8)
def pool(p: float, dtype: torch.dtype) -> Tensor:
    """Draw the large mask, once for each rate: zeros, and ones already divided by 1 - p."""
    generator = torch.Generator().manual_seed(20170612)
    kept = torch.rand(POOL, generator=generator) >= p
    return kept.to(dtype).div_(1 - p)


def draw_from(model: nn.Module, generator: torch.Generator) -> None:
    """Have the modules of a model that draw random numbers draw them from `generator`.

    Such a module has an attribute `generator`, as `Dropout` has: torch's own generator is shared
    by all threads, so which of them draws which number would be chance.
    """
    for name, module in model.named_modules():
        if isinstance(module, nn.RNNBase) and module.dropout:
            kind = type(module).__name__
            raise TrainingError(
                f"{name or 'the model'} is nn.{kind}(dropout={module.dropout:g}), whose random "
                f"numbers cannot be repeated; expected dropout=0: put heedful.nn.dropout.Dropout "
                f"between single layers"
            )
        if hasattr(module, "generator"):
            module.generator = generator


class Dropout(nn.Module):
    """Zero each number with probability p while training, and scale up the rest.

    Which slice is taken comes from a random generator, so seeding it makes a step repeatable.
    """

    def __init__(self, p: float) -> None:
        super().__init__()
        self.p = p
        self.generator: torch.Generator | None = None
        """Where the places come from; torch's own generator where none is given."""

    @property
    def active(self) -> bool:
        """Whether anything is dropped now."""
        return self.training and self.p > 0

    def mask(self, like: Tensor) -> Tensor | None:
        """Draw a mask of zeros and 1 / (1 - p) for `like`; None where torch's own is better."""
        size = like.numel()
        if like.device.type != "cpu":
            return None
        if 2 * size > POOL:
            kept = torch.rand(like.shape, generator=self.generator) >= self.p
            return kept.to(like.dtype).div_(1 - self.p)
        start = int(torch.randint(POOL - size, (), generator=self.generator))
        return pool(self.p, like.dtype)[start : start + size].view(like.shape)

    def forward(self, x: Tensor) -> Tensor:
        """Drop."""
        if not self.active:
            return x
        mask = self.mask(x)
        return F.dropout(x, self.p) if mask is None else x * mask

    def add(self, x: Tensor, change: Tensor) -> Tensor:
        """Give x + dropout(change), in one pass over memory where possible."""
        if not self.active:
            return x + change
        change = change.to(x.dtype)  # autocast may have made it half as wide
        mask = self.mask(change)
        return x + F.dropout(change, self.p) if mask is None else torch.addcmul(x, change, mask)

    def extra_repr(self) -> str:
        """Show p where a model is printed."""
        return f"p={self.p}"
