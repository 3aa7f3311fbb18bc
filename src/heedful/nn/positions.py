"""Where a token stands: the sinusoids of the paper, Marian's order of them, or a learned table."""

from __future__ import annotations

import functools

import torch
from torch import Tensor, nn

from heedful.errors import ConfigError
from heedful.nn.shapes import TD


@functools.lru_cache(maxsize=32)
def sinusoid(length: int, d_model: int, concatenated: bool = False) -> TD:
    """Give the first `length` rows of the encoding: sin and cos of ever longer waves.

    The paper puts them in turn (sin, cos, sin, cos, ...); Marian puts all sines, then all
    cosines. The exponents are the same, so one is a permutation of the other. Computed in
    double precision: at position 1000 a float32 angle has lost its last three digits.
    """
    position = torch.arange(length, dtype=torch.float64)[:, None]
    rate = 10_000.0 ** (-torch.arange(0, d_model, 2, dtype=torch.float64) / d_model)
    angle = position * rate  # T D/2
    if concatenated:
        table = torch.cat([angle.sin(), angle.cos()], dim=-1)
    else:
        table = torch.stack([angle.sin(), angle.cos()], dim=-1).flatten(-2)
    return table.float()


class Sinusoid(nn.Module):
    """Positions without parameters and without a longest sentence."""

    def __init__(self, d_model: int, concatenated: bool = False) -> None:
        super().__init__()
        self.d_model, self.concatenated = d_model, concatenated

    def forward(self, start: int, length: int, like: Tensor) -> TD:
        """Give rows start .. start + length, in the type and on the device of `like`."""
        end = 64  # doubling keeps the number of tables in the cache small
        while end < start + length:
            end *= 2
        table = sinusoid(end, self.d_model, self.concatenated)
        return table[start : start + length].to(like)


class Learned(nn.Module):
    """A table of positions learned like words: it ends where training ended."""

    def __init__(self, d_model: int, max_positions: int) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.empty(max_positions, d_model))

    def forward(self, start: int, length: int, like: Tensor) -> TD:
        """Give rows start .. start + length."""
        if start + length > self.weight.size(0):
            raise ConfigError(
                f"position {start + length} is past the learned table of "
                f"{self.weight.size(0)} positions; use sinusoidal positions for longer text"
            )
        return self.weight[start : start + length].to(like)


Positions = Sinusoid | Learned
