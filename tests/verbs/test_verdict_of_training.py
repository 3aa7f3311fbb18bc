"""Every training ends with a verdict, and what it says can be had again from the folder."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from verbs_case import SMALL, Heard, write

import heedful
from heedful import files
from heedful.config import merge
from heedful.models.folder import Folder
from heedful.tasks import registry
from heedful.tasks.contract import How, Request, Result
from heedful.tasks.translation.judging import apart
from heedful.verbs.train import train

SHORT = merge(SMALL, {"train": {"steps": 2, "evaluate_every": 1}})


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[Request, Result, list[str]]:
    folder, heard = tmp_path_factory.mktemp("verdict"), Heard()
    request = Request(
        files=write(folder, "old", 1),
        test=write(folder, "test", 7, 31),
        output=folder / "model",
        settings=SHORT,
        threads=1,
    )
    return request, train(request, heard), heard.told


def again(folder: Path, rows: list[tuple[str, str]]) -> float:
    """Score the simple thing opened from the folder alone, through the task."""
    task = registry.of_folder(folder)
    answers = task.answer(task.open(folder, How(simple=True)), rows, {})
    return task.judge(answers, rows, Folder.open(folder, task.settings).settings, {})[0].value


def test_the_sentence_is_told_written_down_and_true(
    trained: tuple[Request, Result, list[str]],
) -> None:
    request, result, told = trained
    verdict = result.verdict
    assert verdict is not None
    assert (verdict.examples, verdict.where) == (31, "test set")
    assert verdict.sentence() in told
    assert verdict.sentence().startswith("nearest training sentence: BLEU ")
    assert verdict.sentence() in (result.folder / "README.md").read_text(encoding="utf-8")
    kept = files.read_sealed(result.folder / "run" / "done.json")["verdict"]
    assert kept == json.loads(json.dumps(verdict.facts()))
    task = registry.of_folder(result.folder)
    rows = task.rows(request.test, None, "utf-8")
    assert again(result.folder, rows) == verdict.simple
    assert result.scores["test"][0].value == verdict.model
    assert verdict.better == "simple"  # two steps teach a Transformer nothing


def test_without_a_test_set_it_is_judged_on_what_chose_nothing(tmp_path: Path) -> None:
    dev = write(tmp_path, "dev", 5, 30)
    request = Request(
        files=write(tmp_path, "old", 1),
        dev=dev,
        output=tmp_path / "model",
        settings=SHORT,
        threads=1,
    )
    result = train(request)
    task = registry.of_folder(result.folder)
    rows = task.rows(dev, None, "utf-8")
    held = [row for row, out in zip(rows, apart(rows), strict=True) if out]
    assert result.verdict is not None
    assert result.verdict.examples == len(held) == 10
    assert result.verdict.where == "part of the development set that chose nothing"
    assert again(result.folder, held) == result.verdict.simple
    tried = json.loads((result.folder / "simple.json").read_text(encoding="utf-8"))["tried"]
    choosing = [row for row in rows if row not in held]
    assert max(value for _, value in tried) == again(result.folder, choosing)


def test_the_same_training_keeps_the_same_simple_thing(
    trained: tuple[Request, Result, list[str]], tmp_path: Path
) -> None:
    request, result, _ = trained
    other = train(request.but(output=tmp_path / "other"))
    for name in ("simple.json", "simple.tsv.gz"):
        assert (other.folder / name).read_bytes() == (result.folder / name).read_bytes()


def test_a_development_set_of_one_gives_no_verdict_and_says_so(tmp_path: Path) -> None:
    heard = Heard()
    files_ = write(tmp_path, "few", 1, 30)
    dev = write(tmp_path, "dev", 2, 1)
    request = Request(files=files_, dev=dev, output=tmp_path / "m", settings=SHORT, threads=1)
    assert train(request, heard).verdict is None
    said = "nearest training sentence: no verdict, for no example could be kept apart; "
    assert f"{said}give a test set" in heard.told
    assert len(heedful.load(tmp_path / "m", simple=True).translate(["The dog."])) == 1
