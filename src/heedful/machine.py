"""The computer underneath: what every long computation here wants of it."""

from __future__ import annotations

import ctypes
import sys

__all__ = ["give_memory_back", "keep_memory"]

M_TRIM_THRESHOLD, M_MMAP_THRESHOLD, M_MMAP_MAX, M_ARENA_MAX = -1, -3, -4, -8
LARGE = 256 << 10
ARENAS = 2


def keep_memory() -> None:
    """Keep freed memory for the next step.

    Left alone, glibc gives the large tensors of every step back to the system and asks for them
    again, page by page; keeping them makes a step's system time a fifth.
    """
    _tell_allocator({M_MMAP_MAX: 0, M_TRIM_THRESHOLD: 2**31 - 1})


def give_memory_back() -> None:
    """Give every large piece of memory back as soon as it is free.

    Left alone, glibc learns from each large piece to keep the next one, in as many heaps as there
    are threads: a process that answers requests of all sizes for weeks would only ever grow.
    """
    _tell_allocator({M_MMAP_THRESHOLD: LARGE, M_TRIM_THRESHOLD: LARGE, M_ARENA_MAX: ARENAS})


def _tell_allocator(options: dict[int, int]) -> None:
    if sys.platform == "linux":
        try:
            libc = ctypes.CDLL("libc.so.6")
            for option, value in options.items():
                libc.mallopt(option, value)
        except (OSError, AttributeError):  # another C library: it has its own ways
            pass
