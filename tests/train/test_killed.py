"""A training killed at any moment ends, when it is repeated, as if nothing had happened."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from heedful.data import grammar

HERE = Path(__file__).parent


def write_text(folder: Path, count: int = 150) -> None:
    pairs = {s.en: s.fr for s, _ in zip(grammar.generate(1), range(2 * count), strict=False)}
    some = list(pairs.items())[:count]
    (folder / "a.en").write_text("".join(f"{s}\n" for s, _ in some), encoding="utf-8")
    (folder / "a.fr").write_text("".join(f"{t}\n" for _, t in some), encoding="utf-8")


def log_of(model: Path) -> list[dict[str, Any]]:
    """The log without what a clock says."""
    lines = (model / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    records: list[dict[str, Any]] = [json.loads(line) for line in lines]
    times = ("at", "spent", "tokens_per_second", "crc")
    return [{k: v for k, v in r.items() if k not in times} for r in records]


def newest(model: Path) -> bytes:
    return max((model / "run" / "state").glob("*.safetensors")).read_bytes()


def killed(folder: Path, kills: int, seed: int) -> None:
    write_text(folder)
    ran = subprocess.run(
        [sys.executable, str(HERE / "killed.py"), str(folder), str(kills), str(seed)],
        capture_output=True,
        text=True,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
        check=False,
    )
    assert ran.returncode == 0, ran.stderr
    assert int(ran.stdout.split()[1]) == kills
    whole, parts = folder / "whole", folder / "parts"
    weights = [(model / "model.safetensors").read_bytes() for model in (whole, parts)]
    assert weights[0] == weights[1]
    assert newest(whole) == newest(parts)
    assert log_of(whole) == log_of(parts)
    assert {r["kind"] for r in log_of(whole)} >= {"step", "look", "schedule"}
    names = [sorted(str(p.relative_to(m)) for p in m.rglob("*")) for m in (whole, parts)]
    # States are numbered, and a run that was killed has saved more of them.
    assert [n for n in names[0] if "state/" not in n] == [n for n in names[1] if "state/" not in n]
    kept = sorted(path.name for path in (whole / "run" / "kept").iterdir())
    for name in kept:
        assert (whole / "run" / "kept" / name).read_bytes() == (
            parts / "run" / "kept" / name
        ).read_bytes()


def test_killed_a_dozen_times_it_ends_like_one_that_was_not(tmp_path: Path) -> None:
    killed(tmp_path, 12, 1)


@pytest.mark.long
@pytest.mark.parametrize("seed", [2, 3])
def test_killed_twenty_five_times(tmp_path: Path, seed: int) -> None:
    killed(tmp_path, 25, seed)
