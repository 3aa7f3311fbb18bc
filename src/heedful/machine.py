"""The computer underneath: what every long computation here wants of it."""

from __future__ import annotations

import ctypes
import functools
import sys
import time
from collections.abc import Mapping
from contextlib import suppress

__all__ = [
    "blocks",
    "blocks_faster",
    "give_memory_back",
    "keep_memory",
    "processor_has",
    "torch_has",
]

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4
FASTER = 1.5
"""Times as fast as the usual products others have to be, for to get there and back costs time."""


def keep_memory() -> None:
    """Keep freed memory for the next step.

    Left alone, glibc gives the large tensors of every step back to the system and asks for them
    again, page by page; keeping them makes a step's system time a fifth.
    """
    _ask_glibc("mallopt", M_MMAP_MAX, 0)
    _ask_glibc("mallopt", M_TRIM_THRESHOLD, 2**31 - 1)


def give_memory_back() -> None:
    """Give all that was freed back to the system, now and then: it takes some milliseconds."""
    _ask_glibc("malloc_trim", 0)


def processor_has(*units: str) -> bool:
    """Say whether the processor has one of these units, named as torch names them.

    A torch too old to say so counts as a processor that has none.
    """
    import torch

    found: Mapping[str, object] = getattr(torch.cpu, "get_capabilities", dict)()
    return any(found.get(unit) for unit in units)


def torch_has(library: str, operation: str) -> bool:
    """Say whether this torch has an operation of oneDNN's; a torch built without it may not ask."""
    import torch

    there = torch.backends.mkldnn.is_available()  # type: ignore[no-untyped-call]
    return bool(there and hasattr(getattr(torch.ops, library), operation))


@functools.lru_cache(maxsize=1)
def blocks() -> bool:
    """Say whether this torch on this machine has fast products of weights in oneDNN's blocks."""
    return torch_has("mkldnn", "_linear_pointwise") and processor_has("avx512_f")


@functools.lru_cache(maxsize=1)
def blocks_faster(trials: int = 8) -> bool:
    """Say whether oneDNN's float32 products are much faster than torch's usual ones.

    Tried and not looked up: torch's usual library gives some processors the code of older ones.
    The best of trials in turns, for whatever else the machine does only makes one slower; with one
    thread, so that it comes out alike whoever asks first.
    """
    import torch

    if not blocks():
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
            torch.ops.mkldnn._linear_pointwise(a, a, None, "none", [], "")
            ended = time.perf_counter()
            usual, other = min(usual, between - begun), min(other, ended - between)
    finally:
        torch.set_num_threads(threads)
    return usual >= FASTER * other


def _ask_glibc(function: str, *numbers: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library has its own ways
            getattr(ctypes.CDLL("libc.so.6"), function)(*numbers)
