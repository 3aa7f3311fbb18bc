"""A fair contest: every contender in a process of its own, asked in turn, round after round.

A process of its own, for what one does to its process (threads, memory, environment) is part of
how it runs and must not help or hinder another. In turn, for a machine that is busy for a while
is then busy for all. A contender that cannot run is a row that says why, not a crash.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.joey import python as joey_python

ROOT = Path(__file__).parents[1]
PLAIN = ("OMP_WAIT_POLICY", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
"""Taken out of the environment: everyone has what a person has who sets nothing."""
JOINT_THREADS = ("marian", "pytorch", "joey")
"""Contenders that split each operation over all cores, so that waiting matters."""


class AbsentError(Exception):
    """A contender that is not installed, or fails; the message says which."""


class Worker:
    """One contender: a process that takes questions as lines of JSON and answers each with one."""

    def __init__(self, peer: str, passive: bool) -> None:
        python = joey_python() if peer == "joey" else sys.executable
        if python is None:
            raise AbsentError("not installed: build/joeynmt-venv could not be made")
        environment = {k: v for k, v in os.environ.items() if k not in PLAIN}
        environment |= {"PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
        if passive:
            environment["OMP_WAIT_POLICY"] = "passive"
        self._process = subprocess.Popen(
            [str(python), "-m", "benchmarks.worker", peer],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            env=environment,
        )

    def ask(self, what: str, options: dict[str, Any] | None = None) -> dict[str, Any]:
        """Send a question and wait for its answer."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.write(json.dumps([what, options or {}]) + "\n")
            self._process.stdin.flush()
        except BrokenPipeError:
            raise AbsentError("its process ended") from None
        line = self._process.stdout.readline()
        if not line:
            raise AbsentError("its process ended")
        answer: dict[str, Any] = json.loads(line)
        if "error" in answer:
            raise AbsentError(answer["error"])
        return answer

    def close(self) -> None:
        """Let the process end."""
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(OSError):  # it ended by itself
                    pipe.close()
        self._process.wait()


@dataclass
class Entry:
    """What is known of one contender in one contest."""

    name: str
    peer: str
    make: str
    options: dict[str, Any] = field(default_factory=dict)
    worker: Worker | None = None
    absent: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    """What it said of itself when it was made ready."""
    waits: str = ""
    """What its threads do while they wait, where that was chosen here."""
    last: dict[str, Any] = field(default_factory=dict)
    """Its last answer."""

    @property
    def waiting(self) -> str:
        """Words for a table: what its threads do while they wait."""
        return f", waiting threads {self.waits}" if self.waits else ""

    def begin(self, trial: Mapping[str, Any] | None = None) -> None:
        """Start the process and have it make ready; remember why where it cannot.

        Threads that wait for work can spin, which is faster on an idle machine and far slower on
        one that is not. Heedful's command always has them sleep; for a peer both are tried on the
        work of `trial`, where it is given, and the faster one stays.
        """
        fastest = float("inf")
        both = trial is not None and self.peer in JOINT_THREADS
        for passive in (True, False) if both else (True,):
            worker = None
            try:
                worker = Worker(self.peer, passive)
                facts = worker.ask("make", {"make": self.make, **self.options})
                times = [
                    worker.ask("run", dict(trial or {}))["seconds"]
                    for _ in range(0 if trial is None else 4 if both else 2)
                ]
                seconds = min(times[1:], default=0.0)  # a busy moment is no reason to choose
            except AbsentError as error:
                self.absent = str(error)
            if not self.absent and seconds < fastest:
                self.close()
                self.worker, self.facts, fastest = worker, facts, seconds
                self.waits = ("sleep" if passive else "spin") if both else ""
            elif worker is not None:
                worker.close()

    def run(self, **options: Any) -> None:
        """Do the work once."""
        if self.absent or self.worker is None:
            return
        try:
            self.last = self.worker.ask("run", options)
        except AbsentError as error:
            self.absent = str(error)

    def close(self) -> None:
        """Let the process go."""
        if self.worker is not None:
            self.worker.close()


def contest(
    entries: Sequence[Entry],
    rounds: int,
    options: Mapping[str, Any] | None = None,
    warm: Mapping[str, Any] | None = None,
) -> tuple[dict[str, list[float]], list[float]]:
    """Run every entry in turn, `rounds` times; give the seconds by entry, and the rates.

    Before, each runs once uncounted, on `warm` where that is given: it is where everything is
    touched for the first time. Entries are left open, to be asked more, and keep their last answer.
    """
    options = options or {}
    first = warm if warm is not None else options
    found: dict[str, list[float]] = {}
    rates: list[float] = []
    for entry in entries:
        if entry.worker is None and not entry.absent:
            entry.begin(first if rounds > 1 else None)
            if rounds > 1:
                continue  # it has run by now
        entry.run(**first)
    for _ in range(rounds):
        rates.append(machine.rate())
        for entry in entries:
            entry.run(**options)
            if not entry.absent:
                found.setdefault(entry.name, []).append(entry.last["seconds"])
    return found, rates


def spread(values: Sequence[float], digits: int | None = None) -> str:
    """Give the median, and the least and the most in brackets."""
    show: Callable[[float], str] = short if digits is None else lambda v: f"{v:,.{digits}f}"
    if len(values) == 1:
        return show(values[0])
    return f"{show(statistics.median(values))} ({show(min(values))}-{show(max(values))})"


def short(value: float) -> str:
    """Give a number with three figures that count."""
    size = abs(value)
    return f"{value:,.{0 if size >= 100 else 1 if size >= 10 else 2 if size >= 0.1 else 4}f}"


def paired(
    over: Sequence[float], under: Sequence[float], work: float = 1.0, digits: int = 2
) -> str:
    """Give the median of ratios taken round by round: what slows a round slows both sides."""
    ratios = [work * a / b for a, b in zip(over, under, strict=False)]
    return f"{statistics.median(ratios):.{digits}f}" if ratios else "-"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]], left: int = 1) -> list[str]:
    """Make a Markdown table; the first `left` columns are text, the others numbers."""
    marks = ["---"] * left + ["---:"] * (len(heads) - left)
    return [line(row) for row in (heads, marks, *rows)]


def line(row: Sequence[str]) -> str:
    """Make one line of a Markdown table."""
    return "| " + " | ".join(row) + " |"
