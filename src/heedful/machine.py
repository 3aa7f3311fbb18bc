"""The computer underneath: what every long computation here wants of it."""

from __future__ import annotations

import ctypes
import sys

__all__ = ["keep_memory"]

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4


def keep_memory() -> None:
    """Keep freed memory for the next step.

    Left alone, glibc gives the large tensors of every step back to the system and asks for them
    again, page by page; keeping them makes a step's system time a fifth.
    """
    if sys.platform == "linux":
        try:
            libc = ctypes.CDLL("libc.so.6")
            libc.mallopt(M_MMAP_MAX, 0)
            libc.mallopt(M_TRIM_THRESHOLD, 2**31 - 1)
        except (OSError, AttributeError):  # another C library: it has its own ways
            pass
