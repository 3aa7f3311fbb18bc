"""oneDNN's linear maps: the only place that calls what torch does not document.

Two things are faster there on a CPU. MKL, torch's usual library, runs its AVX2 code on AMD's
processors, where oneDNN uses AVX-512; and a weight that does not change can be packed once into the
blocks that the kernel reads, which `torch.mm` does again at every call.

Where an operation is missing, or takes other arguments than it did, `available` is False and the
callers in `linear.py` and `packed.py` take `F.linear` instead.
"""

from __future__ import annotations

import functools
import time

import torch
from torch import Tensor

FASTER = 1.5
"""Train with oneDNN only where it is this much faster: converting costs time."""


def linear(x: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """Compute x @ weight.T + bias in float32; the weight may come from `pack`. No gradient."""
    found: Tensor = torch.ops.mkldnn._linear_pointwise(x, weight, bias, "none", [], "")
    return found


def pack(weight: Tensor) -> Tensor:
    """Give a weight in the layout of the kernel's blocks, for `linear` alone to read."""
    packed: Tensor = torch.ops.mkldnn._reorder_linear_weight(weight, None)
    return packed


@functools.lru_cache(maxsize=1)
def available() -> bool:
    """Say whether this torch has the operations, by trying them."""
    x, weight, bias = torch.ones(2, 3), torch.ones(5, 3), torch.ones(5)
    try:
        found = [linear(x, w, bias) for w in (weight, pack(weight))]
    except (AttributeError, RuntimeError, TypeError):
        return False
    return all(bool((one == 4).all()) for one in found)


@functools.lru_cache(maxsize=1)
def faster(trials: int = 8) -> bool:
    """Say whether oneDNN's float32 products are much faster than torch's usual ones here.

    Measured, because MKL runs its AVX2 code on AMD's processors. The best of several interleaved
    trials, since other work on the machine only slows one down; with one thread, so that the
    answer does not depend on who asks first.
    """
    if not available():
        return False
    a = torch.ones(512, 512)
    usual = other = float("inf")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        for _ in range(trials):
            begun = time.perf_counter()
            torch.mm(a, a)
            between = time.perf_counter()
            linear(a, a)
            ended = time.perf_counter()
            usual, other = min(usual, between - begun), min(other, ended - between)
    finally:
        torch.set_num_threads(threads)
    return usual >= FASTER * other
