from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor
from toy_task import Reverse

from heedful.settings import TrainSettings
from heedful.tasks.translation.batching import Batch
from heedful.train.replicas import Replicas

SETTINGS = TrainSettings()


def gradients(
    workers: int, groups: int = 1, dropout: float = 0.0, double: bool = True, seed: int = 3
) -> tuple[tuple[int, float, float], dict[str, Tensor]]:
    """The gradient of the first batches of an epoch, on a fresh model."""
    task = Reverse(dropout=dropout)
    if double:
        task.model.double()
    replicas: Replicas[Batch] = Replicas(task, SETTINGS, workers)
    batches = list(task.batches(0, 0))[:groups]
    try:
        found = replicas.gradients(batches, [seed + i for i in range(workers)])
        norm = replicas.norm()
    finally:
        replicas.close()
    parts = {n: p.grad.clone() for n, p in task.model.named_parameters() if p.grad is not None}
    assert set(parts) == {name for name, _ in task.model.named_parameters()}
    assert norm == pytest.approx(float(torch.cat([g.flatten() for g in parts.values()]).norm()))
    return found, parts


@pytest.mark.parametrize("workers", [2, 3])
@pytest.mark.parametrize("groups", [1, 2])
def test_workers_together_give_the_gradient_of_one_alone(workers: int, groups: int) -> None:
    alone, together = gradients(1, groups), gradients(workers, groups)
    assert together[0] == pytest.approx(alone[0], rel=1e-12)
    assert all(float(g.abs().max()) > 1e-6 for g in alone[1].values() if g.dim() > 1)
    for name, gradient in alone[1].items():
        torch.testing.assert_close(together[1][name], gradient, rtol=0, atol=1e-12)


@pytest.mark.parametrize("workers", [1, 2])
def test_the_same_seeds_give_the_same_bits(workers: int) -> None:
    one, again = (gradients(workers, 2, dropout=0.3, double=False) for _ in range(2))
    other = gradients(workers, 2, dropout=0.3, double=False, seed=4)
    assert one[0] == again[0]
    assert all(torch.equal(one[1][name], again[1][name]) for name in one[1])
    assert one[0] != other[0]


def joined(batches: list[Batch]) -> Batch:
    """One batch with the rows of several."""

    def rectangle(tables: list[Tensor], padding: int) -> Tensor:
        widest = max(table.size(1) for table in tables)
        return torch.cat(
            [torch.nn.functional.pad(t, (0, widest - t.size(1)), value=padding) for t in tables]
        )

    padding = 12
    return Batch(
        np.concatenate([b.rows for b in batches]),
        rectangle([b.source for b in batches], padding),
        torch.cat([b.source_lengths for b in batches]),
        rectangle([b.target for b in batches], padding),
        torch.cat([b.target_lengths for b in batches]),
    )


@pytest.mark.parametrize("workers", [1, 2])
def test_accumulated_batches_are_one_batch_as_large(workers: int) -> None:
    task = Reverse()
    task.model.double()
    replicas: Replicas[Batch] = Replicas(task, SETTINGS, workers)
    batches = list(task.batches(0, 0))[:3]
    assert len(batches) == 3
    found = []
    for group in (batches, [joined(batches)]):
        told = replicas.gradients(group, range(workers))
        found.append(
            (told, [p.grad.clone() for p in task.model.parameters() if p.grad is not None])
        )
    replicas.close()
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-12)
    assert found[0][0][0] == sum(batch.tokens for batch in batches)
    for accumulated, whole in zip(found[0][1], found[1][1], strict=True):
        torch.testing.assert_close(accumulated, whole, rtol=0, atol=1e-12)


def test_more_workers_than_rows_is_no_harm() -> None:
    found = []
    for workers in (1, 4):
        task = Reverse()
        task.model.double()
        replicas: Replicas[Batch] = Replicas(task, SETTINGS, workers)
        one_row = next(task.batches(0, 0)).split(100)[0]
        assert len(one_row.rows) == 1
        found.append(replicas.gradients([one_row], range(workers)))
        replicas.update(0.01, 1.0)
        replicas.close()
    assert found[0] == pytest.approx(found[1], rel=1e-12)


def test_all_workers_see_the_weights_that_one_step_left() -> None:
    weights = []
    for workers in (1, 2, 3):
        task = Reverse()
        task.model.double()
        replicas: Replicas[Batch] = Replicas(task, SETTINGS, workers)
        for batch in list(task.batches(0, 0))[:3]:
            replicas.gradients([batch], range(workers))
            replicas.update(0.01, 0.5)
        replicas.close()
        weights.append(torch.cat([p.detach().flatten() for p in task.model.parameters()]))
    before = torch.cat([p.detach().double().flatten() for p in Reverse().model.parameters()])
    assert float((weights[0] - before).abs().max()) > 0.01
    for other in weights[1:]:
        torch.testing.assert_close(other, weights[0], rtol=0, atol=1e-9)


def test_scaling_a_gradient_is_clipping_it() -> None:
    task = Reverse()
    replicas: Replicas[Batch] = Replicas(task, SETTINGS, 2)
    replicas.gradients([next(task.batches(0, 0))], [1, 2])
    norm = replicas.norm()
    replicas.update(0.0, 0.25)
    assert replicas.norm() == pytest.approx(norm / 4)
    replicas.close()


def test_the_weights_are_dealt_out_once_and_evenly() -> None:
    task = Reverse()
    replicas: Replicas[Batch] = Replicas(task, SETTINGS, 3)
    replicas.close()
    dealt = [p for o in replicas.optimizers for g in o.param_groups for p in g["params"]]
    assert sorted(map(id, dealt)) == sorted(map(id, task.model.parameters()))
    sizes = [
        sum(p.numel() for g in o.param_groups for p in g["params"]) for o in replicas.optimizers
    ]
    assert max(sizes) < 1.2 * min(sizes)


def test_a_mistake_in_a_worker_reaches_the_caller() -> None:
    class Broken(Reverse):
        def loss(self, model: object, batch: object, generator: object) -> object:  # type: ignore[override]
            raise ZeroDivisionError("in a worker")

    task = Broken()
    replicas: Replicas[Batch] = Replicas(task, SETTINGS, 2)  # type: ignore[arg-type]
    with pytest.raises(ZeroDivisionError, match="in a worker"):
        replicas.gradients([next(task.batches(0, 0))], [1, 2])
    replicas.close()
