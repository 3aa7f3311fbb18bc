"""The commands around a training: plans, changes in the middle, and models made from models."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path

import pytest
from command import call, pairs, training, two_files
from test_commands import said, translated

from heedful.errors import DataError

SENTENCES = [s for s, _ in pairs(12, seed=7)]


def test_a_change_is_named_and_taken_or_refused(tmp_path: Path) -> None:
    files = two_files(tmp_path, 30)
    command = ["train", *files, "-o", tmp_path / "model"]
    assert call(*command, *training(steps=2)).code == 0
    called = call(*command, *training("train.lr=0.01", steps=4))
    assert called.code == 0
    assert "train.lr: 0.008 before, 0.01 now" in called.err.splitlines()
    log = (tmp_path / "model" / "run" / "log.jsonl").read_text(encoding="utf-8")
    notes = [r["text"] for r in map(json.loads, log.splitlines()) if r["kind"] == "note"]
    assert notes == ["train.lr: 0.008 before, 0.01 now", "train.steps: 2 before, 4 now"]
    text = files[0].read_text(encoding="utf-8")
    files[0].write_text(text.replace("the", "a"), encoding="utf-8")
    changed = call(*command, *training("train.lr=0.01", steps=4))
    assert changed.code == 2
    assert changed.mistake.startswith(f"{files[0]} has changed since the training began (sha256 ")
    files[0].write_text(text, encoding="utf-8")  # another time, the same text
    assert call(*command, *training("train.lr=0.01", steps=4)).code == 0
    files[0].unlink()
    gone = call(*command, *training("train.lr=0.01", steps=4))
    assert f"{files[0]} is gone; what was prepared from it is still there" in gone.err.splitlines()
    assert gone.code == 0


# -- before and after a training ------------------------------------------------------------


def test_a_plan_is_told(tmp_path: Path) -> None:
    lines = said(call("plan", *two_files(tmp_path), *training(), "--devices", 2))
    assert any(line.startswith("epochs that fit into") for line in lines)
    assert any(line.startswith("on 2 devices of 9.5 TFLOP/s at 30 %:") for line in lines)


def test_models_are_made_from_a_model(model: Path, tmp_path: Path) -> None:
    files = two_files(tmp_path, 30, "b")
    few = ["--set", "train.steps=2", "--threads", 1]
    tuned = call("finetune", model, *files, "-o", tmp_path / "tuned", "--mix", *files, *few)
    assert tuned.code == 0, tuned.err
    assert re.search(r"^BLEU, old data +\d+\.\d\d +\d+\.\d\d$", tuned.err, re.MULTILINE)
    taught = call("distill", model, files[0], "-o", tmp_path / "student", *few)
    assert taught.code == 0, taught.err
    assert re.search(r"^examples/s +\d+\.\d +\d+\.\d$", taught.err, re.MULTILINE)
    back = call("backtranslate", model, files[0], "-o", tmp_path / "back.tsv", "--threads", 1)
    assert back.code == 0
    assert f"pairs are in {tmp_path / 'back.tsv'}" in back.err
    sampled = call(
        *("backtranslate", model, files[0], "-o", tmp_path / "drawn.tsv", "--sample", "--beam", 1),
        *("--threads", 1),
    )
    assert sampled.code == 0
    assert (tmp_path / "drawn.tsv").read_bytes() != (tmp_path / "back.tsv").read_bytes()
    assert call("average", model, tmp_path / "tuned", "-o", tmp_path / "mean").code == 0
    assert len(translated(tmp_path / "mean", SENTENCES[0])) == 1


def test_the_minutes_of_a_student_count_from_the_commands_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[object] = []

    def distill(*arguments: object) -> None:
        given.extend(arguments)
        raise DataError("enough")

    monkeypatch.setattr("heedful.tasks.translation.distill.distill", distill)
    call("distill", "teacher", "text", "-o", tmp_path / "student", "--minutes", 3)
    assert isinstance(given[-1], float)
    assert 0 < time.time() - given[-1] < 24 * 3600
