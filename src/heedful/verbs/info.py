"""`heedful info`: what a model folder holds, and what every setting means."""

from __future__ import annotations

import json
from pathlib import Path

from heedful.models.folder import Folder
from heedful.settings import Settings

__all__ = ["info", "settings_lines"]

TABLES = ("model", "tokenizer", "data", "train", "decode")


def info(model: Path) -> list[str]:
    """Open a folder, check that it is whole, and describe it in lines."""
    folder = Folder.open(model)
    weights = folder.weights()
    settings = folder.settings
    lines = [
        f"{model}: {settings.task}, {settings.source} to {settings.target}",
        f"{sum(t.numel() for t in weights.values()):,} parameters in {len(weights)} tensors, "
        f"{folder.ids.size:,} pieces",
    ]
    for table in TABLES:
        values = getattr(settings, table).model_dump(exclude_none=True)
        lines.append(f"[{table}]")
        lines += [f"  {key} = {value}" for key, value in values.items()]
    return lines


def settings_lines() -> list[str]:
    """List every setting with its default and its explanation, as `settings.py` has them."""
    lines = []
    for table in TABLES:
        lines.append(f"[{table}]")
        for key, field in type(getattr(Settings(), table)).model_fields.items():
            default = "" if field.default is None else f" = {json.dumps(field.default)}"
            meaning = " ".join((field.description or "").split())
            lines.append(f"  {key + default:<30}  {meaning}")
    return lines
