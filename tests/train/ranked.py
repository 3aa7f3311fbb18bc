"""What one of several processes does in the tests of `ranks.py`; torchrun starts it."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from toy_task import Reverse

from heedful.settings import TrainSettings
from heedful.tasks.translation.batching import Batch
from heedful.train.budget import Budget
from heedful.train.journal import Journal
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


def trained(
    folder: Path, stop: int | None = None, parallel: Parallel | None = None, **changes: object
) -> Outcome:
    """Train in `folder`, alone or as one of several; with `stop`, interrupted after that step."""
    work, how = task(), settings(**changes)  # type: ignore[arg-type]
    strategy = Ranks(work, how, parallel) if parallel else Replicas(work, how, 1)
    trainer: Trainer[Batch] = Trainer(
        work,
        how,
        strategy,
        Budget(how, 0.01, Clock(None)),
        Journal(folder, lead=strategy.lead),
        keep=lambda: None,
    )
    take = trainer.step

    def stepping(group: Sequence[Batch]) -> None:
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
        if world.lead:
            (folder / "ranked.json").write_text(json.dumps(found))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
