"""A run of the trainer on the toy task, with what it kept."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from heedful.settings import TrainSettings
from heedful.tasks.translation.batching import Batch
from heedful.train.budget import Budget
from heedful.train.checkpoint import weights_of
from heedful.train.journal import Journal
from heedful.train.learner import Learner
from heedful.train.loop import Trainer
from heedful.train.replicas import Replicas
from heedful.train.state import Clock, Outcome

Weights = dict[str, Tensor]


def settings(**changes: object) -> TrainSettings:
    usual = {"steps": 12, "warmup": 4, "log_every": 3, "evaluate_every": 4, "lr": 0.01}
    return TrainSettings.model_validate(usual | changes)


class Run:
    """A trainer with what it kept."""

    def __init__(
        self, folder: Path, task: Any, how: TrainSettings, workers: int = 1, **kind: Any
    ) -> None:
        self.task, self.folder = task, folder
        self.kept: list[Weights] = []
        budget = {k: kind.pop(k) for k in ("evaluation_seconds",) if k in kind}
        journal = {k: kind.pop(k) for k in ("report", "where", "listen") if k in kind}
        self.trainer: Trainer[Batch] = Trainer(
            task,
            how,
            Replicas(task, how, workers),
            Budget(how, how.lr or 0.01, Clock(how.minutes), **budget),
            Journal(folder, **journal),
            keep=lambda: self.kept.append(self.weights()),
            **kind,
        )

    def weights(self) -> Weights:
        return {name: tensor.clone() for name, tensor in weights_of(self.task.model).items()}

    def after(self, step: int, do: Callable[[], object]) -> None:
        """Have something happen when a step is done."""
        take = self.trainer.step

        def stepping(group: Sequence[Batch]) -> None:
            take(group)
            if self.trainer.state.step == step:
                do()

        self.trainer.step = stepping  # type: ignore[method-assign]

    def log(self, kind: str | None = None) -> list[dict[str, Any]]:
        lines = (self.folder / "log.jsonl").read_text(encoding="utf-8").splitlines()
        records: list[dict[str, Any]] = [json.loads(line) for line in lines]
        return [r for r in records if kind is None or r["kind"] == kind]


def same(one: Weights, other: Weights) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[n], other[n]) for n in one)


def written(folder: Path) -> list[bytes]:
    """The newest state's tensors and the weights kept, as they are on the disk."""
    newest = max((folder / "state").glob("*.safetensors"))
    return [path.read_bytes() for path in (newest, *sorted((folder / "kept").iterdir()))]


def stopped_and_continued(
    folder: Path,
    make: Callable[[], Learner[Any]],
    how: TrainSettings,
    stops: list[int],
    workers: int,
    killed: int | None = None,
) -> tuple[Run, Outcome]:
    """Interrupt after each of some steps, and go on every time with a new trainer and model.

    At last it is `killed` after a step: no state knows of it.
    """
    for stop in stops:
        run = Run(folder, make(), how, workers)
        run.after(stop, lambda run=run: setattr(run.trainer, "interrupted", True))
        outcome = run.trainer.train()
        assert (outcome.why, outcome.step) == ("interrupted", stop)
    if killed:
        run = Run(folder, make(), how, workers)
        run.after(killed, lambda: 1 // 0)
        with pytest.raises(ZeroDivisionError):
            run.trainer.train()
    run = Run(folder, make(), how, workers)
    return run, run.trainer.train()
