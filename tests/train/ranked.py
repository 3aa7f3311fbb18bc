"""What one of several processes does in the tests of `ranks.py`; torchrun starts it."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import torch
from points_task import Points, Remembering
from test_optimizers import Own, OwnWords, adagrad, line, momentum, sparse_adam
from test_repeatable import Masked
from torch import Tensor, nn
from toy_task import Reverse

from heedful.nn.loss import Loss
from heedful.settings import TrainSettings
from heedful.train.budget import Budget
from heedful.train.journal import Journal
from heedful.train.learner import Learner
from heedful.train.loop import Trainer
from heedful.train.ranks import Parallel, Ranks
from heedful.train.replicas import Replicas
from heedful.train.state import Clock, Outcome
from heedful.train.world import World, joined, share_machine

STEPS = 50


def settings(steps: int = STEPS, **changes: object) -> TrainSettings:
    usual = {"warmup": 8, "log_every": 1, "evaluate_every": 25, "lr": 0.01, "schedule": "linear"}
    return TrainSettings.model_validate(usual | {"epochs": 100, "steps": steps} | changes)


def task() -> Reverse:
    # Sixty-one pairs in seventeen small batches: one has a single row, which two cannot share.
    return Reverse(pairs=61, budget=36)


class Uneven(Points):
    """The second batch has a single row, which is the lead's or the other's: a stand-in is left."""

    def batches(self, epoch: int, start: int, part: int = 0, parts: int = 1) -> Iterator[Tensor]:
        for number, batch in enumerate(super().batches(epoch, start), start):
            rows = batch[:1].expand(2, -1) if number == 1 else batch
            mine = rows[part::parts]
            if parts == 2 and number == 1:
                mine = rows if part == epoch % 2 else rows.detach().clone().fill_(9)
            yield mine

    def count(self, batch: Tensor) -> int:
        return 0 if bool((batch == 9).all()) else len(batch)

    def loss(self, model: nn.Module, batch: Tensor, generator: torch.Generator) -> Loss:
        found = super().loss(model, batch, generator)
        return found if self.count(batch) else Loss(0 * found.loss, 0 * found.nll)


class MaskedLine(Masked):
    """Without a layer that is left out now and then: DDP waits for every gradient."""

    def __init__(self) -> None:
        super().__init__()
        self.model = line()


LEARNERS: dict[str, Callable[[], Learner[Any]]] = {
    "buffers": lambda: Uneven(Remembering()),
    "masked": MaskedLine,
    "momentum": lambda: Own(momentum),
    "adagrad": lambda: Own(adagrad),
    "rows": lambda: OwnWords(adagrad),
    "sparse-adam": lambda: OwnWords(sparse_adam),
}
"""What else is trained by two, uninterrupted and in two parts; sparse gradients by DDP alone."""


def trained(
    folder: Path,
    stop: int | None = None,
    parallel: Parallel | None = None,
    make: Callable[[], Learner[Any]] = task,
    **changes: object,
) -> Outcome:
    """Train in `folder`, alone or as one of several; with `stop`, interrupted after that step."""
    work, how = make(), settings(**changes)  # type: ignore[arg-type]
    strategy = Ranks(work, how, parallel) if parallel else Replicas(work, how, 1)
    trainer: Trainer[Any] = Trainer(
        work,
        how,
        strategy,
        Budget(how, 0.01, Clock(None)),
        Journal(folder, lead=strategy.lead),
        keep=lambda: None,
    )
    take = trainer.step

    def stepping(group: Sequence[Any]) -> None:
        take(group)
        trainer.interrupted = trainer.state.step == stop

    trainer.step = stepping  # type: ignore[method-assign]
    return trainer.train()


def main(folder: Path) -> None:
    world = World.of_environment()
    with joined(world, "cpu"):
        share_machine(world, "cpu")
        found = {}
        for parallel in ("ddp", "fsdp"):
            how: Parallel = "ddp" if parallel == "ddp" else "fsdp"
            found[parallel] = trained(folder / parallel, None, how).step
            trained(folder / f"two-{parallel}", 20, how)
            trained(folder / f"one-{parallel}", None, how)
            trained(folder / f"grouped-{parallel}", None, how, accumulate=3, steps=9)
            for name, make in LEARNERS.items():
                if how == "ddp" or name not in ("rows", "sparse-adam"):
                    for part, stop in (("whole", None), ("parts", 9), ("parts", None)):
                        to = folder / f"{name}-{parallel}" / part
                        trained(to, stop, how, make, steps=16, evaluate_every=8)
        if world.lead:
            (folder / "ranked.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
