"""Renaming weights by a table, read both ways: names of another tool, and ours.

Every tensor has to be in the table and the table has to find every tensor: one that is missing or
left over is an error that names it. The table also says which axes of a tensor run along the
residual stream: those are permuted where the sinusoids are in another order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.errors import InterchangeError


@dataclass(frozen=True)
class Row:
    """One tensor: its name here, its name there, its axes that are d_model wide."""

    ours: str
    theirs: str
    axes: tuple[int, ...]


def permutation(d_model: int) -> Tensor:
    """Give the order that turns sin, cos, sin, cos, ... into all sines, then all cosines."""
    return torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])


def to_theirs(
    weights: Mapping[str, Tensor], rows: Sequence[Row], order: Tensor | None = None
) -> dict[str, Tensor]:
    """Rename our weights; `order` permutes the residual stream."""
    _complete(weights, [row.ours for row in rows], "this model", "Hugging Face")
    return {row.theirs: _permuted(weights[row.ours], row.axes, order) for row in rows}


def from_theirs(
    weights: Mapping[str, Tensor], rows: Sequence[Row], order: Tensor | None = None
) -> dict[str, Tensor]:
    """Rename weights of theirs; `order` is the permutation to undo."""
    _complete(weights, [row.theirs for row in rows], "the file", "config.json")
    back = None if order is None else torch.argsort(order)
    return {row.ours: _permuted(weights[row.theirs], row.axes, back) for row in rows}


def _permuted(tensor: Tensor, axes: tuple[int, ...], order: Tensor | None) -> Tensor:
    if order is not None:
        for axis in axes:
            tensor = tensor.index_select(axis, order)
    return tensor.contiguous()


def _complete(weights: Mapping[str, Tensor], names: list[str], what: str, whose: str) -> None:
    missing = [name for name in names if name not in weights]
    unused = [name for name in weights if name not in names]
    for says, odd in (("lacks", missing), ("has, and nothing uses,", unused)):
        if odd:
            more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
            raise InterchangeError(
                f"{what} {says} {odd[0]}{more}, going by {whose}; nothing was made"
            )
