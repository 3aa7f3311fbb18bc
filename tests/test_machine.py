"""Memory kept for the next step, memory given back, and the cores there are."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from heedful import machine

CODE = """
import re
from pathlib import Path
from heedful.machine import give_memory_back, keep_memory

def resident():
    return int(re.search(r"VmRSS:\\s+(\\d+)", Path("/proc/self/status").read_text())[1])

keep_memory()
before = resident()
held = [bytes(50_000) for _ in range(2_000)]  # 100 MB
last = bytes(50_000)  # behind them all, so that they do not lie at the end
del held
kept = resident() - before
give_memory_back()
print(kept, resident() - before)
"""


@pytest.mark.parametrize(
    ("files", "cores"),
    [
        ({}, sys.maxsize),
        ({"cpu.max": "max 100000\n"}, sys.maxsize),
        ({"cpu.max": "150000 100000\n"}, 2),
        ({"cpu.max": "5000 100000\n"}, 1),
        ({"cpu/cpu.cfs_quota_us": "400000\n", "cpu/cpu.cfs_period_us": "100000\n"}, 4),
        ({"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}, sys.maxsize),
        ({"cpu.max": "nonsense"}, sys.maxsize),
    ],
)
def test_a_container_s_share_of_time_is_so_many_cores(
    tmp_path: Path, files: dict[str, str], cores: int
) -> None:
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text, encoding="ascii")
    assert machine._container_limit(tmp_path) == cores


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="only Linux binds to cores")
def test_cores_that_may_not_be_used_are_not_counted() -> None:
    code = (
        "import os; from heedful.machine import cores; os.sched_setaffinity(0, {0}); print(cores())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "1\n"


def test_nobody_else_counts_cores() -> None:
    package = Path(machine.__file__).parent
    users = [p.name for p in package.rglob("*.py") if "cpu_count" in p.read_text(encoding="utf-8")]
    assert users == ["machine.py"]


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have their own ways")
def test_what_was_freed_is_kept_until_it_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    kept, left = map(int, done.stdout.split())
    assert kept > 90_000
    assert left < 10_000
