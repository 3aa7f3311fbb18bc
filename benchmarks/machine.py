"""What was measured on: a figure without its hardware and date says nothing."""

from __future__ import annotations

import datetime
import os
import platform
from pathlib import Path


def describe() -> str:
    """Name the processor, the cores, the versions, the matrix-product rate and the date."""
    import torch

    from heedful import __version__
    from heedful.train.plan import machine_rate

    name = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        lines = info.read_text(encoding="utf-8", errors="replace").splitlines()
        name = next((x.split(":", 1)[1].strip() for x in lines if x.startswith("model name")), name)
    return (
        f"{name}, {os.cpu_count()} cores, {machine_rate(50) / 1e9:.0f} GFLOP/s in a float32 matrix "
        f"product; heedful {__version__}, torch {torch.__version__}, Python "
        f"{platform.python_version()}; {datetime.date.today().isoformat()}"
    )
