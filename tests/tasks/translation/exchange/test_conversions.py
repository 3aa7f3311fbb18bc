"""Conversions that several processes want at the same moment."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from heedful.tasks.translation.using import Translator
from model_case import make

PROGRAM = Path(__file__).parent / "converted.py"


@pytest.mark.parametrize("models", [3, pytest.param(20, marks=pytest.mark.long)])
def test_two_processes_that_convert_one_model_at_the_same_moment(
    tmp_path: Path, models: int
) -> None:
    first = make(tmp_path / "models" / "00").path
    alone = Translator.load(first, engine="torch")
    wanted = ascii(alone.translate(["The dog sees the cat."], max_length=20))
    for number in range(1, models):
        shutil.copytree(first, tmp_path / "models" / f"{number:02}")
    (tmp_path / "ready").mkdir()
    command = [sys.executable, str(PROGRAM), str(tmp_path / "models"), str(tmp_path / "ready"), "2"]
    # A conversion that fails beside the model is made in the user's cache: none may be there.
    cache = tmp_path / "cache"
    environment = os.environ | {"XDG_CACHE_HOME": str(cache)}
    both = [
        subprocess.Popen(
            command,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=environment,
        )
        for _ in range(2)
    ]
    told = []
    for process in both:
        try:
            told.append(process.communicate(timeout=120))
        except subprocess.TimeoutExpired:  # it waits for the other, which has failed
            process.kill()
            told.append(process.communicate())
    for said, wrong in told:
        assert not wrong
        assert said.splitlines() == [f"ctranslate2 {wanted}"] * models
    for number in range(models):
        kept = tmp_path / "models" / f"{number:02}" / "ctranslate2"
        assert len([path for path in kept.iterdir() if path.name != ".lock"]) == 1
    assert not cache.exists()
