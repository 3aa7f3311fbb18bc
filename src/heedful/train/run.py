"""A run: its state in memory and on disk, its log, and what it is made of.

`loop.py` moves it. Everything here is about being able to stop at any moment and go on.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import torch
from torch import Tensor

from heedful.errors import TrainingError
from heedful.settings import TrainSettings
from heedful.tasks.protocol import Task
from heedful.train.checkpoint import States, check_weights
from heedful.train.crew import Crew
from heedful.train.engine import Engine
from heedful.train.optim import Anchor, Schedule
from heedful.train.precision import Precision
from heedful.train.report import LogFile, Report
from heedful.train.state import Clock, State

__all__ = ["Run", "Weights"]

BatchT = TypeVar("BatchT")
Weights = dict[str, Tensor]


class Run(Generic[BatchT]):
    """What a training has and remembers; `keep` is called when the weights are the best so far."""

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
        notes: Sequence[str] = (),
        engine: Engine[BatchT] | None = None,
        saved: Callable[[State], None] = lambda state: None,
        precision: Precision | None = None,
        where: str = "",
        listen: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        """`reserve` says, from the seconds one look takes, what to leave for the end.

        `look_seconds` is a guess of those, until the first look has been timed. `more` goes on
        with a run that was finished, for it has been given a later end; the learning rate begins
        at its peak again. `notes` go into the log. Without an `engine` so many `workers` of this
        process do the arithmetic; `where` says on what, for a run that goes on elsewhere. `saved`
        is called after every state that was saved, `listen` with every record of the log.
        """
        self.task, self.settings, self.run = task, settings, run
        self.report, self.keep, self.clock, self.reserve = report, keep, clock, reserve
        self.model = task.model
        self.engine: Engine[BatchT] = engine or Crew(task, settings, workers, precision)
        self.schedule = Schedule(peak, settings.warmup, settings.schedule)
        self.states = States(run / "state")
        self.state, self._more, self._notes = State(peak=peak), more, notes
        self._after_save, self._listen = saved, listen
        self.interrupted = False
        self._where = where
        self._ema: Weights = {}
        self._replay: dict[int, Anchor] = {}
        self._replay_to, self._ratio = 0, 1.0
        self._before: set[int] = set()
        self._log: LogFile | NoLog = NoLog()
        self._size = task.size(0)
        self._look_seconds = look_seconds
        self._saved = time.monotonic()
        self._counted = self._saved - clock.spent()  # the command's start, not ours
        self._pace: deque[float] = deque(maxlen=200)

    def _lr(self) -> float:
        return self.schedule.lr(self.state.step) * self.state.lr_scale

    def _path(self, step: int) -> Path:
        return self.run / "kept" / f"step-{step:08d}.safetensors"

    @torch.no_grad()
    def _load(self, weights: Weights) -> None:
        for name, parameter in self.model.named_parameters():
            parameter.copy_(weights[name])

    def _write(self, kind: str, **facts: Any) -> dict[str, Any]:
        """Add a record to the log, with the time and the seconds the run has taken."""
        self._count()
        record = {"kind": kind, "step": self.state.step, **facts}
        record |= {"at": time.time(), "spent": self.state.spent}
        self._log.write(record)
        return record

    def _count(self) -> None:
        """Count the seconds since they were counted last."""
        now = time.monotonic()
        self.state.spent += now - self._counted
        self._counted = now

    def _save(self) -> None:
        """Write a state; weights kept for averaging go when no state knows them any more."""
        state = self.state
        self._count()
        state.where = self._where
        state.loss_scale = (self.engine.scale.factor, self.engine.scale.good)
        if state.step > state.diverged_at:
            state.rollbacks = 0
        tensors = self.engine.tensors()
        if self.engine.lead:
            state.log_size, state.log_digest = self._log.mark()
            tensors |= {f"ema.{name}": tensor for name, tensor in self._ema.items()}
            state.saved += 1
            self.states.save(tensors, state.to_facts())
            known = {kept.step for kept in state.kept}
            for file in (self.run / "kept").glob("step-*.safetensors"):
                if int(file.stem.split("-")[1]) not in known | self._before:
                    file.unlink()
            self._before = known
            self._after_save(state)
        self._saved = time.monotonic()

    def _restore(self) -> None:
        """Go to where the newest whole state is, or stay at the beginning."""
        found = self.states.load(self.report.note) if self.engine.lead else None
        number = self.engine.together(lambda: self.states.current)
        if number is None:
            return
        tensors, facts = found or self.states.read(number)
        self.engine.load(tensors)
        there = next(self.model.parameters()).device
        self._ema = {k[4:]: v.to(there) for k, v in tensors.items() if k.startswith("ema.")}
        peak = self.schedule.peak
        state = self.state = State.of_facts(facts)
        self._before = {kept.step for kept in state.kept}
        whole = []
        for kept in state.kept:
            try:
                if kept.digest:
                    check_weights(self._path(kept.step), kept.digest)
                whole.append(kept)
            except TrainingError as error:
                self.report.note(f"{error}; it is left out of averages")
        state.kept = self.engine.together(lambda: whole)
        # Another peak than before: the rest of the schedule is as much higher or lower.
        ratio = peak / state.peak
        state.anchors = [(step, lr * ratio, end) for step, lr, end in state.anchors]
        self.schedule.anchors = [Anchor(*anchor) for anchor in state.anchors]
        state.peak, self._ratio = peak, ratio
        if self.engine.scale.scaled and state.loss_scale[0] > 1:
            self.engine.scale.factor, self.engine.scale.good = state.loss_scale
        if state.where and state.where != self._where:
            self.report.note(
                f"{state.where} before, {self._where} now: it goes on, but not to the bit as there"
            )
        if state.finished and self._more:
            state.finished, state.stale = False, 0
            self.schedule.anchors.clear()
            state.anchors = []
        if not state.finished:
            state.why = ""

    def _open_log(self) -> LogFile | NoLog:
        """Cut the log to what the state knows; keep what a lost part said of its schedule."""
        state, path = self.state, self.run / "log.jsonl"
        if not state.saved and path.exists() and b'"step": 1' in path.read_bytes():
            raise TrainingError(
                f"{self.run / 'state'} is missing, though {path} tells of steps; restore it, or "
                f"delete {self.run.parent} and train again"
            )
        if not self.engine.lead:
            log: LogFile | NoLog = NoLog()
        else:
            log = LogFile(path, state.log_size, state.log_digest, self._listen)
            if log.damaged:
                self.report.note(
                    f"{path} is damaged; it was kept as log.damaged.jsonl, and what can be read "
                    f"of it goes on"
                )
        tail = self.engine.together(lambda: log.tail)
        if self.settings.minutes is not None and tail and state.saved:
            self._replay_to = max(record.get("step", 0) for record in tail)
            self._replay = {
                r["step"]: Anchor(r["from"], r["lr"] * self._ratio, r["end"])
                for r in tail
                if r.get("kind") == "schedule"
            }
            state.spent = max(state.spent, tail[-1]["spent"])
        self.clock.started -= state.spent  # minutes count what earlier parts of the run took
        return log


class NoLog:
    """The log of a process that does not write one."""

    tail: Sequence[dict[str, Any]] = ()

    def write(self, record: object) -> None:
        """Write nothing."""

    def cut(self, size: int) -> None:
        """Cut nothing."""

    def mark(self) -> tuple[int, str]:
        """Say that there is nothing."""
        return 0, ""

    def close(self) -> None:
        """Close nothing."""
