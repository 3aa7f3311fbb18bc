"""The training loop: `Trainer.steps` and `Trainer.step` are the whole story on one screen.

What they use stands beside them: the data and the loss (`learner.py`), forward and backward on
threads or processes (`strategy.py`), when to evaluate and to stop (`budget.py`), which weights to
keep (`selection.py`), the log and the states (`journal.py`). A loss that is NaN or infinite takes
the training back to its last state, with half the learning rate.
"""

from __future__ import annotations

import hashlib
import itertools
import math
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import Generic, TypeVar

from heedful.errors import TrainingError
from heedful.machine import give_memory_back
from heedful.settings import TrainSettings
from heedful.train.budget import Budget
from heedful.train.journal import Journal
from heedful.train.learner import Evaluation, Learner
from heedful.train.report import clock
from heedful.train.selection import Selection
from heedful.train.state import Outcome, State, Window
from heedful.train.strategy import Strategy

BatchT = TypeVar("BatchT")
ROLLBACKS = 3
"""Times in a row that a training may go back after its loss became NaN or infinite."""


def seed_of(*numbers: int) -> int:
    """Mix numbers into a seed, so that every step has random numbers of its own."""
    text = ",".join(map(str, numbers)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "little")


class Diverged(Exception):
    """The loss or its gradient is NaN or infinite."""

    def __init__(self, loss: float, norm: float) -> None:
        self.what = f"loss {loss}" if not math.isfinite(loss) else f"gradient norm {norm}"
        super().__init__(self.what)


class Trainer(Generic[BatchT]):
    """Trains a learner's model, and resumes bit-exactly where it was stopped."""

    def __init__(
        self,
        learner: Learner[BatchT],
        settings: TrainSettings,
        strategy: Strategy[BatchT],
        budget: Budget,
        journal: Journal,
        keep: Callable[[], None],
        more: bool = False,
        notes: Sequence[str] = (),
    ) -> None:
        """`keep` is called when the model's weights are the best so far.

        `more` goes on with a training that was finished, for it has been given a later end; the
        learning rate begins at its peak again. `notes` go into the log.
        """
        self.learner, self.model, self.settings = learner, learner.model, settings
        self.strategy, self.budget, self.journal = strategy, budget, journal
        self.report = journal.report
        self.selection = Selection(
            learner.model, journal.folder / "kept", settings.average, strategy, keep
        )
        self.state = State(peak=budget.schedule.peak)
        self.interrupted = False
        self._more, self._notes = more, notes

    # -- the story -------------------------------------------------------------------------------

    def steps(self) -> str:
        """Take step after step, evaluating and saving now and then; give why it ended."""
        groups = self._groups()
        while True:
            stop, late, save = self.strategy.agree(
                [self.interrupted, self.budget.over(self.state), self.journal.due]
            )
            if late:
                return "finished"
            if stop:
                return "interrupted"
            if save:
                self._save()
            started = time.monotonic()
            group = next(groups)
            try:
                self.step(group)
                self.budget.took(time.monotonic() - started, self.state, len(group))
                if self.state.step % self.settings.log_every == 0 or self.state.step in (10, 25):
                    self._log()
                    self._foresee()
                if self.budget.due(self.state):
                    self._evaluate()
                    if self.state.stale >= self.settings.patience:
                        return "no better for a while"
                    self._save()
            except Diverged as found:
                self._go_back(found, group)
                groups = self._groups()

    def step(self, group: Sequence[BatchT]) -> None:
        """Do one step: forward, backward, clip, update."""
        state, strategy = self.state, self.strategy
        state.step += 1
        first = strategy.part * strategy.size
        seeds = [seed_of(self.settings.seed, state.step, first + i) for i in range(strategy.size)]
        count, loss, nll = strategy.gradients(group, seeds)
        norm = strategy.norm()
        if strategy.scale.overflowed(norm) and math.isfinite(loss):
            norm = 0.0  # float16 only: this step is left out
        elif not math.isfinite(loss) or not math.isfinite(norm):
            raise Diverged(loss, norm)
        else:
            clip = self.settings.clip
            strategy.update(self._lr(), min(1.0, clip / norm) if clip else 1.0)
            self._watch(loss / count, group)
        state.count += count
        state.window.add(count, loss, nll, norm)

    # -- around it -------------------------------------------------------------------------------

    def train(self) -> Outcome:
        """Run to the end, or to where it is interrupted."""
        with closing(self.strategy), closing(self.journal):
            if self.strategy.lead:
                self.journal.folder.mkdir(parents=True, exist_ok=True)
            self.budget.epoch_batches = self.learner.size(0)
            self.journal.began(self.budget.clock.spent())
            ratio, tail = self._restore(), self.journal.open(self.state)
            tail = self.strategy.together(lambda: tail)
            if self.state.saved and tail and self.settings.minutes is not None:
                self.budget.replay(tail, ratio)
                self.state.spent = max(self.state.spent, tail[-1]["spent"])
            # Minutes count what earlier parts of the training took.
            self.budget.clock.started -= self.state.spent
            if not self.state.finished:
                self._run()
        state = self.state
        return Outcome(
            state.step,
            state.epoch + state.batch / self.budget.epoch_batches,
            state.count,
            state.spent,
            state.best,
            state.why,
            state.weights,
            sum(p.numel() for p in self.model.parameters()),
        )

    def _run(self) -> None:
        self.model.train()
        for note in self._notes:
            self.journal.write(self.state, "note", text=note)
        self._foresee()
        if self.settings.evaluate_every is None and not self.state.evaluate_at:
            self.state.evaluate_at = self.budget.next_evaluation(self.state)
        self._save()  # so that there is a state to go back to, which knows what changed
        why = self.state.why = self.steps()
        if why != "interrupted":
            if not self.state.kept or self.state.kept[-1].step != self.state.step:
                try:
                    self._evaluate()
                except Diverged as found:
                    raise TrainingError(
                        f"the development set has {found.what} at the end; try a lower train.lr"
                    ) from found
            self.state.weights = self.selection.choose(
                self.state, self.learner.evaluate, self._tell_candidate
            )
            self.state.finished = True
        self._save()

    def _groups(self) -> Iterator[list[BatchT]]:
        """Give the batches of each step, epoch after epoch, from where the training is."""
        state, wanted = self.state, self.settings.accumulate
        while True:
            part, parts = self.strategy.part, self.strategy.parts
            batches = iter(self.learner.batches(state.epoch, state.batch, part, parts))
            while group := list(itertools.islice(batches, wanted)):
                state.batch += len(group)
                yield group
            state.epoch, state.batch = state.epoch + 1, 0

    def _evaluate(self) -> None:
        """Measure how good the model is on the development set, and keep the best weights."""
        state, started = self.state, time.monotonic()
        self.strategy.refresh()
        give_memory_back()  # what the steps left is free for the search, and the other way round
        found = self.strategy.together(self.learner.evaluate)
        give_memory_back()
        if not math.isfinite(found.loss):
            raise Diverged(found.loss, math.nan)
        best = self.selection.consider(found, state)
        facts = asdict(found) | {"samples": [asdict(sample) for sample in found.samples]}
        self.report.evaluated(self.journal.write(state, "look", **facts, best=best))
        self.budget.evaluation_seconds = self.strategy.together(lambda: time.monotonic() - started)
        state.evaluate_at = self.budget.next_evaluation(state)

    def _tell_candidate(self, name: str, found: Evaluation, best: bool) -> None:
        figures = "  ".join(f"{key} {value:.2f}" for key, value in found.figures.items())
        self.journal.write(self.state, "finalist", weights=name, figures=found.figures, best=best)
        self.report.note(f"{name}: {figures}")

    def _lr(self) -> float:
        return self.budget.schedule.lr(self.state.step) * self.state.lr_scale

    def _foresee(self) -> None:
        anchor = self.budget.foresee(self.state, self.strategy.together)
        if anchor is not None:
            line = {"from": anchor.step, "lr": anchor.lr, "end": anchor.end}
            self.journal.write(self.state, "schedule", **line)

    def _log(self) -> None:
        state, lr, unit = self.state, self._lr(), self.learner.unit
        window, state.window = state.window, Window()
        means, speed = window.means(), window.speed()
        figures = self.learner.figures(means.pop("nll"))
        speeds = {f"{unit}s_per_second": speed}
        self.journal.write(state, "step", lr=lr, **means, **figures, **speeds)
        last, left = self.budget.last(), self.budget.left(state)
        details = f"step {state.step}  loss {means['loss']:.3f}  "
        details += "".join(f"{name} {value:.2f}  " for name, value in figures.items())
        details += f"{speed:,.0f} {unit}s/s  lr {lr:.2e}"
        if math.isfinite(left):
            details += f"  {clock(left)} left"
        self.report.progress("training", state.step, last if math.isfinite(last) else 0, details)

    def _save(self) -> None:
        """Write a state; weights kept for averaging go when no state knows them any more."""
        scale = self.strategy.scale
        self.state.loss_scale = (scale.factor, scale.good)
        self.journal.save(self.state, self.strategy.tensors())
        if self.strategy.lead:
            self.selection.sweep(self.state)

    def _restore(self) -> float:
        """Go to where the newest whole state is, or stay at the beginning.

        Gives how much higher the peak learning rate is than it was: the rest of the schedule is as
        much higher.
        """
        found = self.journal.load(self.strategy.together)
        if found is None:
            return 1.0
        state, tensors = found
        self.state = state
        self.strategy.load(tensors)
        self.selection.check(state, self.report.note)
        if self.strategy.scale.scaled and state.loss_scale[0] > 1:
            self.strategy.scale.factor, self.strategy.scale.good = state.loss_scale
        more = state.finished and self._more
        if more:
            state.finished, state.stale = False, 0
        if not state.finished:
            state.why = ""
        return self.budget.resume(state, more)

    # -- when it goes wrong ----------------------------------------------------------------------

    def _lines(self, group: Sequence[BatchT]) -> list[str]:
        return [place for batch in group for place in self.learner.where(batch)]

    def _go_back(self, found: Diverged, group: Sequence[BatchT]) -> None:
        """Return to the last state with half the learning rate, naming the batch."""
        bad, lr, count = self.state.step, self._lr(), self.state.rollbacks + 1
        lines = self._lines(group)
        some = ", ".join(lines[:5]) + (f" and {len(lines) - 5:,} more" if len(lines) > 5 else "")
        if count > ROLLBACKS:
            raise TrainingError(
                f"{found.what} at step {bad:,} again, after going back {ROLLBACKS} times; the "
                f"batch has {some}; look at these lines, and try a lower train.lr or a longer "
                f"train.warmup in a new folder"
            )
        spent = self.state.spent
        self._restore()
        self.strategy.agree([False])  # all have read the state before the lead writes another
        state = self.state
        state.lr_scale /= 2
        state.rollbacks, state.diverged_at, state.spent = count, bad, spent
        self.journal.cut(state)
        about = {"from": bad, "found": found.what, "lr_scale": state.lr_scale, "lines": lines}
        self.journal.write(state, "rollback", **about)
        self.report.note(
            f"{found.what} at step {bad:,}: back to step {state.step:,} with half the learning "
            f"rate ({lr:.1e} was too much, or the batch is bad: {some})"
        )
        self._save()

    def _watch(self, loss: float, group: Sequence[BatchT]) -> None:
        """Tell of a batch whose loss is far above what is usual of late."""
        state = self.state
        away = loss - state.typical
        usual = max(8 * state.spread, 0.3 * state.typical)
        if state.step > 100 and away > usual and state.step > state.spiked_at + 50:
            state.spiked_at = state.step
            lines = self._lines(group)
            self.journal.write(state, "spike", loss=loss, usual=state.typical, lines=lines)
            self.report.note(
                f"step {state.step:,}: loss {loss:.2f} where {state.typical:.2f} is usual; "
                f"the batch begins with {lines[0]}"
            )
        weight = 0.02 if state.step > 50 else 1 / state.step
        state.typical += weight * away
        state.spread += weight * (abs(away) - state.spread)
