from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from folder_case import LISTED, make, manifest, refusal, same

from heedful import files
from heedful.errors import ConfigError, ModelFolderError
from heedful.models import folder as folders
from heedful.models.folder import Folder, state
from heedful.tasks.translation.model import load_model, open_folder
from heedful.tasks.translation.settings import Settings


def cut(path: Path) -> None:
    path.write_bytes(path.read_bytes()[:-1])


def empty(path: Path) -> None:
    path.write_bytes(b"")


def flip(path: Path) -> None:
    data = bytearray(path.read_bytes())
    data[len(data) // 2] ^= 1
    path.write_bytes(data)


@pytest.mark.parametrize("name", LISTED)
@pytest.mark.parametrize("harm", [cut, empty, flip])
def test_a_damaged_file_is_refused_by_name(
    tmp_path: Path, name: str, harm: Callable[[Path], None]
) -> None:
    made, _ = make(tmp_path / "model")
    file = made.path / name
    wanted = files.sha256(file)
    harm(file)
    assert refusal(made.path) == (
        f"{file} is damaged: sha256 {files.sha256(file)[:12]}..., expected {wanted[:12]}...; "
        f"restore it or train again"
    )


@pytest.mark.parametrize("name", LISTED)
def test_a_missing_file_is_refused_by_name(tmp_path: Path, name: str) -> None:
    made, _ = make(tmp_path / "model")
    (made.path / name).unlink()
    assert refusal(made.path) == f"{made.path / name} is missing; restore it or train again"


def test_weights_damaged_after_opening_are_refused_too(tmp_path: Path) -> None:
    made, _ = make(tmp_path / "model")
    flip(made.path / "model.safetensors")
    with pytest.raises(ModelFolderError, match=r"model\.safetensors is damaged: sha256"):
        load_model(made)


def test_a_folder_of_a_newer_format_is_refused(tmp_path: Path) -> None:
    made, _ = make(tmp_path / "model")
    newer = {"format": 7, "heedful": "9.0", "files": {"other.thing": ["0"]}}
    files.write_sealed(made.path / "manifest.json", newer)
    assert refusal(made.path) == (
        f"{made.path} was made by a newer Heedful (format 7, this version reads up to 1); upgrade"
    )
    assert Folder.exists(made.path)


@pytest.mark.parametrize("text", ["", "{", "[]", '{"format": 1, "files": {}}', "\udcff"])
def test_a_damaged_manifest_is_refused(tmp_path: Path, text: str) -> None:
    made, _ = make(tmp_path / "model")
    file = made.path / "manifest.json"
    file.write_text(text, "utf-8", errors="surrogateescape")
    assert refusal(made.path) == (
        f"{file} is damaged: it is not what was written; restore it or train again"
    )


@pytest.mark.parametrize(
    "facts",
    [
        {"format": 1},
        {"format": 0, "files": {}},
        {"format": "1", "files": {}},
        {"format": 1, "files": ["config.toml"]},
        {"format": 1, "files": {"config.toml": 3}},
        {"format": 1, "files": {"config.toml": []}},
        {"format": 1, "files": {"../config.toml": ["0"]}},
    ],
)
def test_a_manifest_of_something_else_is_refused(tmp_path: Path, facts: dict[str, object]) -> None:
    made, _ = make(tmp_path / "model")
    file = made.path / "manifest.json"
    files.write_sealed(file, facts)
    assert refusal(made.path) == (
        f"{file} is damaged: it does not list the files of a model; restore it or train again"
    )


def test_what_is_no_model_folder_is_told_as_what_it_is(tmp_path: Path) -> None:
    nothing, file, other = tmp_path / "nothing", tmp_path / "file", tmp_path / "other"
    file.write_text("text")
    other.mkdir()
    assert refusal(nothing) == f"{nothing} does not exist; give the folder of a trained model"
    assert refusal(file) == f"{file} is a file; give the folder of a trained model"
    assert refusal(other) == (
        f"{other} is not a model folder: it has no manifest.json; "
        f"give a folder that `heedful train` wrote"
    )
    assert not any(Folder.exists(p) for p in (nothing, file, other))


def test_a_folder_closed_to_us_is_told_as_that(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*args: object, **options: object) -> None:
        raise PermissionError(13, "Permission denied")

    made, _ = make(tmp_path / "model")
    message = r"^%s cannot be read: Permission denied; check it and its permissions$"
    with monkeypatch.context() as patched:
        patched.setattr(Path, "stat", refuse)  # the tests may run as root, whom no mode stops
        for call in (open_folder, Folder.exists):
            with pytest.raises(ModelFolderError, match=message % re.escape(str(made.path))):
                call(made.path)
    with monkeypatch.context() as patched:
        patched.setattr(Path, "read_bytes", refuse)
        file = re.escape(str(made.path / "manifest.json"))
        with pytest.raises(ModelFolderError, match=message % file):
            made.weights()


def test_a_setting_this_version_does_not_know_is_told_with_its_file(tmp_path: Path) -> None:
    made, _ = make(tmp_path / "model")
    file = made.path / "config.toml"
    file.write_text(file.read_text() + "\n[magic]\nwand = 1\n")
    listed = manifest(made.path)
    folders._write_manifest(made.path, {**listed, "config.toml": [files.sha256(file)]})
    with pytest.raises(ConfigError) as caught:
        open_folder(made.path)
    assert str(caught.value) == (
        f"{file}: magic.wand is not a setting; expected one of {', '.join(Settings.model_fields)}"
    )


def test_weights_that_do_not_belong_to_the_settings_are_refused_by_name(tmp_path: Path) -> None:
    made, network = make(tmp_path / "model")
    good = state(network)
    file = made.path / "model.safetensors"
    first = next(n for n in good if n.startswith("encoder."))
    second = next(n for n in good if n.startswith("decoder."))

    def told(tensors: dict[str, torch.Tensor]) -> str:
        made.write_weights(tensors)
        with pytest.raises(ModelFolderError) as caught:
            load_model(made)
        return str(caught.value)

    advice = "restore both or train again"
    assert told({n: t for n, t in good.items() if n != first}) == (
        f"{file} lacks {first}, going by config.toml; {advice}"
    )
    assert told({n: t for n, t in good.items() if n not in (first, second)}) == (
        f"{file} lacks {first} and 1 more, going by config.toml; {advice}"
    )
    assert told({**good, "extra": torch.zeros(2)}) == (
        f"{file} should not have extra, going by config.toml; {advice}"
    )
    assert told({**good, "target_embedding.weight": torch.zeros(19, 6)}) == (
        f"{file} does not fit config.toml: target_embedding.weight is 19 x 6, expected 23 x 6; "
        f"{advice}"
    )
    made.write_weights(good)
    assert same(load_model(made), network)


def test_a_listed_file_that_is_no_safetensors_is_refused(tmp_path: Path) -> None:
    made, _ = make(tmp_path / "model")
    file = made.path / "model.safetensors"
    file.write_bytes(b"something else")
    folders._write_manifest(made.path, {**manifest(made.path), file.name: [files.sha256(file)]})
    with pytest.raises(ModelFolderError, match=r"model\.safetensors is not a safetensors file: "):
        open_folder(made.path).weights()
