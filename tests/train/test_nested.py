"""A preparation may itself be a training: in a folder of its own, stopped and continued alike."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import pytest
from points_task import Points, Remembering
from run_case import Run, same, settings, written
from test_optimizers import line
from toy_task import Reverse

from heedful.train.interrupt import interruptible
from heedful.train.state import Outcome

CODES = Path("run") / "data" / "codes"


def command(folder: Path, signals: dict[str, tuple[int, int]] | None = None) -> list[Run]:
    """Learn codes, then train on; a signal comes after a step, and what is finished is not redone.

    `signals` says by the name of the training which signal comes, and after which step.
    """
    runs: list[Run] = []
    made: list[tuple[str, Path, Any]] = [
        ("codes", folder / CODES, lambda: Points(Remembering())),
        ("main", folder / "run", lambda: Reverse(dropout=0.2, d_model=8)),
    ]
    for name, place, make in made:
        run = Run(place, make(), settings(average=2), 2 if name == "main" else 1)
        if signals and name in signals:
            number, step = signals[name]
            run.after(step, lambda number=number: os.kill(os.getpid(), number))
        with interruptible(run.trainer):
            outcome: Outcome = run.trainer.train()
        runs.append(run)
        if outcome.why == "interrupted":
            break
    return runs


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_preparation_that_trains_is_interrupted_and_goes_on(tmp_path: Path, number: int) -> None:
    before = [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)]
    whole = command(tmp_path / "whole")
    parts = tmp_path / "parts"
    (stopped,) = command(parts, {"codes": (number, 5)})
    assert stopped.trainer.state.step == 5
    assert not list(parts.glob("run/state/*")), "the main training has not begun"
    _, stopped = command(parts, {"main": (number, 7)})
    assert (stopped.trainer.state.step, stopped.trainer.state.why) == (7, "interrupted")
    ended = command(parts)
    for one, other, place in zip(ended, whole, (CODES, Path("run")), strict=True):
        assert same(one.weights(), other.weights())
        assert written(parts / place) == written(tmp_path / "whole" / place)
    assert [signal.getsignal(one) for one in (signal.SIGINT, signal.SIGTERM)] == before


def test_a_training_beside_it_changes_nothing_of_the_main_one(tmp_path: Path) -> None:
    both = command(tmp_path / "both")[-1]
    alone = Run(tmp_path / "run", Reverse(dropout=0.2, d_model=8), settings(average=2), 2)
    alone.trainer.train()
    assert same(both.weights(), alone.weights())
    assert written(tmp_path / "both" / "run") == written(tmp_path / "run")


def test_one_training_may_run_inside_another(tmp_path: Path) -> None:
    """The inner one is begun in the middle of a step of the outer one, and interrupted there."""
    expected = Run(tmp_path / "expected", Points(line()), settings())
    expected.trainer.train()
    outer = Run(tmp_path / "outer", Points(line()), settings())
    inner = Run(tmp_path / "outer" / "inner", Points(Remembering()), settings())
    inner.after(3, lambda: os.kill(os.getpid(), signal.SIGTERM))

    def begin() -> None:
        with interruptible(inner.trainer):
            assert inner.trainer.train().why == "interrupted"

    outer.after(6, begin)
    with interruptible(outer.trainer):
        assert outer.trainer.train().why == "finished"
    assert same(outer.weights(), expected.weights())
    assert written(tmp_path / "outer") == written(tmp_path / "expected")
