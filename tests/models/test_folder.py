from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from folder_case import IDS, LISTED, TABLES, make, same, settings
from safetensors import safe_open
from safetensors.torch import load_file

from heedful import __version__, config, files
from heedful.data.tokenizer import JOINT
from heedful.errors import ModelFolderError
from heedful.models import folder as folders
from heedful.models.folder import Folder, state
from heedful.tasks.translation.model import load_model, open_folder


@pytest.mark.parametrize(
    "variant",
    [
        {},
        {"share_output": False, "output_bias": True},
        {"share_embeddings": False, "norm": "pre"},
        {"share_embeddings": False, "share_output": False, "positions": "learned"},
        {"attention": "additive", "d_head": 5, "d_value": 7},
    ],
)
def test_a_model_comes_back_bit_by_bit(tmp_path: Path, variant: dict[str, object]) -> None:
    made, network = make(tmp_path / "a" / "model", **variant)
    opened = open_folder(made.path)
    assert opened == made
    again = load_model(opened)
    assert same(again, network)
    assert not again.training
    source, lengths = torch.tensor([[3, 5, 7]]), torch.tensor([3])
    target = torch.tensor([[22, 2]])
    assert torch.equal(again(source, lengths, target), network.eval()(source, lengths, target))


def test_the_folder_holds_what_the_design_says_and_lists_it(tmp_path: Path) -> None:
    make(tmp_path / "model")
    assert sorted(p.name for p in (tmp_path / "model").iterdir()) == sorted(
        [*LISTED, "manifest.json"]
    )
    written = json.loads((tmp_path / "model" / "manifest.json").read_text())
    assert (written["format"], written["heedful"]) == (1, __version__)
    assert written["files"] == {n: [files.sha256(tmp_path / "model" / n)] for n in LISTED}
    assert config.read(tmp_path / "model" / "config.toml")["format"] == 1


def test_a_folder_of_an_older_format_opens_and_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made, network = make(tmp_path / "model")
    for module in (folders, config):
        monkeypatch.setattr(module, "FORMAT_VERSION", 2)
    opened = open_folder(made.path)
    assert same(load_model(opened), network)
    opened.write_weights(state(network))
    assert same(load_model(open_folder(made.path)), network)


@pytest.mark.parametrize(
    ("variant", "stored"),
    [
        ({}, {"target_embedding.weight"}),
        ({"share_output": False}, {"target_embedding.weight", "output_weight"}),
        ({"share_embeddings": False}, {"target_embedding.weight", "source_embedding.weight"}),
    ],
)
def test_a_tied_matrix_is_stored_once_and_tied_again(
    tmp_path: Path, variant: dict[str, object], stored: set[str]
) -> None:
    made, network = make(tmp_path / "model", **variant)
    tensors = load_file(made.path / "model.safetensors")
    wide = {name for name, tensor in tensors.items() if tensor.shape == (IDS.size, 6)}
    assert wide == stored
    assert sum(t.numel() for t in tensors.values()) == network.parameters_total
    assert load_model(made).parameters_total == network.parameters_total


def test_loading_leaves_the_random_numbers_of_a_run_alone(tmp_path: Path) -> None:
    made, _ = make(tmp_path / "model")
    torch.manual_seed(5)
    expected = torch.rand(3)
    torch.manual_seed(5)
    load_model(made)
    assert torch.equal(torch.rand(3), expected)


def test_opening_a_folder_imports_no_torch(tmp_path: Path) -> None:
    make(tmp_path / "model")
    code = (
        "import sys; from heedful.tasks.translation.model import open_folder; "
        "open_folder(sys.argv[1]); "
        "print('torch' in sys.modules)"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "model")], capture_output=True, check=True
    )
    assert ran.stdout == b"False\n"


def test_nothing_in_the_folder_is_a_pickle(tmp_path: Path) -> None:
    made, _ = make(tmp_path / "model")
    for name in [*LISTED, "manifest.json"]:
        start = (made.path / name).read_bytes()[:4]
        assert not start.startswith((b"\x80", b"PK"))  # a pickle, a torch.save archive
    source = Path(folders.__file__).read_text()
    assert "pickle" not in source
    assert "torch.load" not in source


def test_the_same_weights_make_the_same_file(tmp_path: Path) -> None:
    made, network = make(tmp_path / "model")
    before = (made.path / "model.safetensors").read_bytes()
    made.write_weights(state(network))
    assert (made.path / "model.safetensors").read_bytes() == before
    with safe_open(made.path / "model.safetensors", "pt") as file:
        assert file.metadata() == {"format": "pt"}


def test_files_can_be_read_by_whomever_the_umask_lets(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        made, _ = make(tmp_path / "model")
    finally:
        os.umask(before)
    modes = {p.name: p.stat().st_mode & 0o777 for p in made.path.iterdir()}
    assert set(modes.values()) == {0o640}, modes


def test_a_folder_just_begun_opens_but_has_no_weights_yet(tmp_path: Path) -> None:
    Folder.create(
        tmp_path, settings(), TABLES, {JOINT: b"pieces"}
    )  # an empty folder that was there
    with pytest.raises(ModelFolderError) as caught:
        open_folder(tmp_path).weights()
    assert str(caught.value) == (
        f"{tmp_path} has no model.safetensors yet; let the training run until it has saved one"
    )


def test_a_folder_with_a_model_is_not_written_over(tmp_path: Path) -> None:
    made, _ = make(tmp_path / "model")
    assert Folder.exists(made.path)
    with pytest.raises(ModelFolderError) as caught:
        Folder.create(made.path, settings(), TABLES, {JOINT: b"others"})
    assert str(caught.value) == (
        f"{made.path} already holds a model; remove it or choose another folder"
    )
    assert open_folder(made.path) == made


@pytest.mark.parametrize("name", ["thesis.txt", "config.toml", "manifest.json"])
def test_a_folder_with_other_things_is_not_touched(tmp_path: Path, name: str) -> None:
    (tmp_path / name).write_text('{"short_name": "a web page has one too"}')
    assert not Folder.exists(tmp_path)
    with pytest.raises(ModelFolderError) as caught:
        Folder.create(tmp_path, settings(), TABLES, {JOINT: b"pieces"})
    assert str(caught.value) == (
        f"{tmp_path} holds other things, {name} among them; choose a new or empty folder"
    )
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_a_file_is_no_place_for_a_model(tmp_path: Path) -> None:
    file = tmp_path / "model"
    file.write_text("text")
    with pytest.raises(ModelFolderError) as caught:
        Folder.create(file, settings(), TABLES, {JOINT: b"pieces"})
    assert str(caught.value) == f"{file} is a file; choose the name of a new folder"
    with pytest.raises(ModelFolderError) as caught:
        Folder.create(file / "below", settings(), TABLES, {JOINT: b"pieces"})
    assert str(caught.value) == (
        f"{file / 'below'} cannot be written: Not a directory; choose another folder"
    )
