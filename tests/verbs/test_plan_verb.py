from __future__ import annotations

import re
from pathlib import Path

import pytest

from heedful.data import grammar
from heedful.tasks.contract import Request
from heedful.tasks.translation import planning as rules
from heedful.verbs.plan import Hardware, Measured, plan, plan_lines


def test_other_hardware_is_planned_for() -> None:
    hardware = Hardware(8, 9.5, 0.3)
    assert hardware.seconds(8 * 9.5e12 * 0.3) == pytest.approx(1)
    assert str(hardware) == "8 devices of 9.5 TFLOP/s at 30 %"


def files(folder: Path) -> tuple[Path, Path]:
    pairs = [(s.en, s.ko) for s, _ in zip(grammar.generate(1), range(300), strict=False)]
    paths = folder / "a.en", folder / "a.ko"
    for path, side in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return paths


def test_a_training_is_planned_and_nothing_is_left_behind(tmp_path: Path) -> None:
    settings = {"model": {"d_model": 16, "d_ff": 24, "n_heads": 2}, "train": {"minutes": 5}}
    request = Request(
        files=files(tmp_path), output=tmp_path / "model", settings=settings, threads=1
    )
    lines = plan(request, Hardware(2, 100, 0.5))
    text = "\n".join(lines)
    assert re.search(
        r"pairs to learn from, \d+ to check on; \d+ pieces; [\d,]+ \+ [\d,]+ tokens", text
    )
    assert "MFLOP for a source and a target token" in text
    assert re.search(
        r"about \d+:\d\d an epoch here, measured on a few steps; 5 minutes in all", text
    )
    assert "epochs that fit into" in text
    assert re.search(r"on 2 devices of 100 TFLOP/s at 50 %: 0:00 an epoch", text)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a.en", "a.ko"]


@pytest.mark.parametrize(
    ("ends", "said"), [({"epochs": 3}, "at most 3 epochs, 0:30"), ({"steps": 40}, "40 steps, ")]
)
def test_the_end_of_a_training_is_foreseen(tmp_path: Path, ends: dict[str, int], said: str) -> None:
    from heedful.tasks.translation import TASK

    class Silent:
        def note(self, text: str) -> None: ...
        def progress(self, *told: object) -> None: ...
        def evaluated(self, record: object) -> None: ...
        def close(self) -> None: ...

    request = Request(files=files(tmp_path), output=tmp_path, settings={"train": ends}, threads=1)
    prepared = TASK.prepare(request, tmp_path / "data", Silent())
    assert said in plan_lines(TASK, prepared, Measured(10.0, 1, False))[-1]


def test_memory_grows_with_what_it_should() -> None:
    model = rules.ModelSettings()
    small = rules.memory(model, 10**6, 1000)
    assert rules.memory(model, 10**6, 2000) > small
    assert rules.memory(model, 2 * 10**6, 1000) - small == pytest.approx(16e6)
    assert rules.memory(model, 10**6, 1000, workers=2) - small == pytest.approx(4e6)
