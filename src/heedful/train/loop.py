"""The training loop.

A step is: take the batches, seed, forward, backward, clip, learning rate, Adam. Around it: look
at the development set now and then, keep the best weights, stop when done, and save so that the
same command goes on where it stopped.
"""

from __future__ import annotations

import hashlib
import math
import time
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import asdict
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from heedful.errors import TrainingError
from heedful.settings import TrainSettings
from heedful.tasks.protocol import Evaluation, Task
from heedful.train.checkpoint import (
    average,
    load_state,
    read_weights,
    save_state,
    write_weights,
)
from heedful.train.crew import Crew
from heedful.train.optim import Anchor, Schedule
from heedful.train.report import LogFile, Report, clock
from heedful.train.state import Clock, Outcome, State, Window

__all__ = ["Trainer", "seed_of"]

BatchT = TypeVar("BatchT")
Weights = dict[str, Tensor]
LOOKS = 16
"""Looks at the development set in a timed run, where they are quick."""
SAVE_EVERY = 300.0
"""Seconds between saved states, besides those at every look."""


def seed_of(*numbers: int) -> int:
    """Mix numbers into a seed, so that every step has random numbers of its own."""
    text = ",".join(map(str, numbers)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=7).digest(), "little")


class Trainer(Generic[BatchT]):
    """Trains a task's model; `keep` is called with every set of weights that is the best so far."""

    def __init__(
        self,
        task: Task[BatchT],
        settings: TrainSettings,
        run: Path,
        peak: float,
        report: Report,
        keep: Callable[[], None],
        clock: Clock,
        reserve: Callable[[float], float] = lambda look: 2 * look,
        look_seconds: float = 0.0,
        workers: int = 1,
        more: bool = False,
    ) -> None:
        """`reserve` says, from the seconds one look takes, what to leave for the end.

        `look_seconds` is a guess of those, until the first look has been timed. `more` goes on
        with a run that was finished, for it has been given a later end; the learning rate begins
        at its peak again.
        """
        self.task, self.settings, self.run = task, settings, run
        self.report, self.keep, self.clock, self.reserve = report, keep, clock, reserve
        self.model = task.model
        self.crew: Crew[BatchT] = Crew(task, settings, workers)
        self.schedule = Schedule(peak, settings.warmup, settings.schedule)
        self.state, self._more = State(), more
        self.interrupted = False
        self._size = task.size(0)
        self._look_seconds = look_seconds
        self._saved = self._counted = time.monotonic()
        self._pace: deque[float] = deque(maxlen=200)

    # -- the run ---------------------------------------------------------------------------

    def train(self) -> Outcome:
        """Run to the end, or to where it is interrupted."""
        self.run.mkdir(parents=True, exist_ok=True)
        self._restore()
        state = self.state
        with closing(LogFile(self.run / "log.jsonl", state.step)) as self._log, closing(self.crew):
            if not state.finished:
                self.model.train()
                state.why = self._steps()
                if state.why != "interrupted":
                    if not state.kept or state.kept[-1][0] != state.step:
                        self._look()
                    state.weights = self._choose()
                    state.finished = True
                self._save()
        return Outcome(
            state.step,
            state.epoch + state.place / self._size,
            state.tokens,
            state.spent,
            state.best,
            state.why,
            state.weights,
        )

    def _steps(self) -> str:
        """Take step after step, looking and saving now and then; give why it ended."""
        state, settings = self.state, self.settings
        self._foresee()
        if settings.evaluate_every is None and not state.look_at:
            state.look_at = state.step + self._look_gap()
        groups = self._groups()
        since = Window()
        while not self._over():
            if self.interrupted:
                return "interrupted"
            started = time.monotonic()
            since.add(*self._step(next(groups)))
            self._pace.append(time.monotonic() - started)
            if state.step % settings.log_every == 0 or state.step in (10, 25):
                self._tell(since)
                since = Window()
                self._foresee()
            if self._due():
                if self._look():
                    return "no better for a while"
                self._save()
            elif time.monotonic() - self._saved > SAVE_EVERY:
                self._save()
        return "finished"

    def _groups(self) -> Iterator[list[BatchT]]:
        """Give the batches of each step, epoch after epoch, from where the run is."""
        state, wanted = self.state, self.settings.accumulate
        while True:
            group: list[BatchT] = []
            for batch in self.task.batches(state.epoch, state.place):
                group.append(batch)
                if len(group) == wanted:
                    state.place += len(group)
                    yield group
                    group = []
            if group:
                state.place += len(group)
                yield group
            state.epoch, state.place = state.epoch + 1, 0

    def _step(self, group: list[BatchT]) -> tuple[int, float, float, float]:
        """Do one step; give its tokens, loss, likelihood and gradient norm."""
        state = self.state
        state.step += 1
        seeds = [seed_of(self.settings.seed, state.step, i) for i in range(self.crew.size)]
        tokens, loss, nll = self.crew.gradients(group, seeds)
        norm = self.crew.norm()
        if not math.isfinite(loss) or not math.isfinite(norm):
            raise TrainingError(
                f"the loss became {loss} at step {state.step} (gradient norm {norm}); "
                f"try a lower train.lr or a longer train.warmup"
            )
        clip = self.settings.clip
        self.crew.update(self.schedule.lr(state.step), min(1.0, clip / norm) if clip else 1.0)
        state.tokens += tokens
        return tokens, loss, nll, norm

    # -- when ------------------------------------------------------------------------------

    def _last(self) -> float:
        """The last step there may be."""
        ends = [math.inf]
        if self.settings.steps is not None:
            ends.append(self.settings.steps)
        if self.settings.epochs is not None:
            ends.append(math.ceil(self.settings.epochs * self._per_epoch()))
        if self.settings.minutes is not None and self.schedule.end is not None:
            ends.append(self.schedule.end)
        return min(ends)

    def _per_epoch(self) -> float:
        return max(1, self._size / self.settings.accumulate)

    def _over(self) -> bool:
        late = self.clock.left() <= self.reserve(self._look_seconds)
        return self.state.step >= self._last() or late

    def _foresee(self) -> None:
        """Say where the schedule ends: a number of steps, or as many as the time allows."""
        settings, state = self.settings, self.state
        if settings.schedule != "linear":
            return
        if settings.minutes is None:
            # A run that goes on may have been given another end than it had before.
            if not self._pace and self.schedule.end != self._last():
                self._anchor(int(self._last()))
            return
        if not self._pace:
            return
        step_seconds = sum(self._pace) / len(self._pace)
        looks = max(0, self.looks_left())
        left = self.clock.left() - self.reserve(self._look_seconds) - looks * self._look_seconds
        end = state.step + max(1, int(left / step_seconds))
        caps = [e for e in (settings.steps,) if e is not None]
        if settings.epochs is not None:
            caps.append(math.ceil(settings.epochs * self._per_epoch()))
        end = min([end, *caps])
        old = self.schedule.end
        if old is None or abs(end - old) > 0.01 * (old - state.step) + 1:
            self._anchor(end)
        if not state.kept:  # the first look was set before it was known how few steps there are
            state.look_at = min(state.look_at, max(state.step + 1, self._look_gap()))

    def _anchor(self, end: int) -> None:
        anchor = self.schedule.foresee(self.state.step, end)
        self.state.anchors = [(a.step, a.lr, a.end) for a in self.schedule.anchors]
        record = {"from": anchor.step, "lr": anchor.lr, "end": anchor.end, "at": time.time()}
        self._log.write({"kind": "schedule", "step": self.state.step, **record})

    def looks_left(self) -> int:
        """How many looks are still to come in a timed run."""
        end = self.schedule.end
        if end is None or self.settings.evaluate_every is not None or not self.state.look_at:
            return 0
        return max(0, round(self._looks() * (end - self.state.step) / end))

    def _look_gap(self) -> int:
        """Steps to the next look: spread over a timed run, one an epoch otherwise."""
        if self.settings.minutes is not None:
            return max(25, (self.schedule.end or 200 * LOOKS) // self._looks())
        return max(1, round(self._per_epoch()))

    def _looks(self) -> int:
        """Looks in a timed run: sixteen, or fewer, so that they take a twentieth of it."""
        seconds = 60 * (self.settings.minutes or math.inf)
        return int(max(4, min(LOOKS, 0.05 * seconds / max(1e-3, self._look_seconds))))

    def _due(self) -> bool:
        every = self.settings.evaluate_every
        if every is not None:
            return self.state.step % every == 0
        return self.state.step >= self.state.look_at

    # -- looking, keeping, choosing ------------------------------------------------------------

    def _look(self) -> bool:
        """Evaluate, keep the weights, and say whether it is time to give up."""
        state, started = self.state, time.monotonic()
        found = self.task.evaluate()
        better = self._is_better(found)
        if better or found.loss < state.best_loss:
            state.stale = 0
        else:
            state.stale += 1
        state.best_loss = min(state.best_loss, found.loss)
        if better:
            state.best, state.loss_of_best = found.score, found.loss
            state.best_step = state.step
            self.keep()
        self._remember(found)
        self._record(found, better)
        self._look_seconds = time.monotonic() - started
        state.look_at = state.step + self._look_gap()
        return state.stale >= self.settings.patience

    def _is_better(self, found: Evaluation) -> bool:
        """By score; by loss where the scores are equal, as they are while BLEU is still 0."""
        state = self.state
        return (found.score, -found.loss) > (state.best, -state.loss_of_best)

    def _record(self, found: Evaluation, better: bool) -> None:
        record = {
            "kind": "look",
            "step": self.state.step,
            "score": found.score,
            "loss": found.loss,
            "figures": found.figures,
            "samples": [asdict(sample) for sample in found.samples],
            "best": better,
            "at": time.time(),
        }
        self._log.write(record)
        self.report.look(record)

    def _path(self, step: int) -> Path:
        return self.run / "kept" / f"step-{step:08d}.safetensors"

    def _remember(self, found: Evaluation) -> None:
        """Keep the weights of the last and of the best looks, for averaging."""
        state, count = self.state, self.settings.average
        if count == 1:
            state.kept = [(state.step, found.score)]
            return
        self._path(0).parent.mkdir(exist_ok=True)
        write_weights(self._path(state.step), dict(self.model.named_parameters()))
        state.kept = [k for k in state.kept if k[0] != state.step] + [(state.step, found.score)]
        wanted = {step for step, _ in state.kept[-count:]} | {s for s, _ in self._best(count)}
        for step, _ in state.kept:
            if step not in wanted:
                self._path(step).unlink(missing_ok=True)
        state.kept = [k for k in state.kept if k[0] in wanted]

    def _best(self, count: int) -> list[tuple[int, float]]:
        return sorted(self.state.kept, key=lambda k: -k[1])[:count]

    def _choose(self) -> str:
        """Try averages of the last and of the best weights; keep one if it is better.

        It has to be so by score and by loss: a hundredth of a point alone is chance.
        """
        state, count = self.state, self.settings.average
        chosen = f"step {state.best_step}"
        if count == 1 or len(state.kept) < 2:
            return chosen
        tried: set[tuple[int, ...]] = set()
        for name, picks in (("last", state.kept[-count:]), ("best", self._best(count))):
            steps = tuple(sorted(step for step, _ in picks))
            if steps in tried:
                continue
            tried.add(steps)
            self._load(average(self._path(step) for step in steps))
            found = self.task.evaluate()
            better = self._is_better(found) and found.loss <= state.loss_of_best
            if better:
                state.best, state.loss_of_best = found.score, found.loss
                chosen = f"average of the {name} {len(steps)}"
                self.keep()
            self._record(found, better)
        self._load(read_weights(self._path(state.kept[-1][0])))
        return chosen

    @torch.no_grad()
    def _load(self, weights: Weights) -> None:
        for name, parameter in self.model.named_parameters():
            parameter.copy_(weights[name])

    # -- saying and saving ---------------------------------------------------------------------

    def _tell(self, since: Window) -> None:
        state = self.state
        lr = self.schedule.lr(state.step)
        figures = since.figures()
        self._log.write({"kind": "step", "step": state.step, "lr": lr, **figures})
        last, left = self._last(), self.clock.left()
        if math.isfinite(last):
            pace = sum(self._pace) / len(self._pace)
            left = min(left, (last - state.step) * pace)
        details = (
            f"step {state.step}  loss {figures['loss']:.3f}  "
            f"perplexity {figures['perplexity']:.2f}  "
            f"{figures['tokens_per_second']:,.0f} tokens/s  lr {lr:.2e}"
        )
        if math.isfinite(left):
            details += f"  {clock(left)} left"
        total = last if math.isfinite(last) else 0
        self.report.progress("training", state.step, total, details)

    def _save(self) -> None:
        now = time.monotonic()
        self.state.spent += now - self._counted
        self._counted = now
        save_state(
            self.run / "state.safetensors", self.model, self.crew.optimizers, asdict(self.state)
        )
        self._saved = time.monotonic()

    def _restore(self) -> None:
        saved: dict[str, Any] | None = load_state(
            self.run / "state.safetensors", self.model, self.crew.optimizers
        )
        if saved is None:
            return
        saved.pop("optimizer_step", None)
        self.state = State(**saved)
        self.state.kept = [(int(step), float(score)) for step, score in self.state.kept]
        self.schedule.anchors = [Anchor(*a) for a in self.state.anchors]
        self.clock.started -= self.state.spent  # minutes count what earlier parts of the run took
        if self.state.finished and self._more:
            self.state.finished, self.state.stale = False, 0
            self.schedule.anchors.clear()
