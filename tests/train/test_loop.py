from __future__ import annotations

import math
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from run_case import Run, same, settings, stopped_and_continued
from toy_task import FIRST, Reverse, Scripted, digits

from heedful.decoding.batch import search
from heedful.errors import ConfigError
from heedful.nn.loss import Loss
from heedful.settings import DecodeSettings
from heedful.tasks.translation.batching import Batch
from heedful.train.checkpoint import read_weights
from heedful.train.events import tensorboard
from heedful.train.learner import Evaluation
from heedful.train.loop import seed_of
from heedful.train.report import Report


def test_it_learns_to_write_digits_backwards(tmp_path: Path) -> None:
    task = Reverse(
        pairs=3000, longest=5, budget=500, d_model=48, d_ff=96, n_heads=4, smoothing=0.0, norm="pre"
    )
    how = settings(
        steps=500, schedule="linear", lr=5e-3, warmup=60, evaluate_every=250, log_every=100
    )
    run = Run(tmp_path, task, how)
    outcome = run.trainer.train()
    assert outcome.step == 500
    model = task.model.eval()
    asked = [[FIRST + int(d) for d in f"{n:0{2 + n % 4}d}"] for n in range(7, 99_999, 487)]
    found = search(model, asked, DecodeSettings(beam=1))
    right = [h[0].ids == number[::-1] for h, number in zip(found, asked, strict=True)]
    assert sum(right) >= 0.98 * len(right)
    assert digits(search(model, [[3, 4, 5]], DecodeSettings())[0][0].ids) == "321"
    losses = [r["loss"] for r in run.log("step")]
    assert losses[-1] < 0.1 < 1.5 < losses[0]


# -- going on after a stop -------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "workers"),
    [
        ({}, 1),
        ({"schedule": "linear", "accumulate": 2}, 2),
        ({"evaluate_every": None, "steps": None, "epochs": 2.5}, 1),
    ],
)
def test_a_run_that_was_stopped_ends_like_one_that_was_not(
    tmp_path: Path, changes: dict[str, object], workers: int
) -> None:
    def make() -> Reverse:
        return Reverse(dropout=0.2, d_model=8)

    how = settings(**changes)
    whole = Run(tmp_path / "whole", make(), how, workers)
    expected = whole.trainer.train()
    assert expected.step == (12 if how.steps else math.ceil(2.5 * whole.task.size(0)))
    parts, outcome = stopped_and_continued(tmp_path / "parts", make, how, [1, 6, 7], workers)
    assert same(parts.weights(), whole.weights())
    for name in ("step", "epochs", "count", "score", "why", "weights"):
        assert getattr(outcome, name) == getattr(expected, name), name
    # The same looks, so the same weights to choose from, and the same choice.
    looks = [(r["step"], r["score"], r["loss"], r["best"]) for r in whole.log("look")]
    assert [(r["step"], r["score"], r["loss"], r["best"]) for r in parts.log("look")] == looks
    kept = sorted(path.name for path in (tmp_path / "whole" / "kept").iterdir())
    assert kept == sorted(path.name for path in (tmp_path / "parts" / "kept").iterdir())
    for name in kept:
        one, other = (read_weights(tmp_path / run / "kept" / name) for run in ("whole", "parts"))
        assert same(one, other)


def test_the_log_is_json_without_repetitions_even_after_a_kill(tmp_path: Path) -> None:
    def make() -> Reverse:
        return Reverse(d_model=8)

    how = settings(steps=14, schedule="linear", average=1)
    stopped_and_continued(tmp_path / "a", make, how, [5], 1)
    # A kill: the state is that of the look at step 4, the log has gone on and its end is cut off.
    killed = Run(tmp_path / "b", make(), how)
    killed.after(7, lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        killed.trainer.train()
    with (tmp_path / "b" / "log.jsonl").open("a", encoding="utf-8") as file:
        file.write('{"kind": "step", "step": 9, "lo')
    going_on = Run(tmp_path / "b", make(), how)
    assert going_on.trainer.train().step == 14
    for folder in ("a", "b"):
        run = Run(tmp_path / folder, make(), how)
        told = [(r["kind"], r["step"]) for r in run.log()]
        assert len(told) == len(set(told))
        assert [step for kind, step in told if kind == "look"] == [4, 8, 12, 14]
        assert [step for kind, step in told if kind == "step"] == [3, 6, 9, 10, 12]
        assert [step for kind, step in told if kind == "schedule"] == [0]
        for record in run.log("step"):
            assert set(record) == {
                *("kind", "step", "lr", "loss", "gradient_norm"),
                *("digits_per_second", "at", "spent", "crc"),
            }
            assert all(math.isfinite(v) for k, v in record.items() if k != "kind")


def test_a_finished_run_is_not_run_again(tmp_path: Path) -> None:
    how = settings()
    first = Run(tmp_path, Scripted([1, 2, 3, 3, 9]), how)
    expected = first.trainer.train()
    again = Run(tmp_path, Scripted([0]), how)
    outcome = again.trainer.train()
    assert again.task.looks == 0
    assert again.kept == []
    assert outcome == expected
    assert outcome.weights == "average of the last 3"
    assert [len(again.log(kind)) for kind in ("look", "finalist")] == [3, 2]


@pytest.mark.parametrize("schedule", ["paper", "linear"])
def test_a_finished_run_goes_on_where_more_is_asked_for(tmp_path: Path, schedule: str) -> None:
    first = Run(tmp_path, Reverse(), settings(schedule=schedule))
    first.trainer.train()
    more = Run(tmp_path, Reverse(), settings(schedule=schedule, steps=20), more=True)
    outcome = more.trainer.train()
    assert (outcome.step, outcome.why) == (20, "finished")
    assert not same(more.weights(), first.weights())
    rates = [more.trainer.budget.schedule.lr(step) for step in range(13, 21)]
    assert rates == sorted(rates, reverse=True)
    assert (rates[-1] == 0) == (schedule == "linear")
    assert {r["step"] for r in more.log("look")} == {4, 8, 12, 16, 20}


def test_a_stopped_run_may_be_given_another_end(tmp_path: Path) -> None:
    how = settings(schedule="linear", steps=20)
    first = Run(tmp_path, Reverse(), how)
    first.after(8, lambda: setattr(first.trainer, "interrupted", True))
    first.trainer.train()
    longer = Run(tmp_path, Reverse(), how.model_copy(update={"steps": 40}))
    assert longer.trainer.train().step == 40
    # Until the stop the old line to step 20, then from there a new one to step 40.
    rates = [longer.trainer.budget.schedule.lr(step) for step in (8, 24, 40)]
    assert rates == pytest.approx([0.01 * 12 / 16, 0.01 * 12 / 16 / 2, 0])


# -- when to stop, and what to keep ----------------------------------------------------------


def test_it_stops_when_nothing_gets_better_for_a_while(tmp_path: Path) -> None:
    # Looks at 4, 8, ...: the third is the last that is better in anything.
    task = Scripted([5, 6, 6, 6, 4], [2.0, 1.5, 1.4, 1.4, 1.6])
    run = Run(tmp_path, task, settings(steps=100, patience=3, average=1))
    outcome = run.trainer.train()
    assert outcome.why == "no better for a while"
    assert outcome.step == 4 * (3 + 3)
    assert outcome.score == 6
    assert outcome.weights == "step 12"  # of equal scores the one with the lower loss
    assert len(run.kept) == 3
    assert [r["best"] for r in run.log("look")] == [True, True, True, False, False, False]


def test_epochs_end_a_run_and_are_counted(tmp_path: Path) -> None:
    run = Run(tmp_path, Reverse(), settings(steps=None, epochs=2, evaluate_every=None))
    size = run.task.size(0)
    outcome = run.trainer.train()
    assert outcome.step == 2 * size
    assert outcome.epochs == pytest.approx(2, abs=0.2)
    assert [r["step"] for r in run.log("look")][:2] == [size, 2 * size]


class Slow(Reverse):
    """A batch takes a third of a second (the first four) and a look one, on its own clock."""

    now = 0.0

    def time(self) -> float:
        return self.now

    monotonic = time

    def loss(self, model: torch.nn.Module, batch: Batch, generator: torch.Generator) -> Loss:
        self.now += 1 / 3 if self.now else 4
        return super().loss(model, batch, generator)

    def evaluate(self, fresh: bool = False) -> Evaluation:
        self.now += 1
        return super().evaluate(fresh)


def on_its_clock(task: Slow, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("loop", "journal", "state"):
        monkeypatch.setattr(f"heedful.train.{name}.time", task)


@pytest.mark.parametrize(("guess", "budget"), [(0.1, 120), (3.0, 120), (0.1, 9999)])
def test_minutes_end_a_run_and_the_learning_rate_with_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, guess: float, budget: int
) -> None:
    task = Slow(d_model=8, budget=budget)
    on_its_clock(task, monkeypatch)
    how = settings(steps=None, minutes=1, schedule="linear", evaluate_every=None, warmup=9)
    run = Run(tmp_path, task, how, evaluation_seconds=guess)
    outcome = run.trainer.train()
    assert outcome.why == "finished"
    assert 57 < task.now < 61
    assert 120 < outcome.step < 180
    assert run.trainer.budget.schedule.lr(outcome.step) < 0.05 * run.trainer.budget.schedule.peak
    looks = {r["step"] for r in run.log("look")}
    assert 3 <= len(looks) <= 6
    late = Run(tmp_path / "late", Slow(d_model=8), how.model_copy(update={"minutes": 1e-6}))
    late.trainer.budget.clock.started = -1.0
    assert late.trainer.train().step == 0  # too late for a step: looked at and saved all the same
    assert len(late.log("look")) == 1


# -- what is told ----------------------------------------------------------------------------


class Heard(Report):
    def __init__(self) -> None:
        self.notes: list[str] = []
        self.told: list[str] = []
        self.looks: list[Mapping[str, Any]] = []

    def progress(self, what: str, done: float, total: float, details: str = "") -> None:
        self.told.append(f"{what} {done:g}/{total:g} {details.split('  ')[0]}")

    def note(self, text: str) -> None:
        self.notes.append(text)

    def evaluated(self, record: Mapping[str, Any]) -> None:
        self.looks.append(record)


def test_a_run_tells_how_far_it_is_and_what_it_sees(tmp_path: Path) -> None:
    heard = Heard()
    run = Run(tmp_path, Reverse(), settings(average=1), report=heard)
    run.trainer.train()
    assert heard.told == [f"training {step}/12 step {step}" for step in (3, 6, 9, 10, 12)]
    assert [look["step"] for look in heard.looks] == [4, 8, 12]
    assert set(heard.looks[0]["samples"][0]) == {"given", "wanted", "got"}
    assert [
        {**look, "crc": r["crc"]} for look, r in zip(heard.looks, run.log("look"), strict=True)
    ] == run.log("look")


def test_tensorboard_is_told_what_the_log_is_told(tmp_path: Path) -> None:
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    how = settings(average=1)
    for stop in (7, None):
        run = Run(tmp_path, Reverse(), how, listen=tensorboard(tmp_path / "tensorboard"))
        if stop:
            run.after(stop, lambda run=run: setattr(run.trainer, "interrupted", True))
        run.trainer.train()
    found = EventAccumulator(str(tmp_path / "tensorboard")).Reload()
    losses = [(e.step, e.value) for e in found.Scalars("training/loss")]
    assert [step for step, _ in losses] == [r["step"] for r in run.log("step")]
    assert [v for _, v in losses] == pytest.approx([r["loss"] for r in run.log("step")])
    assert len(found.Scalars("development/exact")) == 3


def test_tensorboard_that_is_not_there_is_asked_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "torch.utils.tensorboard", None)
    with pytest.raises(ConfigError, match="needs the package tensorboard"):
        tensorboard(tmp_path)


def test_clipping_keeps_the_gradient_small(tmp_path: Path) -> None:
    loose, tight = (
        Run(tmp_path / str(clip), Reverse(), settings(steps=1, clip=clip, average=1))
        for clip in (0, 1e-12)
    )
    for run in (loose, tight):
        run.trainer.train()
    # Adam forgets the scale of a gradient, but not where it is as small as its epsilon.
    start = {n: p.detach() for n, p in Reverse().model.named_parameters()}
    moved = [
        max(float((run.weights()[n] - start[n]).abs().max()) for n in start)
        for run in (loose, tight)
    ]
    assert moved[0] == pytest.approx(0.0025, rel=1e-2)
    assert moved[1] < 1e-4


def test_seeds_are_mixed_well() -> None:
    seeds = {seed_of(a, b, c) for a in range(5) for b in range(50) for c in range(4)}
    assert len(seeds) == 1000
    assert all(0 <= seed < 2**63 for seed in seeds)
    assert seed_of(1, 2) == seed_of(1, 2) != seed_of(2, 1)
