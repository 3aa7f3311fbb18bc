"""A training life on real data: a foreseen run, a fine-tuned model, a student."""

from __future__ import annotations

import gzip
import itertools
import re
import time
from pathlib import Path

import pytest
from test_long_multi30k import OUT, files, trained

from heedful.data.text import normalise
from heedful.tasks.contract import Request
from heedful.tasks.translation.distill import distill
from heedful.train.report import PlainReport
from heedful.verbs.finetune import finetune
from heedful.verbs.train import train

pytestmark = [pytest.mark.long, pytest.mark.timeout(3 * 3600)]


class Heard(PlainReport):
    def __init__(self) -> None:
        super().__init__()
        self.told: list[str] = []

    def note(self, text: str) -> None:
        super().note(text)
        self.told.append(text)


def test_five_minutes_are_foreseen_and_kept(real_data: Path, tmp_path: Path) -> None:
    request = Request(
        files=files(real_data, "train"),
        dev=files(real_data, "val"),
        output=tmp_path / "model",
        settings={"train": {"minutes": 5}},
    )
    heard, begun = Heard(), time.time()
    train(request, heard, begun)
    minutes = (time.time() - begun) / 60
    text = "\n".join(heard.told)
    foreseen = re.search(r"5 minutes in all, about ([\d.]+) epochs", text)
    measured = re.search(r"after [\d,]+ steps, ([\d.]+) epochs", text)
    assert foreseen is not None
    assert measured is not None
    print(f"\nforeseen {foreseen[1]} epochs, measured {measured[1]}, {minutes:.2f} minutes")
    assert float(measured[1]) == pytest.approx(float(foreseen[1]), rel=0.2)
    assert minutes == pytest.approx(5, rel=0.05)


def tatoeba(data: Path, folder: Path, count: int = 2000) -> Path:
    """Every so manieth German sentence of tatoeba, with its translation: short, everyday talk."""
    with gzip.open(data / "tatoeba" / "eng-deu.tsv.gz", "rt", encoding="utf-8") as file:
        lines = [line.rstrip("\n").split("\t") for line in file]
    path = folder / "everyday.tsv"
    some = itertools.islice(lines, 7, None, len(lines) // count)
    path.write_text("".join(f"{de}\t{en}\n" for en, de, *_ in some), encoding="utf-8")
    return path


def test_a_model_is_fine_tuned_on_other_text(real_data: Path, tmp_path: Path) -> None:
    parent = trained(real_data, 30, 1)
    new = tatoeba(real_data, tmp_path)
    for name, mix in (("new alone", ()), ("old mixed in", files(real_data, "train"))):
        request = Request(files=(Path(f"{new}:1,2"),), output=tmp_path / name)
        found = finetune(parent, request, mix=mix, report=PlainReport())
        before, after = found.scores["new text"]
        assert after.value > before.value


def test_a_student_of_a_third_is_within_a_point_of_its_teacher(real_data: Path) -> None:
    teacher, output = trained(real_data, 30, 1), OUT / "multi30k-student"
    source = output.with_name("multi30k-student-source.de")
    with gzip.open(files(real_data, "train")[0], "rt", encoding="utf-8") as file:
        source.write_text("".join(normalise(line) + "\n" for line in file), encoding="utf-8")
    request = Request(files=(), output=output, dev=files(real_data, "val"))
    found = distill(teacher, source, request, train, PlainReport(), time.time())
    assert found.parameters[1] <= found.parameters[0] / 3
    before, after = found.scores["development set"]
    print(f"\nteacher {before.value:.2f}, student {after.value:.2f}, sentences/s {found.speed}")
    assert after.value >= before.value - 1.0
