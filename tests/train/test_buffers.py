"""What a model remembers beside its parameters is kept wherever its parameters are."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch
from points_task import Points, Remembering
from run_case import Run, same, settings, stopped_and_continued, written
from safetensors.torch import load_file

from heedful.train.checkpoint import average, buffer_names, weights_of
from heedful.train.replicas import Replicas


def remembering() -> Points:
    return Points(Remembering())


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.parametrize(("accumulate", "seen"), [(1, 12), (2, 3 * 7)])
def test_a_run_with_buffers_that_was_killed_ends_like_one_that_was_not(
    tmp_path: Path, workers: int, accumulate: int, seen: int
) -> None:
    how = settings(average=2, accumulate=accumulate)
    whole = Run(tmp_path / "whole", remembering(), how, workers)
    expected = whole.trainer.train()
    parts, outcome = stopped_and_continued(
        tmp_path / "parts", remembering, how, [1, 6, 7], workers, killed=9
    )
    assert outcome.weights == expected.weights
    assert same(parts.weights(), whole.weights())
    assert same(parts.kept[-1], whole.kept[-1])
    assert written(tmp_path / "parts") == written(tmp_path / "whole")
    kept = load_file(max((tmp_path / "whole" / "kept").iterdir()))
    names = ["inner.1.running_mean", "inner.1.running_var", "inner.1.num_batches_tracked", "mean"]
    assert sorted(kept.keys() - dict(whole.task.model.named_parameters())) == sorted(names)
    assert kept["inner.1.num_batches_tracked"] == seen
    assert float(kept["mean"].abs().min()) > 0


def test_after_a_step_all_replicas_have_the_buffers_of_the_first() -> None:
    task = remembering()
    replicas: Replicas[torch.Tensor] = Replicas(task, settings(), 2)
    batch = next(task.batches(0, 0))
    for _ in range(2):
        replicas.gradients([batch], [1, 2])
    replicas.close()
    first, *others = [weights_of(model) for model in replicas._models]
    for other in others:
        assert same(
            {n: other[n] for n in buffer_names(task.model)},
            {n: first[n] for n in buffer_names(task.model)},
        )
    part = task.split(batch, 2)[0][:, :4].mean(0)
    torch.testing.assert_close(first["mean"], 0.1 * part + 0.09 * part)


def test_going_back_after_a_nan_takes_the_buffers_back_too(tmp_path: Path) -> None:
    class Spoilt(Points):
        asked = 0

        def loss(self, *given: object) -> object:  # type: ignore[override]
            self.asked += 1
            found = super().loss(*given)  # type: ignore[arg-type]
            return found._replace(loss=found.loss * float("nan" if self.asked == 6 else 1))

    run = Run(tmp_path, Spoilt(Remembering()), settings(average=1))
    run.trainer.train()
    assert len(run.log("rollback")) == 1
    assert run.weights()["inner.1.num_batches_tracked"] == 12


def test_an_average_counts_like_its_last_part_and_means_the_rest() -> None:
    sets = [{"w": torch.tensor([w]), "seen": torch.tensor(n)} for w, n in ((1.0, 5), (4.0, 7))]
    found = average(sets)
    assert found["w"].tolist() == [2.5]
    assert (found["seen"].item(), found["seen"].dtype) == (7, torch.int64)


def test_only_persistent_buffers_are_kept_and_a_shared_one_once() -> None:
    model = Remembering()
    both = torch.nn.ModuleList([model, model])
    assert "mean" in weights_of(model)
    assert "scratch" not in weights_of(model)
    assert not any(name.startswith("1.") for name in weights_of(both))
