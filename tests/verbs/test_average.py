"""One model made of several."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from heedful.errors import DataError, ModelFolderError
from heedful.models.folder import Folder
from heedful.tasks.translation.model import load_model, open_folder
from heedful.verbs.average import average


def test_models_are_averaged(parent: Path, tmp_path: Path) -> None:
    first = open_folder(parent)
    other = Folder.create(tmp_path / "other", first.settings, first.tables, first.tokenizer)
    other.write_weights({name: t + 1 for name, t in first.weights().items()})
    made = average([parent, other.path], tmp_path / "mean")
    for name, tensor in made.weights().items():
        torch.testing.assert_close(tensor, first.weights()[name] + 0.5)
    assert open_folder(tmp_path / "mean").settings == first.settings
    mean = average([parent], tmp_path / "checkpoints")
    assert load_model(mean).parameters_total == load_model(first).parameters_total
    with pytest.raises(DataError, match="has kept 0 checkpoints of its training"):
        average([other.path], tmp_path / "none")
    settings = first.settings.model_copy(
        update={"model": first.settings.model.model_copy(update={"d_ff": 12})}
    )
    thin = Folder.create(tmp_path / "thin", settings, first.tables, first.tokenizer)
    with pytest.raises(ModelFolderError, match="has another shape or other pieces"):
        average([parent, thin.path], tmp_path / "none")
