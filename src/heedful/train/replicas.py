"""Threads that train replicas of one model, each on its part of the batch and on its own core.

A CPU step made of small operations, each split over all cores, spends its time waiting: after
every operation all cores meet, and where one is busy with anything else the others stand still.
Here the batch is split instead, and the cores meet twice a step. Weights are shared memory,
gradients are each replica's own until they are summed, always in the same order: a repeated run is
bit-exact. Buffers are each replica's own during a step; after it all have those of the first.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TypeVar

import torch
from torch import Tensor, nn

from heedful.nn.dropout import draw_from
from heedful.nn.loss import Loss
from heedful.settings import TrainSettings
from heedful.train.checkpoint import buffer_names, take_weights, weights_of
from heedful.train.learner import Learner
from heedful.train.optim import gather_rows, memory_of, numbers_of, remember, take_step
from heedful.train.precision import Precision, Scale
from heedful.train.strategy import Strategy

BatchT = TypeVar("BatchT")
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class Replicas(Strategy[BatchT]):
    """Runs forward, backward and the optimiser for a learner, on `size` threads of one process."""

    def __init__(
        self,
        learner: Learner[BatchT],
        settings: TrainSettings,
        size: int,
        precision: Precision | None = None,
    ) -> None:
        self._precision = precision or Precision()
        self.scale = Scale(self._precision)
        self.learner, self.model, self.size = learner, learner.model, size
        self._models = [learner.model, *(_replica(learner.model) for _ in range(size - 1))]
        self._generators = [torch.Generator() for _ in self._models]
        for model, generator in zip(self._models, self._generators, strict=True):
            draw_from(model, generator)
        if settings.compile:
            compile_layers(self._models)
        self._buffers = buffer_names(learner.model)
        self._shares = _deal(learner.model, size)
        every = zip(*(model.parameters() for model in self._models), strict=True)
        self._copies = {parameter: copies for parameter, *copies in every}
        self._names = {parameter: name for name, parameter in learner.model.named_parameters()}
        self.optimizers = [
            learner.optimizer({self._names[p]: p for p in share}, settings)
            for share in self._shares
        ]
        self._pool = ThreadPoolExecutor(size) if size > 1 else None

    def gradients(self, group: Sequence[BatchT], seeds: Sequence[int]) -> tuple[int, float, float]:
        """Leave the gradient of some batches on the model, each worker doing its part of each."""
        count, factor = sum(self.learner.count(batch) for batch in group), self.scale.factor
        for model in self._models:
            model.zero_grad(set_to_none=True)

        def work(worker: int) -> tuple[float, float]:
            model, generator = self._models[worker], self._generators[worker]
            generator.manual_seed(seeds[worker])
            loss = nll = 0.0
            for batch in group:
                parts = self.learner.split(batch, self.size)
                if worker >= len(parts):
                    continue
                with self._precision.numbers():
                    found: Loss = self.learner.loss(model, parts[worker], generator)
                (found.loss * (factor / count)).backward()  # type: ignore[no-untyped-call]
                loss += found.loss.item()
                nll += found.nll.item()
            return loss, nll

        if self.size == 1:
            torch.manual_seed(seeds[0])  # a GPU's dropout draws from torch's own generator
        with self.repeatable():
            done = self._map(work, range(self.size))
        self._share_buffers()
        self._map(self._sum, self._shares)
        if factor != 1:
            self._map(partial(_scale, factor=1 / factor), self._shares)
        return count, sum(d[0] for d in done), sum(d[1] for d in done)

    def _sum(self, share: Sequence[nn.Parameter]) -> None:
        """Add the replicas' gradients to the model's own, for a share of its weights."""
        for parameter in share:
            for copied in self._copies[parameter]:
                if parameter.grad is None:
                    parameter.grad = copied.grad
                elif copied.grad is not None:
                    parameter.grad += copied.grad
        gather_rows(share)

    def _share_buffers(self) -> None:
        """Give every replica the buffers of the first."""
        for name in self._buffers:
            for replica in self._models[1:]:
                replica.get_buffer(name).copy_(self.model.get_buffer(name))

    def norm(self) -> float:
        """Give the norm of the whole gradient."""
        squares = self._map(_squares, self._shares)
        return float(torch.stack(squares).sum().sqrt())

    def update(self, lr: float, scale: float) -> None:
        """Scale the gradient and take a step, each worker its share of the weights."""

        def work(worker: int) -> None:
            if scale != 1:
                _scale(self._shares[worker], scale)
            take_step(self.optimizers[worker], lr)

        self._map(work, range(len(self._shares)))

    def tensors(self) -> dict[str, Tensor]:
        """Give weights, buffers and what the optimisers remember, by name."""
        found = {f"model.{name}": tensor for name, tensor in weights_of(self.model).items()}
        for name, parameter in self.model.named_parameters():
            for optimizer in self.optimizers:
                found |= memory_of(optimizer, name, parameter)
        return found

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take back what `tensors` gave; with weights alone the optimisers begin anew."""
        take_weights(self.model, {n.removeprefix("model."): t for n, t in tensors.items()})
        self._share_buffers()
        for optimizer, share in zip(self.optimizers, self._shares, strict=True):
            optimizer.state.clear()
            for parameter in share:
                remember(optimizer, self._names[parameter], parameter, tensors)

    def _map(self, work: Callable[[ItemT], ResultT], items: Iterable[ItemT]) -> list[ResultT]:
        return list(map(work, items) if self._pool is None else self._pool.map(work, items))

    def close(self) -> None:
        """Let the workers go."""
        if self._pool is not None:
            self._pool.shutdown()


def layers_of(model: nn.Module) -> list[nn.Module]:
    """Give a model's layers: what is compiled, or gathered by FSDP, one at a time."""
    stacks = [module for module in model.modules() if isinstance(module, nn.ModuleList)]
    return [layer for stack in stacks for layer in stack]


def compile_layers(models: Sequence[nn.Module]) -> None:
    """Have torch.compile make one function of each layer, for any lengths."""
    for model in models:
        for layer in layers_of(model):
            layer.compile(dynamic=True)


def _replica(model: nn.Module) -> nn.Module:
    """Copy a model whose weights are the same memory, with gradients of its own."""
    replica = copy.deepcopy(model)
    for theirs, ours in zip(replica.parameters(), model.parameters(), strict=True):
        theirs.data = ours.data
    return replica


def _deal(model: nn.Module, shares: int) -> list[list[nn.Parameter]]:
    """Deal the weights out so that every share has about as many numbers, and none is empty."""
    weights = sorted(model.parameters(), key=lambda p: -p.numel())
    dealt: list[list[nn.Parameter]] = [[] for _ in range(min(shares, len(weights)))]
    sizes = [0] * len(dealt)
    for parameter in weights:
        least = sizes.index(min(sizes))
        dealt[least].append(parameter)
        sizes[least] += parameter.numel()
    return dealt


def _squares(share: Sequence[nn.Parameter]) -> Tensor:
    gradients = [numbers_of(p.grad) for p in share if p.grad is not None]
    return torch.nn.utils.get_total_norm(gradients).square() if gradients else torch.zeros(())


def _scale(share: Sequence[nn.Parameter], factor: float) -> None:
    for parameter in share:
        if parameter.grad is not None:
            numbers_of(parameter.grad).mul_(factor)
