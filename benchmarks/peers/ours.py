"""Heedful: training through replicas as `heedful train` does, decoding through its engines."""

from __future__ import annotations

import json
import os
import resource
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import nn

from benchmarks.peers.work import TrainingWork, kept
from heedful.data.padding import pad
from heedful.decoding.batch import TorchEngine
from heedful.machine import keep_memory, workers_for
from heedful.models.transformer import Transformer
from heedful.nn.dropout import pool
from heedful.nn.loss import Loss
from heedful.settings import DecodeSettings, ModelSettings, TokenIds, TrainSettings
from heedful.tasks.translation.batching import Batch
from heedful.tasks.translation.model import load_model, open_folder
from heedful.train.learner import Learner
from heedful.train.precision import choose_precision
from heedful.train.replicas import Replicas


class Task(Learner[Batch]):
    """The least replicas need: a model and its loss."""

    def __init__(self, model: Transformer, smoothing: float = 0.1) -> None:
        self.model, self._smoothing = model, smoothing

    def count(self, batch: Batch) -> int:
        """Count what is predicted."""
        return batch.tokens

    def split(self, batch: Batch, parts: int) -> list[Batch]:
        """Give every worker some rows."""
        return batch.split(parts)

    def loss(self, model: nn.Module, batch: Batch, generator: torch.Generator) -> Loss:
        """Give the summed loss."""
        assert isinstance(model, Transformer)
        return model.loss(
            batch.source, batch.source_lengths, batch.target, batch.target_lengths, self._smoothing
        )


def batch_of(
    sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], pad_id: int
) -> Batch:
    """Make a batch as the data does."""
    return Batch(np.arange(len(sources)), *pad(sources, pad_id), *pad(targets, pad_id))


class Training:
    """Steps of replicas, once over the batches each time it is called."""

    def __init__(
        self,
        model: Transformer,
        batches: list[Batch],
        smoothing: float = 0.1,
        workers: int = 0,
        numbers: str = "auto",
    ) -> None:
        keep_memory()
        positions = max(b.source.numel() + b.target.numel() for b in batches)
        if workers:
            torch.set_num_threads(max(1, (os.cpu_count() or 1) // workers))
        else:
            workers = workers_for(positions, "cpu")
        self._task: Any = Task(model.train(), smoothing)
        self._precision = choose_precision(numbers, "cpu")
        self._replicas: Replicas[Batch] = Replicas(
            self._task, TrainSettings(), workers, self._precision
        )
        self.batches = batches
        self.facts = {
            "parameters": model.parameters_total,
            "workers": workers,
            "threads": torch.get_num_threads(),
            "numbers": self._precision.told,
            "before": held(),
        }

    def __call__(self, what: str = "steps", lr: float = 1e-4) -> float:
        """Take a step on each batch, or count what a forward pass keeps for the backward one."""
        task, replicas = self._task, self._replicas
        if what == "kept":
            parts = [p for b in self.batches for p in b.split(replicas.size)]
            mask = pool(task.model.settings.dropout, torch.float32)
            with self._precision.numbers():
                random = torch.Generator()
                forwards = [lambda p=p: task.loss(task.model, p, random) for p in parts]
                return kept(task.model, forwards, [mask])
        for batch in self.batches:
            tokens, loss, _ = replicas.gradients([batch], list(range(replicas.size)))
            replicas.update(lr, min(1.0, 1.0 / replicas.norm()))
        return loss / tokens


def trainer(work: str, workers: int = 0, numbers: str = "auto") -> Training:
    """Make ready to train; so many workers, or as many as training itself would take.

    Its numbers are those that training itself would take, too.
    """
    read = TrainingWork.read(work)
    torch.manual_seed(1)
    model = Transformer(ModelSettings.model_validate(read.sizes), TokenIds(**vars(read.ids)))
    batches = [batch_of(source, target, read.ids.pad) for source, target in read.batches]
    return Training(model, batches, read.smoothing, workers, numbers)


class Decoding:
    """An engine over batches of so many sentences, a batch a worker; 0 is the engine's own way."""

    def __init__(self, path: Path, engine: str, compute: str) -> None:
        work = json.loads((path / "work.json").read_text(encoding="utf-8"))
        self._sources, self._steps = work["sources"], work["steps"]
        folder = open_folder(path / "model")
        self._cores = os.cpu_count() or 1
        self._engine: Any
        if engine == "torch":
            model = load_model(folder)
            self._engine = TorchEngine(model)
            self._search: Callable[..., Any] = TorchEngine(model, workers=1).search
            self._pool = ThreadPoolExecutor(self._cores)
        else:
            from heedful.tasks.translation.exchange.conversions import open_engine

            self._engine = open_engine(folder, compute)  # type: ignore[arg-type]
            self._search = self._engine.search
            # Twice as many as work, so that a batch is always waiting.
            self._pool = ThreadPoolExecutor(2 * self._cores)

    def __call__(self, batch: int, beam: int, every: int = 1) -> list[list[int]]:
        """Give the ids of every sentence."""
        how = {"beam": beam, "max_length": self._steps, "guards": False}
        sources = self._sources[::every]
        if batch <= 1:  # the engine divides them by itself, with so little room into ones
            settings = DecodeSettings(**how, **({"batch_tokens": 1} if batch else {}))
            found = self._engine.search(sources, settings, scored=False)
            return [hypotheses[0].ids for hypotheses in found]
        settings = DecodeSettings(**how, batch_tokens=1 << 30)
        self._engine.workers, spread = 1, self._engine.workers  # a batch is not to be divided
        parts = [sources[i : i + batch] for i in range(0, len(sources), batch)]
        done = list(self._pool.map(lambda part: self._search(part, settings, scored=False), parts))
        self._engine.workers = spread
        return [hypotheses[0].ids for found in done for hypotheses in found]


def decoder(work: str, engine: str, compute: str = "float32") -> Decoding:
    """Make ready to decode."""
    return Decoding(Path(work), engine, compute)


def held() -> int:
    """Give the most bytes this process has held so far."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024


def endless(sizes: dict[str, Any], ids: TokenIds) -> Transformer:
    """Make a model with random weights that never ends a sentence: each has the length asked for.

    What a step costs does not depend on what it says.
    """
    torch.manual_seed(1)
    model = Transformer(ModelSettings.model_validate(sizes | {"output_bias": True}), ids)
    assert model.output_bias is not None
    with torch.no_grad():
        model.output_bias[ids.eos] = -1e9
    return model


def grower(kind: str, sizes: dict[str, Any], vocabulary: int, rows: int, length: int) -> Any:
    """Make ready for one training step, or one greedy search, of so many rows of such a length."""
    ids = TokenIds(size=vocabulary, pad=vocabulary - 1, start=vocabulary - 1)
    model = endless(sizes, ids)
    sources = torch.randint(2, vocabulary - 1, (rows, length)).tolist()
    if kind == "train":
        return Training(model, [batch_of(sources, sources, ids.pad)])
    return Growing(model.eval(), sources, length)


class Growing:
    """A greedy search of a given length."""

    def __init__(self, model: Transformer, sources: list[list[int]], length: int) -> None:
        self._engine, self._sources = TorchEngine(model), sources
        self._how = DecodeSettings(beam=1, max_length=length, guards=False)
        self.facts = {"before": held()}

    def __call__(self) -> None:
        """Search."""
        self._engine.search(self._sources, self._how)
