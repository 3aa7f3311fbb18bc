"""A student of the smallest of models."""

from __future__ import annotations

import time
from pathlib import Path

from verbs_case import STEPS, Heard, write

from heedful.tasks.contract import Request
from heedful.tasks.translation.distill import distill
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.using import Translator
from heedful.verbs.train import train


def test_a_student_learns_what_its_teacher_says(parent: Path, tmp_path: Path) -> None:
    text = write(tmp_path, "mono", 9, 60)[0]
    heard = Heard()
    request = Request(files=(), output=tmp_path / "student", settings=STEPS, threads=1)
    found = distill(parent, text, request, train, heard, time.time())
    said = (tmp_path / "student.text" / "teacher.tsv").read_text(encoding="utf-8").splitlines()
    teacher = Translator.load(parent)
    for line in said[:5]:
        given, made = line.split("\t")
        assert teacher.translate([given]) == [made]
    assert found.parameters[1] <= found.parameters[0] / 3
    assert min(found.speed) > 0
    assert set(found.scores) == {"development set"}
    student = open_folder(tmp_path / "student")
    assert student.settings.model.d_model < 16
    assert student.tokenizer == open_folder(parent).tokenizer
