"""What a person sees: a live display on a terminal, plain lines elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Mapping
from typing import Any

from heedful.train.report import PlainReport, Report, evaluation_lines


def say(text: str) -> None:
    """Tell a person something beside the output; what begins with `heedful:` is a mistake."""
    print(text, file=sys.stderr)


def make_report() -> Report:
    """Choose how to show progress: live on a terminal, plain lines otherwise.

    Of several processes that train together only the first speaks.
    """
    from heedful.train.world import World

    if not World.of_environment().lead:
        return Report()
    return LiveReport() if sys.stderr.isatty() else PlainReport()


class LiveReport(Report):
    """A progress bar that stays at the bottom while lines scroll by above it."""

    def __init__(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TextColumn

        self._console = Console(stderr=True, highlight=False)
        self._bar = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            TextColumn("{task.percentage:3.0f} %"),
            TextColumn("{task.fields[details]}"),
            console=self._console,
            transient=True,
        )
        self._task: Any = None
        self._what = ""
        self._started = False

    def note(self, text: str) -> None:
        """Say one line."""
        self._console.print(text, markup=False)

    def progress(self, what: str, done: float, total: float, details: str = "") -> None:
        """Move the bar."""
        if not self._started:
            self._bar.start()
            self._started = True
        if what != self._what:
            if self._task is not None:
                self._bar.remove_task(self._task)
            self._task = self._bar.add_task(what, total=total or None, details="")
            self._what = what
        self._bar.update(self._task, completed=done, total=total or None, details=details)

    def evaluated(self, record: Mapping[str, Any]) -> None:
        """Show the scores of an evaluation, and its samples."""
        for line in evaluation_lines(record):
            self.note(line)

    def close(self) -> None:
        """Take the bar away."""
        if self._started:
            self._bar.stop()
            self._started = False
