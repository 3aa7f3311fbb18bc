"""`heedful info`: what a model folder holds, and what every setting means."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from heedful.models.folder import Folder
from heedful.settings import Table, TaskSettings
from heedful.tasks import registry


def info(model: Path) -> dict[str, Any]:
    """Open a folder, check that it is whole, and describe it."""
    task = registry.of_folder(model)
    folder = Folder.open(model, task.settings)
    weights = folder.weights()
    return {
        "task": task.name,
        "about": task.told(folder.settings),
        "parameters": sum(tensor.numel() for tensor in weights.values()),
        "tensors": len(weights),
        "settings": folder.settings.model_dump(exclude_none=True),
        **folder.tables,
    }


def info_lines(model: Path) -> list[str]:
    """Put it into lines."""
    facts = info(model)
    counted = f"{facts['parameters']:,} parameters in {facts['tensors']} tensors"
    if "ids" in facts:
        counted += f", {facts['ids']['size']:,} pieces"
    lines = [f"{model}: {', '.join(filter(None, (facts['task'], facts['about'])))}", counted]
    for table, values in facts["settings"].items():
        if isinstance(values, dict):
            lines.append(f"[{table}]")
            lines += [f"  {key} = {value}" for key, value in values.items()]
    return lines


def settings_lines(settings: type[TaskSettings]) -> list[str]:
    """List every setting of a task with its default and its explanation."""
    lines = []
    for name, table in settings.model_fields.items():
        kind = table.annotation
        if not (isinstance(kind, type) and issubclass(kind, Table)):
            continue
        lines.append(f"[{name}]")
        for key, field in kind.model_fields.items():
            default = "" if field.default is None else f" = {json.dumps(field.default)}"
            meaning = " ".join((field.description or "").split())
            lines.append(f"  {key + default:<30}  {meaning}")
    return lines
