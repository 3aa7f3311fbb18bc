"""Everything random in a step follows from the seed and the step, with any number of workers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from points_task import Points
from run_case import Run, same, settings, stopped_and_continued, written
from torch import Tensor, nn

from heedful.errors import TrainingError
from heedful.nn.dropout import Dropout
from heedful.nn.loss import Loss
from heedful.train.replicas import Replicas


class DropPath(nn.Module):
    """Leaves a layer out now and then, by the generator it is given."""

    generator: torch.Generator | None = None

    def __init__(self, inner: nn.Module) -> None:
        super().__init__()
        self.inner = inner

    def forward(self, x: Tensor) -> Tensor:
        keep = not self.training or torch.rand((), generator=self.generator) > 0.3
        return x + self.inner(x) if keep else x


class Masked(Points):
    """Hides some of the numbers, other ones at every step."""

    def __init__(self) -> None:
        torch.manual_seed(2)
        path = DropPath(nn.Sequential(nn.Linear(4, 4), nn.Tanh(), Dropout(0.2)))
        super().__init__(nn.Sequential(path, nn.Linear(4, 1)))
        self.drawn: list[list[float]] = []

    def loss(self, model: nn.Module, batch: Tensor, generator: torch.Generator) -> Loss:
        chances = torch.rand(batch.shape, generator=generator)
        self.drawn.append(chances.flatten().tolist())
        return super().loss(model, batch * (chances > 0.2), generator)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_a_run_that_draws_in_its_loss_and_is_killed_ends_like_one_that_was_not(
    tmp_path: Path, workers: int
) -> None:
    whole = Run(tmp_path / "whole", Masked(), settings(), workers)
    torch.manual_seed(77)  # of no effect
    whole.trainer.train()
    parts, _ = stopped_and_continued(
        tmp_path / "parts", Masked, settings(), [1, 7], workers, killed=10
    )
    assert same(parts.weights(), whole.weights())
    assert written(tmp_path / "parts") == written(tmp_path / "whole")
    drawn = sorted(map(tuple, whole.task.drawn))
    assert len(drawn) == len(set(drawn)) == 12 * workers, "every step and worker has its own"


class Careless(Points):
    """Draws from the generator that all threads share."""

    def loss(self, model: nn.Module, batch: Tensor, generator: torch.Generator) -> Loss:
        return super().loss(model, batch * (torch.rand(batch.shape) > 0.1), generator)


REFUSED = (
    "a step drew from torch's own random generator, which threads share, so it cannot be "
    "repeated; draw from the generator that Learner.loss is given, and in a module from its "
    "attribute `generator`, as heedful.nn.dropout.Dropout does"
)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    "make",
    [
        lambda: Careless(nn.Linear(4, 1)),
        lambda: Points(nn.Sequential(nn.Linear(4, 1), nn.Dropout(0.1))),
    ],
)
def test_a_step_that_draws_from_torchs_own_generator_is_refused(
    tmp_path: Path, make: Any, workers: int
) -> None:
    with pytest.raises(TrainingError) as error:
        Run(tmp_path, make(), settings(), workers).trainer.train()
    assert str(error.value) == REFUSED


class Recurrent(nn.Module):
    def __init__(self, kind: type[nn.RNNBase], dropout: float) -> None:
        super().__init__()
        self.layers = kind(4, 3, num_layers=2, dropout=dropout)
        self.out = nn.Linear(3, 1)

    def forward(self, x: Tensor) -> Tensor:
        found: Tensor = self.out(self.layers(x)[0])
        return found


@pytest.mark.parametrize("kind", [nn.LSTM, nn.GRU])
def test_recurrent_layers_that_drop_by_themselves_are_refused(kind: type[nn.RNNBase]) -> None:
    with pytest.raises(TrainingError) as error:
        Replicas(Points(Recurrent(kind, 0.25)), settings(), 1)
    assert str(error.value) == (
        f"layers is nn.{kind.__name__}(dropout=0.25), whose random numbers cannot be repeated; "
        f"expected dropout=0: put heedful.nn.dropout.Dropout between single layers"
    )


def test_recurrent_layers_without_dropout_train(tmp_path: Path) -> None:
    run = Run(tmp_path, Points(Recurrent(nn.LSTM, 0.0)), settings(), 2)
    assert run.trainer.train().step == 12
