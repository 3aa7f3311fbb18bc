"""When a training ends, when it evaluates, and the step at which its learning rate reaches zero.

A training bounded by steps or epochs knows that from the start. One bounded by minutes estimates it
from the time its steps take, again and again; each estimate is logged with its step, so that steps
run again after a kill follow the same schedule.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from heedful.settings import TrainSettings
from heedful.train.optim import Anchor, Schedule
from heedful.train.state import Clock, State

EVALUATIONS = 16
"""Evaluations in a timed training, where they are quick."""

Together = Callable[[Callable[[], int]], int]


class Budget:
    """Steps, epochs and minutes of a training, and the schedule that uses them up."""

    def __init__(
        self,
        settings: TrainSettings,
        peak: float,
        clock: Clock,
        reserve: Callable[[float], float] = lambda evaluation: 2 * evaluation,
        evaluation_seconds: float = 0.0,
    ) -> None:
        """`reserve` says, from the seconds of one evaluation, how many to leave for the end.

        `evaluation_seconds` is an estimate of those, until the first evaluation has been timed.
        """
        self.settings, self.clock, self.reserve = settings, clock, reserve
        self.schedule = Schedule(peak, settings.warmup, settings.schedule)
        self.evaluation_seconds = evaluation_seconds
        self.epoch_batches = 1
        self._seconds: deque[float] = deque(maxlen=200)
        self._replay: dict[int, Anchor] = {}
        self._replay_to = 0

    @property
    def epoch_steps(self) -> float:
        """Steps of an epoch."""
        return max(1, self.epoch_batches / self.settings.accumulate)

    def last(self) -> float:
        """The last step there may be."""
        ends = self._fixed_ends()
        if self.settings.minutes is not None and self.schedule.end is not None:
            ends.append(self.schedule.end)
        return min(ends, default=math.inf)

    def _fixed_ends(self) -> list[float]:
        ends: list[float] = []
        if self.settings.steps is not None:
            ends.append(self.settings.steps)
        if self.settings.epochs is not None:
            ends.append(math.ceil(self.settings.epochs * self.epoch_steps))
        return ends

    def over(self, state: State) -> bool:
        """Say whether there are no steps left, or no time but for the end."""
        late = self.clock.left() <= self.reserve(self.evaluation_seconds)
        return state.step >= self.last() or late

    def took(self, seconds: float, state: State, batches: int) -> None:
        """Take notice of the time of a step.

        An epoch is planned before its first step, which says nothing of the others.
        """
        begins = state.batch == batches and self.epoch_steps > 1
        if not begins or not self._seconds:
            self._seconds.append(seconds)

    def left(self, state: State) -> float:
        """Seconds left."""
        left, last = self.clock.left(), self.last()
        if math.isfinite(last) and self._seconds:
            left = min(left, (last - state.step) * self._step_seconds())
        return left

    def _step_seconds(self) -> float:
        return sum(self._seconds) / len(self._seconds)

    # -- the schedule ----------------------------------------------------------------------------

    def foresee(self, state: State, together: Together) -> Anchor | None:
        """Say where the schedule ends; gives the new line of the learning rate where it changed.

        All processes must follow one schedule: `together` gives them the lead's number.
        """
        settings, step = self.settings, state.step
        if settings.schedule != "linear":
            return None
        if settings.minutes is None:
            # A training that goes on may have been given another end than it had before.
            if not self._seconds and self.schedule.end != self.last():
                return self._follow(self.schedule.foresee(step, int(self.last())), state)
            return None
        if not self._seconds and step not in self._replay:
            return None
        end = self._replay_to
        if self._seconds:
            evaluations = self.evaluations_left(state) * self.evaluation_seconds
            left = self.clock.left() - self.reserve(self.evaluation_seconds) - evaluations
            end = step + max(1, int(left / self._step_seconds()))
        if step <= self._replay_to <= together(lambda: end):
            return self._follow(self._replay[step], state) if step in self._replay else None
        end = together(lambda: int(min([end, *self._fixed_ends()])))
        old, found = self.schedule.end, None
        if old is None or abs(end - old) > 0.01 * (old - step) + 1:
            found = self._follow(self.schedule.foresee(step, end), state)
        if not state.kept:  # the first evaluation was set before the number of steps was known
            state.evaluate_at = min(state.evaluate_at, max(step + 1, self._gap()))
        return found

    def _follow(self, anchor: Anchor, state: State) -> Anchor:
        """Fall along this line from now on."""
        if anchor not in self.schedule.anchors:  # recorded by a part of the training that was lost
            if state.step <= self.schedule.warmup:
                self.schedule.anchors.clear()
            self.schedule.anchors.append(anchor)
        state.anchors = [(a.step, a.lr, a.end) for a in self.schedule.anchors]
        return anchor

    def resume(self, state: State, more: bool) -> float:
        """Take up the lines of a saved state; give how much higher the peak is now.

        `more` begins the schedule anew: a finished training goes on to a later end.
        """
        ratio = self.schedule.peak / state.peak
        state.peak = self.schedule.peak
        state.anchors = [] if more else [(step, lr * ratio, end) for step, lr, end in state.anchors]
        self.schedule.anchors = [Anchor(*anchor) for anchor in state.anchors]
        return ratio

    def replay(self, records: Sequence[Mapping[str, Any]], ratio: float) -> None:
        """Follow the schedule in the log while steps lost to a kill are run again."""
        self._replay_to = max((record.get("step", 0) for record in records), default=0)
        self._replay = {
            r["step"]: Anchor(r["from"], r["lr"] * ratio, r["end"])
            for r in records
            if r.get("kind") == "schedule"
        }

    # -- evaluations -----------------------------------------------------------------------------

    def due(self, state: State) -> bool:
        """Say whether to evaluate now."""
        every = self.settings.evaluate_every
        return state.step % every == 0 if every is not None else state.step >= state.evaluate_at

    def next_evaluation(self, state: State) -> int:
        """Give the step of the next one: spread over a timed training, once an epoch otherwise."""
        return state.step + self._gap()

    def evaluations_left(self, state: State) -> int:
        """How many evaluations are still to come in a timed training."""
        end = self.schedule.end
        if end is None or self.settings.evaluate_every is not None or not state.evaluate_at:
            return 0
        return max(0, round(self._evaluations() * (end - state.step) / end))

    def _gap(self) -> int:
        if self.settings.minutes is not None:
            return max(25, (self.schedule.end or 200 * EVALUATIONS) // self._evaluations())
        return max(1, round(self.epoch_steps))

    def _evaluations(self) -> int:
        """Sixteen in a timed training, or fewer, so that they take a twentieth of it."""
        seconds = 60 * (self.settings.minutes or math.inf)
        return int(max(4, min(EVALUATIONS, 0.05 * seconds / max(1e-3, self.evaluation_seconds))))
