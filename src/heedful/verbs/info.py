"""`heedful info`: what a model folder holds."""

from __future__ import annotations

from pathlib import Path

from heedful.models.folder import Folder

__all__ = ["info"]


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
    for table in ("model", "tokenizer", "data", "train", "decode"):
        values = getattr(settings, table).model_dump(exclude_none=True)
        lines.append(f"[{table}]")
        lines += [f"  {key} = {value}" for key, value in values.items()]
    return lines
