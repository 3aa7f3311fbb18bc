"""Weights packed for inference: a search multiplies by the same weights thousands of times.

A matrix product first copies its weight into the blocks that the processor's kernel reads. With few
rows, as in decoding, that copy takes a third of the time. Inside `torch.inference_mode()` on a
CPU each weight is therefore packed once and kept until it changes or is trained. Everywhere else,
and where torch lacks the operations (see `onednn.py`), the plain product is taken; a test proves
both equal.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn import onednn

EXACT_ROWS = 8
"""Up to this many rows are multiplied as they are; more are padded to one of few numbers."""


def padded_rows(rows: int) -> int:
    """Round a number of rows up: eight steps from one power of two to the next.

    oneDNN compiles code for every number of rows it meets, half a millisecond and half a megabyte
    each time, and the batches of a search shrink row by row.
    """
    step = EXACT_ROWS
    while rows >= 16 * step:
        step *= 2
    return rows if rows <= EXACT_ROWS else -(-rows // step) * step


class Packed(nn.Module):
    """The packed weight and bias of one product; a module, so that `train()` reaches it."""

    def __init__(self) -> None:
        super().__init__()
        self._kept: tuple[tuple[tuple[int, int], ...], Tensor, Tensor | None] | None = None

    def applies(self, x: Tensor) -> bool:
        """Say whether x can be multiplied with a packed weight."""
        return (
            not torch.compiler.is_compiling()  # asked first: what follows would break the graph
            and torch.is_inference_mode_enabled()
            and x.dtype == torch.float32
            and x.device.type == "cpu"
            and x.numel() > 0
            and onednn.available()
        )

    def linear(
        self,
        x: Tensor,
        parameters: Sequence[Tensor | None],
        layout: Callable[[], tuple[Tensor, Tensor | None]],
    ) -> Tensor:
        """Map the rows of x by the weight and bias that `layout` makes of the parameters."""
        # Loading a model raises the version of its tensors, or puts others in their place.
        now = tuple((p.data_ptr(), _version(p)) for p in parameters if p is not None)
        kept = self._kept
        if kept is None or kept[0] != now:
            weight, bias = layout()
            kept = self._kept = now, onednn.pack(weight.detach().contiguous()), bias
        rows = x.reshape(-1, x.size(-1))
        count = len(rows)
        missing = padded_rows(count) - count
        if missing:
            rows = F.pad(rows, (0, 0, 0, missing))
        found = onednn.linear(rows, kept[1], kept[2])[:count]
        return found.view(*x.shape[:-1], found.size(-1))

    def train(self, mode: bool = True) -> Packed:
        """Drop what was packed when training begins: a fused optimiser raises no version."""
        if mode:
            self._kept = None
        return super().train(mode)

    def __deepcopy__(self, memo: dict[int, Any]) -> Packed:
        """Begin empty: a copied model has weights of its own."""
        return Packed()


def _version(tensor: Tensor) -> int:
    return 0 if tensor.is_inference() else tensor._version
