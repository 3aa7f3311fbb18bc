"""What Apple's GPUs refuse: a training step must do without it. None is here, so it is emulated."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from run_case import settings
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves
from toy_task import Reverse

from heedful.train.replicas import Replicas


class WithoutFloat64(TorchDispatchMode):
    """Refuses every tensor of float64, in the words of torch on mps."""

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        found = func(*args, **(kwargs or {}))
        for one in tree_leaves(found):
            if isinstance(one, torch.Tensor) and one.dtype == torch.float64:
                raise TypeError(
                    "Cannot convert a MPS Tensor to float64 dtype as the MPS framework doesn't "
                    "support float64. Please use float32 instead."
                )
        return found


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_a_step_makes_no_float64(smoothing: float) -> None:
    task = Reverse(smoothing=smoothing)
    how = settings()
    step = Replicas(task, how, 1)
    batch = next(task.batches(0, 0))
    task.model.train()
    step.gradients([batch], [1])  # the table of positions is made in float64, on the CPU
    with WithoutFloat64():
        tokens, loss, nll = step.gradients([batch], [1])
        norm = step.norm()
        step.update(0.01, 1.0)
    assert tokens > 0
    assert min(loss, nll, norm) > 0
