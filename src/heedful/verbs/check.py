"""`heedful check`: the data doctor."""

from __future__ import annotations

from heedful.tasks import registry
from heedful.tasks.contract import Findings, Request
from heedful.train.report import Report, SilentReport

__all__ = ["check"]


def check(request: Request, report: Report | None = None) -> Findings:
    """Examine the data a training would read, and say what is wrong with it, worst first."""
    task, _ = registry.recognise(request.files, request.columns, request.task)
    return task.examine(request, report or SilentReport())
