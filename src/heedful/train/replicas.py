"""Threads that train replicas of one model, each on its part of the batch and on its own core.

A CPU step made of small operations, each split over all cores, spends its time waiting: after
every operation all cores meet, and where one is busy with anything else the others stand still.
Here the batch is split instead, and the cores meet twice a step. Weights are shared memory,
gradients are each replica's own until they are summed, always in the same order: a repeated run is
bit-exact.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch
from torch import Tensor, nn

from heedful.nn.dropout import Dropout
from heedful.nn.loss import Loss
from heedful.settings import TrainSettings
from heedful.train.learner import Learner
from heedful.train.optim import make_optimizer
from heedful.train.precision import Precision, Scale
from heedful.train.strategy import Strategy

__all__ = ["Replicas", "compile_layers", "layers_of", "moments_of", "take_moments"]

BatchT = TypeVar("BatchT")
ItemT = TypeVar("ItemT")
ResultT = TypeVar("ResultT")


class Replicas(Strategy[BatchT]):
    """Runs forward, backward and Adam for a learner, on `size` threads of one process."""

    def __init__(
        self,
        learner: Learner[BatchT],
        settings: TrainSettings,
        size: int,
        precision: Precision | None = None,
    ) -> None:
        self._precision = precision or Precision()
        self.scale = Scale(self._precision)
        self.learner, self.model = learner, learner.model
        self._models = [learner.model, *(_replica(learner.model) for _ in range(size - 1))]
        self._generators = [torch.Generator() for _ in self._models]
        for model, generator in zip(self._models, self._generators, strict=True):
            for module in model.modules():
                if isinstance(module, Dropout):
                    module.generator = generator
        if settings.compile:
            compile_layers(self._models)
        self._shares = _deal(learner.model, size)
        self.optimizers = [make_optimizer(share, settings) for share in self._shares]
        self._pool = ThreadPoolExecutor(size) if size > 1 else None

    @property
    def size(self) -> int:
        """How many replicas there are, the model itself included."""
        return len(self._models)

    def gradients(self, group: Sequence[BatchT], seeds: Sequence[int]) -> tuple[int, float, float]:
        """Leave the gradient of some batches on the model, each worker doing its part of each."""
        tokens, factor = sum(self.learner.tokens(batch) for batch in group), self.scale.factor
        for model in self._models:
            model.zero_grad(set_to_none=True)

        def work(worker: int) -> tuple[float, float]:
            self._generators[worker].manual_seed(seeds[worker])
            if self.size == 1:
                torch.manual_seed(seeds[worker])  # a GPU's dropout draws from torch's own generator
            loss = nll = 0.0
            for batch in group:
                parts = self.learner.split(batch, self.size)
                if worker >= len(parts):
                    continue
                with self._precision.numbers():
                    found: Loss = self.learner.loss(self._models[worker], parts[worker])
                (found.loss * (factor / tokens)).backward()  # type: ignore[no-untyped-call]
                loss += found.loss.item()
                nll += found.nll.item()
            return loss, nll

        done = self._map(work, range(self.size))
        self._map(self._sum, range(self.size))
        if factor != 1:
            for parameter in self.model.parameters():
                if parameter.grad is not None:
                    parameter.grad.mul_(1 / factor)
        return tokens, sum(d[0] for d in done), sum(d[1] for d in done)

    def _sum(self, worker: int) -> None:
        """Add the replicas' gradients to the model's own, for this worker's share of it."""
        mine = set(map(id, self._shares[worker]))
        own = list(self.model.parameters())
        for replica in self._models[1:]:
            for parameter, other in zip(own, replica.parameters(), strict=True):
                if id(parameter) not in mine or other.grad is None:
                    continue
                if parameter.grad is None:
                    parameter.grad = other.grad
                else:
                    parameter.grad += other.grad

    def norm(self) -> float:
        """Give the norm of the whole gradient."""
        squares = self._map(_squares, self._shares)
        return float(torch.stack(squares).sum().sqrt())

    def update(self, lr: float, scale: float) -> None:
        """Scale the gradient and take Adam's step, each worker its share of the weights."""

        def work(worker: int) -> None:
            if scale != 1:
                for parameter in self._shares[worker]:
                    if parameter.grad is not None:
                        parameter.grad.mul_(scale)
            for group in self.optimizers[worker].param_groups:
                group["lr"] = lr
            self.optimizers[worker].step()

        self._map(work, range(self.size))

    def tensors(self) -> dict[str, Tensor]:
        """Give weights and Adam's moments by name."""
        found = {f"model.{n}": p.detach() for n, p in self.model.named_parameters()}
        for name, parameter in self.model.named_parameters():
            for optimizer in self.optimizers:
                found |= moments_of(optimizer, name, parameter)
        return found

    @torch.no_grad()
    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take weights and moments back; without moments, Adam begins anew."""
        for optimizer in self.optimizers:
            optimizer.state.clear()
        for name, parameter in self.model.named_parameters():
            parameter.copy_(tensors[f"model.{name}"])
            for optimizer, share in zip(self.optimizers, self._shares, strict=True):
                if any(one is parameter for one in share):
                    take_moments(optimizer, name, parameter, tensors)

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


MOMENTS = ("exp_avg", "exp_avg_sq", "step")


def moments_of(
    optimizer: torch.optim.Optimizer, name: str, parameter: nn.Parameter
) -> dict[str, Tensor]:
    """Give what Adam remembers of a weight, under names for a file."""
    state = optimizer.state.get(parameter, {})
    return {f"{kind}.{name}": state[kind].detach() for kind in MOMENTS if kind in state}


def take_moments(
    optimizer: torch.optim.Optimizer,
    name: str,
    parameter: nn.Parameter,
    tensors: Mapping[str, Tensor],
) -> None:
    """Have Adam remember what was saved of a weight, where anything was."""
    if f"exp_avg.{name}" in tensors:
        optimizer.state[parameter] = {
            kind: tensors[f"{kind}.{name}"].clone().to(parameter.device) for kind in MOMENTS
        }


def _replica(model: nn.Module) -> nn.Module:
    """Copy a model whose weights are the same memory, with gradients of its own."""
    replica = copy.deepcopy(model)
    for theirs, ours in zip(replica.parameters(), model.parameters(), strict=True):
        theirs.data = ours.data
    return replica


def _deal(model: nn.Module, shares: int) -> list[list[nn.Parameter]]:
    """Deal the weights out so that every share has about as many numbers."""
    dealt: list[list[nn.Parameter]] = [[] for _ in range(shares)]
    sizes = [0] * shares
    for parameter in sorted(model.parameters(), key=lambda p: -p.numel()):
        least = sizes.index(min(sizes))
        dealt[least].append(parameter)
        sizes[least] += parameter.numel()
    return dealt


def _squares(share: Sequence[nn.Parameter]) -> Tensor:
    gradients = [p.grad for p in share if p.grad is not None]
    return torch.nn.utils.get_total_norm(gradients).square() if gradients else torch.zeros(())
