"""The model of a translation folder: built from its settings, with its weights in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from heedful import config
from heedful.config import Raw
from heedful.models.folder import Folder, load_weights
from heedful.tasks.translation.settings import Settings

if TYPE_CHECKING:
    from heedful.models.transformer import Transformer


def build(settings: Settings, tables: Raw) -> Transformer:
    """Make a model with new weights."""
    from heedful.models.transformer import Transformer

    return Transformer(settings.model, config.token_ids(tables))


def open_folder(path: object) -> Folder[Settings]:
    """Open the folder of a translation model."""
    return Folder.open(str(path), Settings)


def load_model(folder: Folder[Settings]) -> Transformer:
    """Build the model of a folder, ready to translate."""
    import torch

    # The weights are overwritten: drawing them must not move the caller's random numbers.
    with torch.random.fork_rng(devices=[]):
        model = build(folder.settings, folder.tables)
    load_weights(model, folder)
    model.eval()
    return model
