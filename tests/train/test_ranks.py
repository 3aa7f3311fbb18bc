"""Several processes train as one does: the same losses, and each goes on with what others saved."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from killed import SETTINGS
from ranked import LEARNERS, STEPS, task, trained
from run_case import written
from safetensors.torch import load_file
from test_killed import write_text

from heedful.tasks.translation.model import load_model, open_folder
from heedful.train.world import World

HERE = Path(__file__).parent
TORCHRUN = [sys.executable, "-m", "torch.distributed.run"]


def environment() -> dict[str, str]:
    return {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONWARNINGS": "ignore"}


def losses(folder: Path) -> list[float]:
    lines = (folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
    records: list[dict[str, Any]] = [json.loads(line) for line in lines]
    steps = [r for r in records if r["kind"] == "step"]
    assert [r["step"] for r in steps] == list(range(1, len(steps) + 1))
    return [r["loss"] for r in steps]


@pytest.fixture(scope="module")
def ranked(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What two processes and one did, some of it in turn."""
    folder = tmp_path_factory.mktemp("ranked")
    for name in ("alone", "grouped"):
        trained(folder / name, **({"accumulate": 3, "steps": 9} if name == "grouped" else {}))
    for parallel in ("ddp", "fsdp"):
        trained(folder / f"one-{parallel}", 20)
    ran = subprocess.run(
        [*TORCHRUN, "--standalone", "--nproc-per-node", "2", str(HERE / "ranked.py"), str(folder)],
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == 0, ran.stderr[-3000:]
    for parallel in ("ddp", "fsdp"):
        trained(folder / f"two-{parallel}")
    return folder


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
@pytest.mark.parametrize("case", ["{}", "two-{}", "one-{}"])
def test_the_losses_of_two_are_those_of_one(ranked: Path, parallel: str, case: str) -> None:
    expected = losses(ranked / "alone")
    assert len(expected) == STEPS
    assert losses(ranked / case.format(parallel)) == pytest.approx(expected, abs=1e-5)


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_accumulated_batches_are_exchanged_once(ranked: Path, parallel: str) -> None:
    expected = losses(ranked / "grouped")
    assert len(expected) == 9
    assert losses(ranked / f"grouped-{parallel}") == pytest.approx(expected, abs=1e-5)


CASES = [(name, "ddp") for name in LEARNERS]
CASES += [(name, "fsdp") for name in ("buffers", "masked", "momentum", "adagrad")]


@pytest.mark.parametrize(("name", "parallel"), CASES)
def test_two_that_were_stopped_end_like_two_that_were_not(
    ranked: Path, name: str, parallel: str
) -> None:
    there = ranked / f"{name}-{parallel}"
    assert written(there / "parts") == written(there / "whole")
    assert losses(there / "parts") == losses(there / "whole")


@pytest.mark.parametrize(
    ("name", "parallel"), [case for case in CASES if case[0] not in ("buffers", "masked")]
)
def test_an_optimiser_of_the_learners_own_does_for_two_what_it_does_for_one(
    ranked: Path, name: str, parallel: str, tmp_path: Path
) -> None:
    trained(tmp_path, make=LEARNERS[name], steps=16, evaluate_every=8)
    assert losses(ranked / f"{name}-{parallel}" / "whole") == pytest.approx(
        losses(tmp_path), abs=1e-5
    )
    ours, theirs = (
        load_file(max((folder / "state").glob("*.safetensors")))
        for folder in (tmp_path, ranked / f"{name}-{parallel}" / "whole")
    )
    assert {n: (t.shape, t.dtype) for n, t in ours.items()} == {
        n: (t.shape, t.dtype) for n, t in theirs.items()
    }


@pytest.mark.parametrize("parallel", ["ddp", "fsdp"])
def test_a_stand_in_leaves_the_buffers_alone(ranked: Path, parallel: str) -> None:
    """The lead had one in every other epoch, with numbers far from all others."""
    whole = ranked / f"buffers-{parallel}" / "whole"
    state = load_file(max((whole / "state").glob("*.safetensors")))
    assert state["model.inner.1.num_batches_tracked"] == 16 - 1
    assert float(state["model.mean"].abs().max()) < 1


def test_shares_are_of_like_cost_and_none_is_left_out() -> None:
    work = task()
    wholes, parts = list(work.batches(0, 0)), [list(work.batches(0, 0, p, 2)) for p in range(2)]
    assert {len(part) for part in parts} == {len(wholes)}
    assert min(len(whole.rows) for whole in wholes) == 1, "make one that two cannot share"

    for whole, one, other in zip(wholes, *parts, strict=True):
        assert one.tokens + other.tokens == whole.tokens
        assert (one.idle or other.idle) == (len(whole.rows) == 1)
    ours, theirs = (sum(batch.tokens for batch in part) for part in parts)
    assert ours == pytest.approx(theirs, rel=0.1)


def test_alone_there_is_a_world_of_one() -> None:
    assert World.of_environment() == World(0, 1, 0, 1)
    assert World.of_environment().lead


def run(folder: Path, *options: str, steps: int = 24, more: list[str] | None = None) -> Any:
    write_text(folder)
    chosen = [
        f"{table}.{key}={value}"
        for table, values in (SETTINGS | {"train": {**SETTINGS["train"], "steps": steps}}).items()
        for key, value in values.items()
    ]
    return subprocess.Popen(
        [
            *(*TORCHRUN, *options, "-m", "heedful", "train"),
            *(str(folder / "a.en"), str(folder / "a.fr"), "-o", str(folder / "model")),
            *(more or []),
            *(part for setting in chosen for part in ("--set", setting)),
        ],
        env=environment(),
        stderr=subprocess.PIPE,
        text=True,
    )


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [int(child) for child in found]


def test_a_run_whose_rank_was_killed_is_finished(tmp_path: Path) -> None:
    options = ["--standalone", "--nproc-per-node", "2", "--max-restarts", "3"]
    agent = run(tmp_path, *options, steps=150)
    log, deadline = tmp_path / "model" / "run" / "log.jsonl", time.monotonic() + 300
    while not log.exists() or '"step": 12' not in log.read_text(encoding="utf-8"):
        assert agent.poll() is None, agent.stderr.read()
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.kill(max(children(agent.pid)), signal.SIGKILL)
    _, told = agent.communicate(timeout=300)
    assert agent.returncode == 0, told
    assert "going on with the training" in told
    assert told.count("the model is in") == 1  # only the lead speaks
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    steps = [r["step"] for r in records if r["kind"] == "step"]
    assert steps == sorted(set(steps))
    assert steps[-1] == 150
    assert load_model(open_folder(tmp_path / "model")).parameters_total > 0


@pytest.mark.long
def test_two_machines_meet_and_finish(tmp_path: Path) -> None:
    write_text(tmp_path)
    meeting = ["--nnodes", "2", "--nproc-per-node", "1", "--rdzv-backend", "c10d"]
    meeting += ["--rdzv-endpoint", "localhost:29617", "--rdzv-id", "heedful"]
    agents = [run(tmp_path, *meeting, more=["--parallel", "fsdp"]) for _ in range(2)]
    for agent in agents:
        _, told = agent.communicate(timeout=600)
        assert agent.returncode == 0, told
    assert load_model(open_folder(tmp_path / "model")).parameters_total > 0
