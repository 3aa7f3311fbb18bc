"""A small model in a folder, for the tests of folders."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch

from heedful.errors import ModelFolderError
from heedful.models.folder import Folder, state
from heedful.models.transformer import Transformer
from heedful.settings import ModelSettings, TokenIds
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.settings import Settings

IDS = TokenIds(size=23, pad=22, start=22)
TABLES = {"ids": IDS.model_dump()}
SMALL = {"d_model": 6, "d_ff": 11, "n_heads": 3, "encoder_layers": 2, "decoder_layers": 1}
LISTED = ["config.toml", "tokenizer.model", "model.safetensors", "README.md"]


def settings(**model: object) -> Settings:
    return Settings(source="ko", model=ModelSettings.model_validate({**SMALL, **model}))


def make(path: Path, seed: int = 0, **model: object) -> tuple[Folder, Transformer]:
    folder = Folder.create(path, settings(**model), TABLES, {"tokenizer.model": b"pieces"})
    torch.manual_seed(seed)
    network = Transformer(folder.settings.model, IDS)
    folder.write_weights(state(network))
    folder.write_card("# card\n")
    return folder, network


def refusal(path: Path) -> str:
    with pytest.raises(ModelFolderError) as caught:
        open_folder(path)
    return str(caught.value)


def manifest(path: Path) -> dict[str, list[str]]:
    listed: dict[str, list[str]] = json.loads((path / "manifest.json").read_text())["files"]
    return listed


def same(a: Transformer, b: Transformer) -> bool:
    one, other = a.state_dict(), b.state_dict()
    return one.keys() == other.keys() and all(torch.equal(one[k], other[k]) for k in one)
