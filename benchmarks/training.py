"""How fast a training step is, and what share of the machine's arithmetic it uses."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator
from typing import Any

import torch
from torch import nn

from heedful.data.batching import Batch, pad
from heedful.models.transformer import Transformer
from heedful.nn.loss import Loss
from heedful.settings import ModelSettings, TokenIds, TrainSettings
from heedful.train.crew import Crew
from heedful.train.machine import prepare_machine
from heedful.train.plan import SIZES, layer_parameters, machine_rate

REPEATS, STEPS = 5, 4
BATCH = (64, 17, 15)
"""Rows, source and target pieces: a batch of captions."""


class Task:
    """The least a crew needs: one batch, again and again."""

    def __init__(self, model: Transformer) -> None:
        self.model = model

    def tokens(self, batch: Batch) -> int:
        """Count what is predicted."""
        return batch.tokens

    def split(self, batch: Batch, parts: int) -> list[Batch]:
        """Give every worker some rows."""
        return batch.split(parts)

    def loss(self, model: nn.Module, batch: Batch) -> Loss:
        """Give the loss."""
        assert isinstance(model, Transformer)
        return model.loss(
            batch.source, batch.source_lengths, batch.target, batch.target_lengths, 0.1
        )


def run() -> Iterator[str]:
    """Time steps of the two small sizes, one worker with all cores and a worker a core in turn."""
    import numpy as np

    prepare_machine()
    cores = os.cpu_count() or 1
    rows, s, t = BATCH
    torch.manual_seed(1)
    yield "| size | workers x threads | target tokens/s | share of the matrix-product rate |"
    yield "| --- | --- | ---: | ---: |"
    for name in ("tiny", "small"):
        ids = TokenIds(size=6000, pad=5999, start=5999)
        settings = ModelSettings.model_validate(SIZES[name] | {"norm": "pre"})
        sources, targets = (torch.randint(2, 5999, (rows, n)).tolist() for n in (s, t))
        batch = Batch(np.arange(rows), *pad(sources, ids.pad), *pad(targets, ids.pad))
        speeds: dict[tuple[int, int], list[float]] = {(1, cores): [], (cores, 1): []}
        rates: list[float] = []
        for _ in range(REPEATS):
            torch.set_num_threads(cores)
            rates.append(machine_rate(6))
            for (workers, threads), found in speeds.items():
                torch.set_num_threads(threads)
                task: Any = Task(Transformer(settings, ids))
                crew: Crew[Batch] = Crew(task, TrainSettings(), workers)
                _step(crew, batch)
                begun = time.perf_counter()
                for _ in range(STEPS):
                    _step(crew, batch)
                found.append(STEPS * batch.tokens / (time.perf_counter() - begun))
                crew.close()
        encoder, decoder = layer_parameters(settings)
        flops = 6 * (rows * s * encoder + batch.tokens * (decoder + ids.size * settings.d_model))
        for (workers, threads), found in speeds.items():
            speed = statistics.median(found)
            share = speed * flops / batch.tokens / statistics.median(rates)
            yield f"| {name} | {workers} x {threads} | {speed:,.0f} | {100 * share:.0f} % |"


def _step(crew: Crew[Batch], batch: Batch) -> None:
    crew.gradients([batch], list(range(crew.size)))
    crew.update(1e-4, min(1.0, 1.0 / crew.norm()))
