"""What was measured on: a figure without its hardware, versions and date says nothing."""

from __future__ import annotations

import datetime
import importlib.metadata
import os
import platform
import time
from collections.abc import Sequence
from pathlib import Path

CUBE = 2048


def rate() -> float:
    """Measure FLOP/s of one product of two square float32 matrices, on all cores.

    It is taken once in every round of a contest, so that a machine that is slow for a while is
    slow on both sides of a share.
    """
    import torch

    threads = torch.get_num_threads()
    torch.set_num_threads(os.cpu_count() or 1)
    a, out = torch.ones(CUBE, CUBE), torch.empty(CUBE, CUBE)
    torch.mm(a, a, out=out)  # the first one finds its memory and wakes the threads
    begun = time.perf_counter()
    torch.mm(a, a, out=out)
    seconds = time.perf_counter() - begun
    torch.set_num_threads(threads)
    return 2 * CUBE**3 / seconds


def describe(rates: Sequence[float] = ()) -> str:
    """Name the processor, the cores, the versions, the date and the rates found on the way."""
    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8", errors="replace").splitlines()
        name = next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), name)
    parts = [f"{name}, {os.cpu_count()} cores"]
    if rates:
        from benchmarks.contest import spread

        found = spread([r / 1e9 for r in rates], 0)
        parts.append(f"{found} GFLOP/s in a {CUBE}-cube float32 matrix product")
    packages = ("heedful", "torch", "transformers", "ctranslate2")
    parts.append(", ".join(f"{p} {v}" for p in packages if (v := _version(p))))
    parts.append(f"Python {platform.python_version()}")
    return "; ".join([*parts, datetime.date.today().isoformat()]) + "."


def _version(package: str) -> str | None:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return None
