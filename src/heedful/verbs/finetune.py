"""`heedful finetune`: more training of a model, on other data than it was made from."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful import config
from heedful.errors import ConfigError
from heedful.models.folder import Folder
from heedful.tasks import registry
from heedful.tasks.comparison import Compared, compare
from heedful.tasks.contract import Request, Task
from heedful.train.report import Report
from heedful.train.world import in_one_process
from heedful.verbs.evaluate import own_options
from heedful.verbs.train import train


def finetune(
    parent: Path,
    request: Request,
    old: Sequence[Path] = (),
    report: Report | None = None,
    started: float | None = None,
    **options: Any,
) -> Compared:
    """Train a model on with other data than it was made from.

    `old` is data to see on what it forgets; without it the model's own development set is taken.
    `options` are the task's. `request` says the new data, and where the new model goes.
    """
    in_one_process("finetune")
    report = report or Report()
    task = registry.of_folder(parent)
    if task.inherit is None:
        raise ConfigError(f"{parent}: a model for the task {task.name} cannot be fine-tuned")
    folder = Folder.open(parent, task.settings)
    settings = config.merge(task.inherit(folder, request.settings or {}), request.settings or {})
    read = request.columns, request.encoding
    known = task.rows(old, *read) if old else development_rows(task, folder)
    request = request.but(task=task.name)
    chosen = own_options(task, "finetune", options)
    if task.mix is not None:
        request = task.mix(request, folder, known, chosen, report)
    request = request.but(parent=parent, inherit="weights", settings=settings)
    result = train(request, report, started)
    if not result.finished:
        return Compared(result)
    new = development_rows(task, Folder.open(request.output, task.settings))
    sets = {"new data": new} | ({"old data": known} if known else {})
    return compare(parent, request.output, sets, result, report, request.threads)


def development_rows(task: Task, folder: Folder[Any]) -> Sequence[Any]:
    """Give the development rows of a model's training, if they are still there."""
    data = folder.path / "run" / "data"
    return task.reopen(folder, data).dev if (data / "report.json").exists() else []
