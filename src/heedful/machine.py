"""The computer underneath: what every long computation here wants of it."""

from __future__ import annotations

import ctypes
import sys
from collections.abc import Mapping
from contextlib import suppress

__all__ = ["give_memory_back", "keep_memory", "processor_has"]

M_TRIM_THRESHOLD, M_MMAP_MAX = -1, -4


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


def _ask_glibc(function: str, *numbers: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library has its own ways
            getattr(ctypes.CDLL("libc.so.6"), function)(*numbers)
