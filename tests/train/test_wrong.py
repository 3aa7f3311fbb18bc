"""What a run does when something goes wrong, or is asked for otherwise in the middle."""

from __future__ import annotations

import math
from pathlib import Path

import pytest
import torch
from test_loop import Heard, Run, Slow, on_its_clock, settings
from toy_task import Reverse

from heedful.errors import TrainingError
from heedful.nn.loss import Loss
from heedful.tasks.translation.batching import Batch


class Spoilt(Reverse):
    """The loss of some batches, counted as they are asked for, is what the test wants."""

    value = math.nan
    bad: range = range(5, 6)
    asked = 0

    def loss(self, model: torch.nn.Module, batch: Batch, generator: torch.Generator) -> Loss:
        found = super().loss(model, batch, generator)
        self.asked += 1
        return found._replace(loss=found.loss * self.value) if self.asked in self.bad else found


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_loss_that_is_no_number_takes_the_run_back(tmp_path: Path, value: float) -> None:
    task, heard = Spoilt(d_model=8), Heard()
    task.value = value
    run = Run(tmp_path, task, settings(evaluate_every=3, average=1), report=heard)
    outcome = run.trainer.train()
    assert (outcome.step, outcome.why) == (12, "finished")
    (back,) = run.log("rollback")
    assert (back["from"], back["step"], back["lr_scale"]) == (5, 3, 0.5)
    batch = next(iter(task.batches(0, 4)))
    assert back["lines"] == task.where(batch)
    assert all(torch.isfinite(p).all() for p in task.model.parameters())
    (note,) = heard.notes
    assert note.startswith(
        f"loss {value} at step 5: back to step 3 with half the learning rate (8.9e-03 was too "
        f"much, or the batch is bad: {back['lines'][0]}, "
    )
    steps = [(r["kind"], r["step"]) for r in run.log()]
    assert len(steps) == len(set(steps))
    rates = [r["lr"] for r in run.log("step")]
    assert rates[1] == pytest.approx(0.5 * run.trainer.budget.schedule.lr(6))


def test_after_going_back_three_times_it_stops_and_says_what_to_try(tmp_path: Path) -> None:
    task = Spoilt(d_model=8)
    task.bad = range(5, 99)
    run = Run(tmp_path, task, settings(evaluate_every=3, average=1))
    with pytest.raises(TrainingError) as error:
        run.trainer.train()
    lines = task.where(next(iter(task.batches(0, 3))))
    assert str(error.value) == (
        f"loss nan at step 4 again, after going back 3 times; the batch has "
        f"{', '.join(lines[:5])} and {len(lines) - 5} more; look at these lines, and try a lower "
        f"train.lr or a longer train.warmup in a new folder"
    )
    assert error.value.exit_code == 1
    again = Run(tmp_path, Reverse(d_model=8), settings(evaluate_every=3, average=1))
    assert again.trainer.train().step == 12
    assert len(again.log("rollback")) == 3


def test_a_loss_far_above_the_usual_is_told(tmp_path: Path) -> None:
    task, heard = Spoilt(d_model=8), Heard()
    task.value, task.bad = 40.0, range(120, 123)
    run = Run(tmp_path, task, settings(steps=130, evaluate_every=65), report=heard)
    run.trainer.train()
    (spike,) = run.log("spike")
    assert spike["step"] == 120
    assert spike["loss"] > 10 * spike["usual"]
    assert spike["lines"][0].startswith("numbers:")
    (told,) = [note for note in heard.notes if "is usual" in note]
    assert told.startswith("step 120: loss ")


def test_another_learning_rate_is_taken_up_and_written_down(tmp_path: Path) -> None:
    how = settings(schedule="linear", steps=20)
    first = Run(tmp_path, Reverse(), how)
    first.after(8, lambda: setattr(first.trainer, "interrupted", True))
    first.trainer.train()
    lower = Run(tmp_path, Reverse(), how.model_copy(update={"lr": 0.005}), notes=["lr: lower"])
    lower.trainer.train()
    assert [(r["step"], r["text"]) for r in lower.log("note")] == [(8, "lr: lower")]
    rates = {r["step"]: r["lr"] for r in lower.log("step")}
    assert rates[6] == pytest.approx(0.01 * 14 / 16)
    assert rates[12] == pytest.approx(0.005 * 8 / 16)


def test_a_timed_run_that_was_killed_repeats_its_schedule(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = Slow(d_model=8)
    on_its_clock(task, monkeypatch)
    how = settings(steps=None, minutes=1, schedule="linear", evaluate_every=None, warmup=9)
    first = Run(tmp_path, task, how, evaluation_seconds=0.1)
    first.after(33, lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        first.trainer.train()
    changed = [(r["step"], r["from"], r["lr"], r["end"]) for r in first.log("schedule")]
    assert changed
    again = Slow(d_model=8)
    again.now = task.now
    on_its_clock(again, monkeypatch)
    second = Run(tmp_path, again, how, evaluation_seconds=0.1)
    outcome = second.trainer.train()
    told = [(r["step"], r["from"], r["lr"], r["end"]) for r in second.log("schedule")]
    assert told[: len(changed)] == changed
    assert outcome.why == "finished"
    assert 57 < second.trainer.budget.clock.spent() < 61
    assert (
        second.trainer.budget.schedule.lr(outcome.step) < 0.05 * second.trainer.budget.schedule.peak
    )


def test_a_lower_rate_stays_lower_however_often_the_run_is_stopped(tmp_path: Path) -> None:
    how = settings(schedule="linear", steps=20)
    lower = how.model_copy(update={"lr": 0.005})
    for stop, now in ((8, how), (10, lower), (12, lower), (None, lower)):
        run = Run(tmp_path, Reverse(), now)
        if stop:
            run.after(stop, lambda run=run: setattr(run.trainer, "interrupted", True))
        run.trainer.train()
    rates = {r["step"]: r["lr"] for r in run.log("step")}
    assert rates[15] == pytest.approx(0.005 * 5 / 16)


def test_moments_kept_without_weights_are_no_part_of_an_average(tmp_path: Path) -> None:
    first = Run(tmp_path, Reverse(), settings(average=1))
    first.after(6, lambda: setattr(first.trainer, "interrupted", True))
    first.trainer.train()
    assert Run(tmp_path, Reverse(), settings(average=3)).trainer.train().step == 12


def test_a_first_state_that_was_not_finished_is_begun_again(tmp_path: Path) -> None:
    whole = Run(tmp_path / "whole", Reverse(), settings())
    whole.trainer.train()
    killed = Run(tmp_path / "killed", Reverse(), settings())
    killed.after(1, lambda: 1 // 0)
    with pytest.raises(ZeroDivisionError):
        killed.trainer.train()
    (tmp_path / "killed" / "state" / "00000001.json").unlink()
    heard = Heard()
    again = Run(tmp_path / "killed", Reverse(), settings(), report=heard)
    assert again.trainer.train().step == 12
    assert heard.notes[0].endswith(
        "00000001.json is missing: this state was not finished; beginning again"
    )


def test_a_run_without_its_states_is_not_begun_again_in_silence(tmp_path: Path) -> None:
    import shutil

    Run(tmp_path, Reverse(), settings()).trainer.train()
    shutil.rmtree(tmp_path / "state")
    with pytest.raises(TrainingError, match=r"is missing, though .* tells of steps"):
        Run(tmp_path, Reverse(), settings()).trainer.train()


def test_elsewhere_a_run_goes_on_and_says_so(tmp_path: Path) -> None:
    first = Run(tmp_path, Reverse(), settings(), where="one core")
    first.after(6, lambda: setattr(first.trainer, "interrupted", True))
    first.trainer.train()
    heard = Heard()
    Run(tmp_path, Reverse(), settings(), where="a GPU", report=heard).trainer.train()
    told, *finalists = heard.notes
    assert told == "one core before, a GPU now: it goes on, but is not bit-exact"
    assert all(note.startswith(("step ", "average of ")) for note in finalists)
