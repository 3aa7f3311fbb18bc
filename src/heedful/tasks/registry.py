"""The tasks there are: ours by name, and those that other packages bring.

A package of its own adds a task through the entry point group `heedful.tasks`, whose entries name
a `Task`; a program adds one with `heedful.tasks.register`.
"""

from __future__ import annotations

import difflib
import importlib
import logging
from collections.abc import Callable, Sequence
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from heedful.errors import ConfigError, DataError
from heedful.models.folder import task_of
from heedful.tasks.contract import Columns, How, Task

OURS = {"translation": "heedful.tasks.translation:TASK"}
"""Where each of our tasks is."""
GROUP = "heedful.tasks"

logger = logging.getLogger("heedful")

_registered: dict[str, Task] = {}


def register(task: Task) -> None:
    """Add a task, or put another one in its place."""
    _registered[task.name] = task


def tasks() -> dict[str, Task]:
    """Give every task by its name: ours first, then those of other packages."""
    for name, place in OURS.items():
        if name not in _registered:
            module, _, attribute = place.partition(":")
            register(getattr(importlib.import_module(module), attribute))
    for entry in _installed():
        if entry.name not in _registered:
            try:
                register(entry.load())
            except Exception as error:
                raise ConfigError(
                    f"the task {entry.name} of {entry.value} cannot be loaded: {error}; mend or "
                    f"uninstall that package"
                ) from error
    return dict(_registered)


@cache
def _installed() -> tuple[EntryPoint, ...]:
    return tuple(entry_points(group=GROUP))


def find(name: str) -> Task:
    """Give a task by its name."""
    there = tasks()
    if name not in there:
        near = difflib.get_close_matches(name, there, n=1)
        advice = f"did you mean {near[0]}?" if near else f"expected one of {', '.join(there)}"
        raise ConfigError(f"--task {name}: there is no such task; {advice}")
    return there[name]


def of_folder(path: str | Path) -> Task:
    """Give the task a model folder was trained for."""
    name = task_of(path)
    there = tasks()
    if name not in there:
        raise ConfigError(
            f"{path} is a model for the task {name}, which is not installed here; "
            f"there is {', '.join(there)}"
        )
    return there[name]


def recognise(
    files: Sequence[Path], columns: Columns | None, given: str | None = None
) -> tuple[Task, str]:
    """Find the task that data is for, by its shape, and say why; one that is `given` is taken.

    What fits two tasks is for a person to say, never guessed.
    """
    if given is not None:
        find(given).check_columns(columns)
        return find(given), ""
    there = tasks()
    found = [(task, why) for task in there.values() if (why := task.claims(files, columns))]
    if len(found) == 1:
        found[0][0].check_columns(columns)
        return found[0]
    named = " ".join(map(str, files))
    if not found:
        if len(there) == 1:
            (only,) = there.values()
            only.check_columns(columns)
            return only, ""  # which says best what it misses
        raise DataError(
            f"{named}: no task is known by data like this; name it with --task: {', '.join(there)}"
        )
    both = ", ".join(f"--task {task.name} ({why})" for task, why in found)
    raise DataError(f"{named} could be several things; say which: {both}")


def load(path: str | Path, note: Callable[[str], object] = logger.info, **how: Any) -> Any:
    """Open any model folder to be used: a `Translator`, or what else its task gives.

    `how` may say the engine, compute, threads, and whether the simple thing shall answer.
    """
    return of_folder(path).open(Path(path), How(note=note, **how))
