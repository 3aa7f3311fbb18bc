"""What a training writes down so that it can stop at any moment and go on: its log, its states."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from torch import Tensor

from heedful.errors import TrainingError
from heedful.train.checkpoint import States
from heedful.train.report import LogFile, Report
from heedful.train.state import State

SAVE_EVERY = 300.0
"""Seconds between saved states, besides those at every evaluation."""


class Journal:
    """The folder `run/` of a training: `log.jsonl` and `state/`, and what a person is told.

    Of several processes only the lead writes; the others have a journal that stays silent.
    """

    def __init__(
        self,
        folder: Path,
        report: Report | None = None,
        where: str = "",
        listen: Callable[[Mapping[str, Any]], None] | None = None,
        saved: Callable[[State], None] = lambda state: None,
        lead: bool = True,
    ) -> None:
        """`where` names device, numbers and workers; on others the run is not bit-exact.

        `listen` hears every record of the log, `saved` is called after every state.
        """
        self.folder, self.report = folder, report or Report()
        self.states = States(folder / "state")
        self._where, self._listen, self._after_save, self._lead = where, listen, saved, lead
        self._log: LogFile | None = None
        self._saved = self._counted = time.monotonic()

    def began(self, seconds: float) -> None:
        """Count the seconds of the training from when its command began, so long ago."""
        self._counted = time.monotonic() - seconds

    def open(self, state: State) -> Sequence[dict[str, Any]]:
        """Cut the log to what the state knows; give what was written after it, which is lost."""
        path = self.folder / "log.jsonl"
        if not state.saved and path.exists() and b'"step": 1' in path.read_bytes():
            raise TrainingError(
                f"{self.folder / 'state'} is missing, though {path} tells of steps; restore it, or "
                f"delete {self.folder.parent} and train again"
            )
        if not self._lead:
            return ()
        self._log = LogFile(path, state.log_size, state.log_digest, self._listen)
        if self._log.damaged:
            self.report.note(
                f"{path} is damaged; it was kept as log.damaged.jsonl, and what can be read "
                f"of it goes on"
            )
        return self._log.tail

    def cut(self, state: State) -> None:
        """Forget what was written after a state."""
        if self._log is not None:
            self._log.cut(state.log_size)

    def write(self, state: State, kind: str, **facts: Any) -> dict[str, Any]:
        """Add a record to the log, with the time and the seconds the training has taken."""
        self._count(state)
        record = {"kind": kind, "step": state.step, **facts}
        record |= {"at": time.time(), "spent": state.spent}
        if self._log is not None:
            self._log.write(record)
        return record

    def _count(self, state: State) -> None:
        """Count the seconds since they were counted last."""
        now = time.monotonic()
        state.spent += now - self._counted
        self._counted = now

    @property
    def due(self) -> bool:
        """Whether the last state is so old that another should be saved."""
        return time.monotonic() - self._saved > SAVE_EVERY

    def save(self, state: State, tensors: Mapping[str, Tensor]) -> None:
        """Write a state."""
        self._count(state)
        state.where = self._where
        if state.step > state.diverged_at:
            state.rollbacks = 0
        if self._log is not None:
            state.log_size, state.log_digest = self._log.mark()
            state.saved += 1
            self.states.save(tensors, state.to_facts())
            self._after_save(state)
        self._saved = time.monotonic()

    def load(
        self, together: Callable[[Callable[[], int | None]], int | None]
    ) -> tuple[State, Mapping[str, Tensor]] | None:
        """Give the newest whole state, the same one in every process; None at the beginning."""
        found = self.states.load(self.report.note) if self._lead else None
        number = together(lambda: self.states.current)
        if number is None:
            return None
        tensors, facts = found or self.states.read(number)
        state = State.of_facts(facts)
        if state.where and state.where != self._where:
            self.report.note(
                f"{state.where} before, {self._where} now: it goes on, but is not bit-exact"
            )
        return state, tensors

    def close(self) -> None:
        """Close the log."""
        if self._log is not None:
            self._log.close()
