"""A learner's own optimiser: any torch has, with rates relative to the schedule's, kept exactly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest
import torch
from points_task import Points, Words
from run_case import Run, same, settings, stopped_and_continued, written
from safetensors.torch import load_file
from torch import Tensor, nn

from heedful.errors import TrainingError
from heedful.settings import TrainSettings
from heedful.train.optim import NUMBER
from heedful.train.replicas import Replicas

Make = Callable[[list[dict[str, Any]]], torch.optim.Optimizer]


def line() -> nn.Module:
    torch.manual_seed(4)
    return nn.Sequential(nn.Linear(4, 5), nn.Tanh(), nn.Linear(5, 1))


class Own(Points):
    """Biases and matrices are two groups, the matrices slower."""

    def __init__(self, make: Make) -> None:
        super().__init__(line())
        self._make = make

    def optimizer(
        self, parameters: Mapping[str, nn.Parameter], settings: TrainSettings
    ) -> torch.optim.Optimizer:
        biases = [p for name, p in parameters.items() if name.endswith("bias")]
        matrices = [p for name, p in parameters.items() if not name.endswith("bias")]
        return self._make([{"params": biases}, {"params": matrices, "lr": 0.25}])


class OwnWords(Words):
    def __init__(self, make: Make, sparse: bool = True) -> None:
        super().__init__(sparse)
        self._make = make

    def optimizer(
        self, parameters: Mapping[str, nn.Parameter], settings: TrainSettings
    ) -> torch.optim.Optimizer:
        return self._make([{"params": list(parameters.values())}])


def momentum(groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    return torch.optim.SGD(groups, lr=1.0, momentum=0.9)


def adagrad(groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    return torch.optim.Adagrad(groups, lr=1.0, initial_accumulator_value=0.1)


def sparse_adam(groups: list[dict[str, Any]]) -> torch.optim.Optimizer:
    return torch.optim.SparseAdam(groups, lr=1.0)


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(
    ("make", "kept"),
    [
        (lambda: Own(momentum), {"momentum_buffer"}),
        (lambda: Own(adagrad), {"step", "sum"}),
        (lambda: Own(lambda g: torch.optim.RMSprop(g, lr=1.0)), {"step", "square_avg"}),
        (lambda: OwnWords(adagrad), {"step", "sum"}),
        (lambda: OwnWords(sparse_adam), {f"step{NUMBER}", "exp_avg", "exp_avg_sq"}),
    ],
)
def test_a_run_with_an_optimiser_of_its_own_that_was_killed_ends_like_one_that_was_not(
    tmp_path: Path, make: Callable[[], Points], kept: set[str], workers: int
) -> None:
    whole = Run(tmp_path / "whole", make(), settings(), workers)
    whole.trainer.train()
    parts, _ = stopped_and_continued(
        tmp_path / "parts", make, settings(), [1, 7], workers, killed=10
    )
    assert same(parts.weights(), whole.weights())
    assert written(tmp_path / "parts") == written(tmp_path / "whole")
    state = load_file(max((tmp_path / "whole" / "state").glob("*.safetensors")))
    assert {name.partition(".")[0] for name in state} == kept | {"model"}


def stepped(
    make: Callable[[], Points], workers: int, scale: float = 1.0
) -> tuple[float, dict[str, Tensor]]:
    """The norm of a gradient, and how far three such steps go."""
    task = make()
    task.model.double()
    task._training = task._training.double()
    before = {name: p.detach().clone() for name, p in task.model.named_parameters()}
    replicas: Replicas[Tensor] = Replicas(task, settings(), workers)
    for batch in list(task.batches(0, 0))[:3]:
        replicas.gradients([batch, batch.flip(0)[:5]], range(workers))
        norm = replicas.norm()
        replicas.update(0.125, scale)
    replicas.close()
    return norm, {name: p.detach() - before[name] for name, p in task.model.named_parameters()}


def close(one: Mapping[str, Tensor], other: Mapping[str, Tensor]) -> None:
    assert one.keys() == other.keys()
    for name in one:
        torch.testing.assert_close(one[name], other[name], rtol=0, atol=1e-12)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("scale", [1.0, 0.5])
def test_sparse_gradients_are_summed_measured_and_scaled_like_dense_ones(
    workers: int, scale: float
) -> None:
    dense = stepped(lambda: OwnWords(adagrad, sparse=False), 1, scale)
    found = stepped(lambda: OwnWords(adagrad), workers, scale)
    assert found[0] == pytest.approx(dense[0], rel=1e-12)
    close(found[1], dense[1])
    rows = found[1]["0.weight"].abs().sum(1)
    assert 0 < int((rows == 0).sum()) < len(rows), "rows of words that were not seen stay"


def test_a_sparse_gradient_stays_sparse() -> None:
    task = OwnWords(adagrad)
    replicas: Replicas[Tensor] = Replicas(task, settings(), 2)
    replicas.gradients([next(task.batches(0, 0))], [1, 2])
    replicas.close()
    assert all(p.grad is not None and p.grad.is_sparse for p in task.model.parameters())


def test_the_rates_of_two_groups_are_factors_of_the_schedules() -> None:
    plain = lambda groups: torch.optim.SGD(groups, lr=1.0)  # noqa: E731
    task = Own(plain)
    replicas: Replicas[Tensor] = Replicas(task, settings(), 2)
    before = {name: p.detach().clone() for name, p in task.model.named_parameters()}
    for lr in (0.5, 0.25):
        replicas.gradients([next(task.batches(0, 0))], [1, 2])
        grads = {name: p.grad.clone() for name, p in task.model.named_parameters()}  # type: ignore[union-attr]
        replicas.update(lr, 1.0)
        for name, parameter in task.model.named_parameters():
            factor = lr * (1.0 if name.endswith("bias") else 0.25)
            torch.testing.assert_close(before[name] - factor * grads[name], parameter.detach())
            before[name] = parameter.detach().clone()
    replicas.close()


def test_more_workers_than_weights_is_no_harm() -> None:
    one, many = (stepped(lambda: OwnWords(adagrad), workers) for workers in (1, 5))
    close(many[1], one[1])


def test_what_a_state_cannot_hold_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(TrainingError) as error:
        Run(tmp_path, OwnWords(momentum), settings()).trainer.train()
    assert str(error.value) == (
        "SGD keeps momentum_buffer of 0.weight as a sparse tensor, which a state cannot hold; "
        "expected dense tensors and numbers: take another optimiser"
    )
