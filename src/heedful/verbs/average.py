"""`heedful average`: one model of several, or of the best checkpoints of one training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful.errors import DataError, ModelFolderError
from heedful.models.folder import Folder, card

__all__ = ["average"]


def average(models: Sequence[Path], output: Path) -> Folder:
    """Average the weights of models that are alike, or of the best checkpoints of one training."""
    from heedful.train.checkpoint import States, read_weights
    from heedful.train.checkpoint import average as mean

    folders = [Folder.open(model) for model in models]
    first = folders[0]
    for other in folders[1:]:
        if other.settings.model != first.settings.model or other.tokenizer != first.tokenizer:
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
        weights = _as_stored(mean(read_weights(*item) for item in kept.items()), first)
        what = f"the average of {len(kept)} checkpoints of {first.path.name}"
    else:
        weights = mean(folder.weights() for folder in folders)
        what = "the average of " + ", ".join(folder.path.name for folder in folders)
    made = Folder.create(output, first.settings, first.ids, first.tokenizer)
    made.write_weights(weights)
    made.write_card(card(first.settings, {"name": output.name, "weights": what}))
    return made


def _as_stored(weights: dict[str, Any], folder: Folder) -> dict[str, Any]:
    """Give weights of a training the names they have in a model folder."""
    import torch

    from heedful.models.folder import state
    from heedful.models.transformer import Transformer

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        model = Transformer(folder.settings.model, folder.ids)
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
    return state(model)
