"""The computer underneath: what every long computation here wants of it."""

from __future__ import annotations

import ctypes
import functools
import math
import os
import sys
from contextlib import suppress
from pathlib import Path

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


@functools.lru_cache(maxsize=1)
def cores() -> int:
    """Count the cores this process may use: in a container, or under taskset, not all of them."""
    try:
        count = len(os.sched_getaffinity(0))
    except AttributeError:  # not on Linux
        count = os.cpu_count() or 1
    return max(1, min(count, _container_limit()))


def _container_limit(root: Path = Path("/sys/fs/cgroup")) -> int:
    """Give the whole cores a container's share of time comes to; without a limit, very many."""
    try:
        quota, period = (root / "cpu.max").read_text(encoding="ascii").split()
    except (OSError, ValueError):
        try:
            quota, period = (
                (root / "cpu" / f"cpu.cfs_{name}_us").read_text(encoding="ascii").strip()
                for name in ("quota", "period")
            )
        except (OSError, ValueError):
            return sys.maxsize
    if not quota.isdigit() or not period.isdigit() or int(period) == 0:  # "max", or -1
        return sys.maxsize
    return math.ceil(int(quota) / int(period))


def workers_for(batch_tokens: int, device: str, threads: int = 0) -> int:
    """Say how many workers share a batch: one a core, as long as each has enough to do.

    The cores that are left over split the operations of each worker among them.
    """
    import torch

    if device != "cpu":
        return 1
    count = threads or cores()
    workers = max(1, min(count, batch_tokens // 512))
    torch.set_num_threads(max(1, count // workers))
    return workers


def decoding_workers(threads: int = 0) -> int:
    """Give decoding a worker a core, each with one thread: faster than one with all of them."""
    import torch

    torch.set_num_threads(1)
    return threads or cores()


def _ask_glibc(function: str, *numbers: int) -> None:
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library has its own ways
            getattr(ctypes.CDLL("libc.so.6"), function)(*numbers)
