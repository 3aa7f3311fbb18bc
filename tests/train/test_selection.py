"""Which weights are kept at the end, and on what they were compared."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
import torch
from run_case import Run, same, settings
from toy_task import Scripted

from heedful.tasks.translation import learning
from heedful.tasks.translation.learning import ENOUGH, EVALUATED, TranslationLearner
from heedful.tasks.translation.settings import Settings
from heedful.train.checkpoint import read_weights
from heedful.train.learner import Evaluation


def test_the_best_weights_are_kept_where_no_average_is_better(tmp_path: Path) -> None:
    run = Run(tmp_path, Scripted([3, 7, 5, 6, 6]), settings(average=2))
    outcome = run.trainer.train()
    assert (outcome.score, outcome.weights) == (7, "step 8")
    assert len(run.kept) == 3  # two looks, and once more what was chosen
    # On fresh lines: the best, and the last two (8, 12), also the best two; the last come back.
    assert run.task.looks == 5
    best = read_weights(tmp_path / "kept" / "step-00000008.safetensors")
    assert same(run.kept[-1], best)
    assert same(run.weights(), read_weights(tmp_path / "kept" / "step-00000012.safetensors"))


@pytest.mark.parametrize(
    ("scores", "chosen", "steps"),
    [
        ([3, 7, 5, 4, 5, 4.5], "average of the last 2", (8, 12)),
        ([8, 7, 5, 7, 6, 9], "average of the best 2", (4, 8)),
        ([8, 7, 5, 6, 7, 7.5], "average of the best 2", (4, 8)),
    ],
)
def test_an_average_is_chosen_where_it_is_better(
    tmp_path: Path, scores: list[float], chosen: str, steps: tuple[int, int]
) -> None:
    run = Run(tmp_path, Scripted(scores), settings(average=2))
    outcome = run.trainer.train()
    assert (outcome.score, outcome.weights) == (max(scores[:3]), chosen)
    parts = [read_weights(tmp_path / "kept" / f"step-{s:08d}.safetensors") for s in steps]
    for name, kept in run.kept[-1].items():
        mean = (parts[0][name].double() + parts[1][name].double()) / 2
        torch.testing.assert_close(kept, mean.float(), rtol=0, atol=0)


def test_only_the_last_and_the_best_weights_stay_on_disk(tmp_path: Path) -> None:
    run = Run(tmp_path, Scripted([5, 9, 1, 2, 3, 0, 0]), settings(steps=20, average=2))
    run.trainer.train()
    kept = sorted(path.name for path in (tmp_path / "kept").iterdir())
    assert kept == [f"step-{step:08d}.safetensors" for step in (4, 8, 16, 20)]


def test_a_run_that_goes_on_keeps_what_it_names(tmp_path: Path) -> None:
    first = Run(tmp_path, Scripted([3, 7, 5, 4, 5, 4]), settings(average=2))
    assert first.trainer.train().weights == "average of the last 2"
    more = Run(tmp_path, Scripted([1, 1, 6, 1, 1]), settings(average=2, steps=20), more=True)
    assert more.trainer.train().weights == "step 8"
    best = read_weights(tmp_path / "kept" / "step-00000008.safetensors")
    assert same(more.kept[-1], best)


class Noting(Scripted):
    """Scores as told, and a note of which looks were asked to be fresh."""

    asked: tuple[bool, ...] = ()

    def evaluate(self, fresh: bool = False) -> Evaluation:
        self.asked = (*self.asked, fresh)
        return super().evaluate(fresh)


def test_finalists_meet_on_fresh_lines_and_are_no_looks(tmp_path: Path) -> None:
    task = Noting([3, 7, 5, 6, 6])
    run = Run(tmp_path, task, settings(average=2))
    run.trainer.train()
    assert task.asked == (False, False, False, True, True)
    assert len(run.log("look")) == 3
    finalists = [(r["weights"], r["best"]) for r in run.log("finalist")]
    assert finalists == [("step 8", True), ("average of the last 2", False)]


@pytest.mark.parametrize(
    ("lines", "fresh", "first"),
    [
        (EVALUATED + ENOUGH, True, EVALUATED),
        (EVALUATED + ENOUGH, False, 0),
        (EVALUATED + ENOUGH - 1, True, 0),
        (3, True, 0),
    ],
)
def test_fresh_lines_are_others_where_there_are_enough(
    monkeypatch: pytest.MonkeyPatch, lines: int, fresh: bool, first: int
) -> None:
    echo = lambda model, sources, *how, **more: [[SimpleNamespace(ids=s)] for s in sources]  # noqa: E731
    monkeypatch.setattr(learning, "search", echo)
    monkeypatch.setattr(TranslationLearner, "_dev_loss", lambda self: 1.0)
    task: Any = object.__new__(TranslationLearner)
    task.model = torch.nn.Identity()
    task._tokenizer = SimpleNamespace(encode=lambda text: [text], decode=lambda ids: ids[0])
    task._settings, task._workers = Settings(), 1
    task.dev = [(str(i), str(i)) for i in range(lines)]
    found = task.evaluate(fresh)
    assert found.samples[0].given == found.samples[0].got == str(first)
