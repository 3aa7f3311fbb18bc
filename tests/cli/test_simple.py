"""`heedful translate --simple`: the simple thing that was fitted beside the model."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from command import Trained, call


def sides(trained: Trained) -> list[list[str]]:
    return [
        Path(str(path)).read_text(encoding="utf-8").splitlines() for path in trained.command[1:3]
    ]


def test_a_sentence_of_the_training_gets_its_own_translation(trained: Trained) -> None:
    sources, targets = sides(trained)
    given = "\n".join([*sources[:19], "", sources[19]])
    lines = call("translate", trained.model, "--simple", given=given).out.splitlines()
    assert len(lines) == 21
    assert lines.pop(19) == ""
    # a twentieth of the pairs was held out
    assert sum(a == b for a, b in zip(lines, targets, strict=False)) >= 17


def test_the_end_of_a_training_tells_how_to_use_it(trained: Trained) -> None:
    told = trained.called.err
    assert re.search(
        r"^nearest training sentence: BLEU .* examples? of the part of the ", told, re.M
    )


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--n-best", 3, "--scores"], "--beam"),
        (["--prefix", "Le"], "--prefix"),
        (["--sample"], "--sample"),
        (["--scores"], "--scores"),
        (["--beam", 2], "--beam"),
    ],
)
def test_what_only_a_model_has_is_refused_in_a_line(
    trained: Trained, options: list[object], told: str
) -> None:
    called = call("translate", trained.model, "--simple", "A dog.", *options)
    assert called.code == 2
    assert called.mistake == (
        f"{told}: the simple thing has one translation of a line and does not search; "
        f"leave that out, or --simple"
    )


def test_a_model_without_it_says_so_in_a_line(trained: Trained, tmp_path: Path) -> None:
    model = tmp_path / "model"
    shutil.copytree(trained.model, model, ignore=shutil.ignore_patterns("simple.*", "run"))
    called = call("translate", model, "--simple", "A dog.")
    assert called.code == 2
    assert called.mistake == f"{model / 'simple.json'} is missing; restore it or train again"
