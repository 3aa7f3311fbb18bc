"""What the version before the one spine made still opens, goes on and answers."""

from __future__ import annotations

import json
import tarfile
from pathlib import Path

import pytest
from command import call

import heedful
from heedful import files
from heedful.tasks.translation.model import open_folder
from heedful.verbs.request import changes, fingerprints, read_request, write_request

BEFORE = Path(__file__).parents[2] / "before"


def unpacked(name: str, folder: Path) -> Path:
    with tarfile.open(BEFORE / f"{name}.tar.xz") as packed:
        packed.extractall(folder, filter="data")
    return folder / name


@pytest.fixture
def halfdone(tmp_path: Path) -> Path:
    return unpacked("halfdone", tmp_path)


def test_a_folder_of_format_1_opens_answers_and_scores_as_it_did(
    tmp_path: Path, halfdone: Path
) -> None:
    model = unpacked("finished", tmp_path)
    assert open_folder(model).settings.model.d_model == 16
    numbers = [str(halfdone.parent / f"numbers.{language}") for language in ("en", "ko")]
    called = call("evaluate", model, *numbers, "--engine", "torch", "--threads", 1, "--json")
    assert json.loads(called.out)["perplexity"] == pytest.approx(24.9541, abs=1e-3)
    assert call("info", model).out.startswith(f"{model}: translation, en to ko\n")
    right, wrong = heedful.load(model).score(["one"] * 2, ["하나", "둘 셋 넷 다섯"])
    assert right[0] > wrong[0]
    assert call("explain", model, "one two", "-o", tmp_path / "page.html").code == 0
    assert call("export", model, "--to", "huggingface", "-o", tmp_path / "out").code == 0


def test_a_run_begun_before_and_killed_goes_on_though_it_was_moved(halfdone: Path) -> None:
    texts = [halfdone.parent / f"numbers.{language}" for language in ("en", "ko")]
    log = halfdone / "run" / "log.jsonl"
    had = log.read_text(encoding="utf-8").splitlines()
    called = call("train", *texts, "-o", halfdone, "--set", "train.steps=40", "--threads", 1)
    assert called.code == 0, called.err
    assert "going on with the training" in called.err
    assert "nearest training sentence: " in called.err
    lines = log.read_text(encoding="utf-8").splitlines()
    kept = [line for line in had if json.loads(line)["step"] <= 20]
    assert lines[: len(kept)] == kept
    steps = [json.loads(line)["step"] for line in lines]
    assert steps == sorted(steps)
    assert steps[-1] == 40
    assert files.read_sealed(halfdone / "run" / "done.json")["step"] == 40
    assert call("translate", halfdone, "one", "--engine", "torch").code == 0


def test_a_moved_run_with_other_text_is_refused(halfdone: Path) -> None:
    texts = [halfdone.parent / f"numbers.{language}" for language in ("en", "ko")]
    texts[0].write_text("something else\n", encoding="utf-8")
    called = call("train", *texts, "-o", halfdone, "--set", "train.steps=40")
    assert called.code == 2
    assert "holds a model trained with other files" in called.mistake


def test_the_same_file_with_other_columns_or_in_another_set_has_not_moved(tmp_path: Path) -> None:
    table, text = tmp_path / "a.tsv", tmp_path / "b.tsv"
    table.write_text("one\t하나\t1\n", encoding="utf-8")
    text.write_text("two\t둘\t2\n", encoding="utf-8")
    begun = heedful.Request([Path(f"{table}:1,2"), text], tmp_path / "m")
    kept = tmp_path / "request.json"
    write_request(begun, kept, fingerprints(begun.files))
    for other in (
        begun.but(files=(Path(f"{table}:2,1"), text)),
        begun.but(files=begun.files[:1], dev=(text,)),
    ):
        with pytest.raises(heedful.ModelFolderError, match=r"trained with other (files|dev)"):
            changes(other, read_request(kept), heedful.Settings())
    moved = text.rename(tmp_path / "c.tsv")
    changes(begun.but(files=(begun.files[0], moved)), read_request(kept), heedful.Settings())


def test_test_data_without_text_in_its_columns_is_refused_and_nothing_is_left(
    tmp_path: Path, halfdone: Path
) -> None:
    texts = [halfdone.parent / f"numbers.{language}" for language in ("en", "ko")]
    (tmp_path / "t.tsv").write_text("one\t하나\n", encoding="utf-8")
    called = call("train", *texts, "-o", tmp_path / "m", "--test", f"{tmp_path}/t.tsv:1,7")
    assert called.code == 2
    assert "has no pair with text on both sides" in called.mistake
    assert not (tmp_path / "m").exists()


def test_files_and_output_of_a_request_may_be_given_by_place() -> None:
    texts, dev = [Path("a.en"), Path("a.ko")], [Path("b.tsv")]
    named = heedful.Request(files=texts, output=Path("m"), dev=dev, source="en")
    assert heedful.Request(texts, Path("m"), dev, source="en") == named
    assert named.files == tuple(texts)


def test_an_option_evaluate_no_longer_has_is_refused_in_one_line(
    tmp_path: Path, halfdone: Path
) -> None:
    model = unpacked("finished", tmp_path)
    texts = [halfdone.parent / f"numbers.{language}" for language in ("en", "ko")]
    with pytest.raises(heedful.ConfigError) as error:
        heedful.evaluate(model, source=texts[0], reference=texts[1])
    assert str(error.value) == (
        "evaluate has no option reference for the task translation; expected beam, tokenize; "
        "files are given by place"
    )


@pytest.mark.parametrize("beam", [0, 513])
def test_a_beam_that_cannot_be_is_refused_before_anything_is_served(
    tmp_path: Path, beam: int
) -> None:
    called = call("serve", unpacked("finished", tmp_path), "--beam", beam, "--port", 0)
    assert called.code == 2
    assert called.mistake.startswith("Invalid value for '--beam'")


def test_text_that_cannot_be_translated_back_leaves_nothing(tmp_path: Path) -> None:
    model, text = unpacked("finished", tmp_path), tmp_path / "empty.ko"
    text.write_text("", encoding="utf-8")
    called = call("backtranslate", model, text, "-o", tmp_path / "made" / "more.tsv")
    assert called.code == 2
    assert "is empty" in called.mistake
    called = call("backtranslate", model, text, "-o", tmp_path / "more.tsv")
    assert called.code == 2
    assert not list(tmp_path.glob("more*"))
