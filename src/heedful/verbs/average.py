"""`heedful average`: one model of several, or of the best checkpoints of one training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful.errors import DataError, ModelFolderError
from heedful.models.folder import Folder, state
from heedful.tasks import registry
from heedful.tasks.card import card
from heedful.tasks.contract import Task


def average(models: Sequence[Path], output: Path) -> Folder[Any]:
    """Average the weights of models that are alike, or of the best checkpoints of one training."""
    from heedful.train.checkpoint import States, read_weights
    from heedful.train.checkpoint import average as mean

    task = registry.of_folder(models[0])
    folders = [Folder.open(model, registry.of_folder(model).settings) for model in models]
    first = folders[0]
    for other in folders[1:]:
        if _shape(other) != _shape(first):
            raise ModelFolderError(
                f"{other.path} has another shape or other pieces than {first.path}; "
                f"only models that differ in nothing but their weights can be averaged"
            )
    if len(folders) == 1:
        run = first.path / "run"
        said = (States(run / "state").facts() or {}).get("kept", [])
        kept = {run / "kept" / f"step-{k[0]:08d}.safetensors": k[2] for k in said if k[2]}
        if len(kept) < 2:
            raise DataError(
                f"{first.path} has kept {len(kept)} checkpoints of its training, and an average "
                f"needs two; give several models"
            )
        weights = _as_stored(mean(read_weights(*item) for item in kept.items()), first, task)
        what = f"the average of {len(kept)} checkpoints of {first.path.name}"
    else:
        weights = mean(folder.weights() for folder in folders)
        what = "the average of " + ", ".join(folder.path.name for folder in folders)
    made = Folder.create(
        output, first.settings, first.tables, {name: first.read(name) for name in first.others}
    )
    made.write_weights(weights)
    made.write_card(card(task, first.settings, {"name": output.name, "weights": what}))
    return made


def _shape(folder: Folder[Any]) -> Any:
    """Give everything two models must have in common, their weights apart."""
    settings = folder.settings.model_dump()
    files = [folder.digests[name] for name in folder.others]
    return settings["task"], settings.get("model"), folder.tables, files


def _as_stored(weights: dict[str, Any], folder: Folder[Any], task: Task) -> dict[str, Any]:
    """Give weights of a training the names they have in a model folder."""
    import torch

    from heedful.train.checkpoint import take_weights

    with torch.random.fork_rng(devices=[]):
        model = task.build(folder.settings, folder.tables)
    take_weights(model, weights)
    return state(model)
