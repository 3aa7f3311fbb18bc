"""Memory kept for the next step, and memory given back."""

import subprocess
import sys

import pytest
import torch

from heedful import machine
from heedful.machine import blocks_faster

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


def test_products_in_blocks_are_tried_where_they_are_there(monkeypatch: pytest.MonkeyPatch) -> None:
    threads, put = torch.get_num_threads(), monkeypatch.setattr
    if torch.backends.mkldnn.is_available():
        put(machine, "blocks", lambda: True)
        for least, faster in ((0.0, True), (1e9, False)):
            put(machine, "FASTER", least)
            assert blocks_faster.__wrapped__(trials=1) == faster
    put(machine, "blocks", lambda: False)
    assert not blocks_faster.__wrapped__()
    assert torch.get_num_threads() == threads


@pytest.mark.skipif(sys.platform != "linux", reason="other systems have their own ways")
def test_what_was_freed_is_kept_until_it_is_given_back() -> None:
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, text=True, check=True)
    kept, left = map(int, done.stdout.split())
    assert kept > 90_000
    assert left < 10_000
