"""A model used wrongly: one line and exit code 2, and the model stays as it was."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from command import Called, call, everything, training, two_files

from heedful.errors import ModelFolderError
from heedful.models.folder import Folder
from heedful.tasks.translation.model import open_folder


def told(called: Called) -> str:
    assert called.code == 2, called.err
    return called.mistake


def test_another_model_is_not_written_over(model: Path, tmp_path: Path) -> None:
    before = everything(model)
    other = two_files(tmp_path, 30, "b")
    assert told(call("train", *other, "-o", model, *training())) == (
        f"{model} holds a model trained with other files (a.en, a.fr, now b.en, b.fr); choose "
        f"another folder with -o, or repeat the command it was trained with to go on"
    )
    same = model.parent / "a.en", model.parent / "a.fr"
    changed = told(call("train", *same, "-o", model, *training("model.dropout=0.5")))
    assert changed == (
        f"{model} holds a model trained with another model.d_ff (48, now 24); choose another "
        f"folder with -o, or repeat the command it was trained with to go on"
    )
    assert everything(model) == before


def test_a_folder_made_elsewhere_is_not_trained_on(model: Path, tmp_path: Path) -> None:
    opened = open_folder(model)
    Folder.create(tmp_path / "other", opened.settings, opened.tables, opened.tokenizer)
    assert told(call("train", *two_files(tmp_path), "-o", tmp_path / "other", *training())) == (
        f"{tmp_path / 'other'} holds a model that was not trained here: "
        f"{tmp_path / 'other' / 'run' / 'request.json'} is missing; choose another folder with -o"
    )


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["--beam", "2", "--n-best", "5"],
            "n_best = 5 is more than beam = 2; raise the beam to match",
        ),
        (
            ["--beam", "999"],
            "decode.beam = 999 is out of range; "
            "expected a whole number, at least 1 and at most 512",
        ),
        (
            ["--max-length", "0"],
            "decode.max_length = 0 is out of range; expected a whole number, at least 1",
        ),
        (
            ["--sample", "--temperature", "0"],
            "--temperature = 0.0 is out of range; expected a number, above 0",
        ),
    ],
)
def test_bad_options_of_translate_are_told(model: Path, arguments: list[str], message: str) -> None:
    called = call("translate", model, "the dog", *arguments)
    assert told(called) == message
    assert called.out == ""


def test_standard_input_that_is_not_utf8_is_told(model: Path) -> None:
    given = "the dog\nle café\n".encode("latin-1")
    assert told(call("translate", model, "--threads", 1, given=given)) == (
        "line 2 of standard input is not UTF-8 (byte 0xe9); "
        "convert it first, for example with iconv"
    )


def test_a_damaged_model_is_refused_by_the_name_of_the_file(model: Path, tmp_path: Path) -> None:
    shutil.copytree(model, tmp_path / "model")
    weights = tmp_path / "model" / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1])
    message = told(call("translate", tmp_path / "model", "the dog"))
    assert message.startswith(f"{weights} is damaged: sha256 ")
    assert message.endswith("...; restore it or train again")
    assert told(call("info", tmp_path / "model")) == message
    weights.unlink()
    assert told(call("evaluate", tmp_path / "model", *two_files(tmp_path))) == (
        f"{weights} is missing; restore it or train again"
    )


def test_translations_that_cannot_be_written_are_told(model: Path, tmp_path: Path) -> None:
    one, two = two_files(tmp_path, 3)
    called = call("evaluate", model, one, two, "-o", one / "x" / "out.txt", "--threads", 1)
    assert told(called) == (
        f"{one / 'x' / 'out.txt'} cannot be written: Not a directory; choose another folder"
    )


def test_with_debug_the_traceback_comes_too(tmp_path: Path) -> None:
    with pytest.raises(
        ModelFolderError, match=r" does not exist; give the folder of a trained model$"
    ):
        call("--debug", "translate", tmp_path / "none", "x")
