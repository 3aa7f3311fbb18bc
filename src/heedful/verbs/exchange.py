"""`heedful export` and `heedful import`: a model for another tool, a model of another tool."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedful.errors import ConfigError, InterchangeError
from heedful.models.folder import Folder
from heedful.tasks import registry


def export_model(model: Path, to: str, output: Path) -> None:
    """Write a model for another tool; nothing half-written is left where that fails."""
    task = registry.of_folder(model)
    formats = {name: one.write for name, one in task.formats.items() if one.write}
    if to not in formats:
        there = ", ".join(formats) or "none: this task has no format of another tool"
        raise ConfigError(f"--to {to}: expected one of {there}")
    formats[to](model, output)


def import_model(path: Path, output: Path) -> Folder[Any]:
    """Make a model folder of a model of another tool, whichever task it is for."""
    readers = [
        (task, one)
        for task in registry.tasks().values()
        for one in task.formats.values()
        if one.read is not None
    ]
    claimed = [(task, one) for task, one in readers if one.claims is None or one.claims(path)]
    if not claimed:
        raise InterchangeError(f"{path} is no model of a tool that is known here")
    task, chosen = claimed[0]
    assert chosen.read is not None
    chosen.read(path, output)
    return Folder.open(output, task.settings)
