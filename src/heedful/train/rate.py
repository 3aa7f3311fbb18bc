"""How fast this machine trains, measured: its matrix products, and a few steps of a training."""

from __future__ import annotations

import itertools
import time
from contextlib import closing, nullcontext
from typing import TYPE_CHECKING, TypeVar

from heedful.settings import TrainSettings

if TYPE_CHECKING:
    from heedful.train.learner import Learner
    from heedful.train.precision import Precision

BatchT = TypeVar("BatchT")

BARE = 320e6
"""Bytes of a process that has loaded torch and a tokeniser."""
KEPT_CODE = 500e6
"""Bytes of the code that oneDNN runs products with on a CPU: a thousand shapes at the most."""
SHARE_FOR_STEPS = 0.88
"""Of the minutes; the rest goes to preparing, evaluating and scoring."""


def machine_rate(precision: Precision | None = None, trials: int = 12) -> float:
    """Measure what this machine can do: FLOP/s of a large matrix product on its processor.

    The best of several short trials, for whatever else the machine does only makes one slower.
    """
    import torch

    from heedful.nn.linear import product, shortened

    size = 768
    a = torch.randn(size, size)
    best = float("inf")
    with nullcontext() if precision is None else precision.numbers():
        a = shortened(a)
        for _ in range(trials):
            begun = time.perf_counter()
            for _ in range(4):
                product(a, a)
            best = min(best, time.perf_counter() - begun)
    return 4 * 2 * size**3 / best


EFFICIENCY = 0.75
"""Share of the matrix-product rate that a training step reaches; one timing gave 0.77."""
COPIES = 0.08
"""Of the time of the usual products: converting to other numbers or layouts and back."""


def gain(precision: Precision, usual: float) -> float:
    """Say how many times as fast a processor trains as with the usual products in float32.

    `usual` is the rate of those. Only the products are faster, the rest of a step is not. It
    foresees 1.5 and 2.1 where 1.45 and 2.1 were measured, in bfloat16 on two processors, and 1.6
    where 1.4 was by oneDNN in float32.
    """
    if precision.device != "cpu" or (precision.name == "float32" and not precision.onednn):
        return 1.0
    faster = machine_rate(precision, trials=2) / usual
    return (1 / EFFICIENCY) / (1 / faster + 1 / EFFICIENCY - 1 + COPIES)


def calibrate(
    learner: Learner[BatchT],
    settings: TrainSettings,
    workers: int,
    precision: Precision | None = None,
    steps: int = 4,
) -> float:
    """Take a few real steps with a learning rate of zero; give the seconds one epoch will take."""
    from heedful.train.replicas import Replicas

    times = []
    with closing(Replicas(learner, settings, workers, precision)) as replicas:
        for batch in itertools.islice(learner.batches(0, 0), steps + 1):
            begun = time.perf_counter()
            replicas.gradients([batch], list(range(workers)))
            replicas.norm()
            replicas.update(0.0, 1.0)
            times.append(time.perf_counter() - begun)
    usual = times[1:] or times  # the first also finds its memory
    return sum(usual) / len(usual) * learner.size(0)
