"""When a run ends, when it looks at the development set, and where its learning rate aims.

A run bounded by steps or epochs knows that from the start. One bounded by minutes foresees it from
the time its steps take, anew now and then; each change is written into the log with its step, and
a part that was lost is run again along the same lines.
"""

from __future__ import annotations

import math
from typing import TypeVar

from heedful.train.optim import Anchor
from heedful.train.run import Run

__all__ = ["Paced"]

BatchT = TypeVar("BatchT")
LOOKS = 16
"""Looks at the development set in a timed run, where they are quick."""


class Paced(Run[BatchT]):
    """A run that knows how far it has to go."""

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
        if not self._pace and state.step not in self._replay:
            return
        step_seconds = sum(self._pace) / len(self._pace) if self._pace else 0.0
        looks = max(0, self.looks_left())
        left = self.clock.left() - self.reserve(self._look_seconds) - looks * self._look_seconds
        end = state.step + max(1, int(left / step_seconds)) if step_seconds else self._replay_to
        if state.step <= self._replay_to <= self.engine.together(lambda: end):
            if state.step in self._replay:
                self._follow_anchor(self._replay[state.step])
            return
        caps = [e for e in (settings.steps,) if e is not None]
        if settings.epochs is not None:
            caps.append(math.ceil(settings.epochs * self._per_epoch()))
        end = self.engine.together(lambda: min([end, *caps]))
        old = self.schedule.end
        if old is None or abs(end - old) > 0.01 * (old - state.step) + 1:
            self._anchor(end)
        if not state.kept:  # the first look was set before it was known how few steps there are
            state.look_at = min(state.look_at, max(state.step + 1, self._look_gap()))

    def _anchor(self, end: int) -> None:
        self._follow_anchor(self.schedule.foresee(self.state.step, end))

    def _follow_anchor(self, anchor: Anchor) -> None:
        """Fall along this line from now on, and write down that it is so."""
        if anchor not in self.schedule.anchors:  # recorded by a part of the run that was lost
            if self.state.step <= self.schedule.warmup:
                self.schedule.anchors.clear()
            self.schedule.anchors.append(anchor)
        self.state.anchors = [(a.step, a.lr, a.end) for a in self.schedule.anchors]
        self._write("schedule", **{"from": anchor.step, "lr": anchor.lr, "end": anchor.end})

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
