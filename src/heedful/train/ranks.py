"""Many processes on PyTorch's own engine: DDP, or FSDP2 where one device cannot hold the model.

`torchrun` starts the processes and tells each its rank. Every process goes through the same batches
and takes its share of the rows, so the number of processes changes nothing but the time: a state
saved by two continues on one, and the other way round. The summed loss is divided by the
predictions of all of them. Buffers after a step are those of the lead.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from typing import Any, Literal, TypeVar, cast

import torch
import torch.distributed as dist
from torch import Tensor, nn
from torch.distributed.device_mesh import init_device_mesh
from torch.distributed.fsdp import FSDPModule, fully_shard
from torch.distributed.tensor import DTensor, distribute_tensor
from torch.nn.parallel import DistributedDataParallel

from heedful.nn.dropout import draw_from
from heedful.nn.loss import Loss
from heedful.settings import TrainSettings
from heedful.train.checkpoint import buffer_names
from heedful.train.learner import Learner
from heedful.train.optim import gather_rows, memory_of, numbers_of, remember, take_step
from heedful.train.precision import Precision, Scale
from heedful.train.replicas import compile_layers, layers_of
from heedful.train.strategy import Strategy
from heedful.train.world import from_lead

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")
Parallel = Literal["ddp", "fsdp"]
NOMINAL = 4096.0
"""The loss is divided by this before backward, by the predictions of all processes after: a scale
that every process knows keeps float16 from overflowing."""


class _Whole(nn.Module):
    """Model and loss as one module, for DDP and FSDP act around a module's `forward`."""

    def __init__(self, learner: Learner[Any], model: nn.Module, generator: torch.Generator) -> None:
        super().__init__()
        self.model = model
        self._learner, self._generator = learner, generator

    def forward(self, batch: Any) -> Loss:
        """Give the summed loss of a batch."""
        return self._learner.loss(self.model, batch, self._generator)


class Ranks(Strategy[BatchT]):
    """Does the part of one process among several."""

    def __init__(
        self,
        learner: Learner[BatchT],
        settings: TrainSettings,
        parallel: Parallel,
        precision: Precision | None = None,
    ) -> None:
        self._precision = precision or Precision()
        self.scale = Scale(self._precision)
        self.learner = learner
        self.part, self.parts = dist.get_rank(), dist.get_world_size()
        self.lead = self.part == 0
        self._generator = torch.Generator()
        self._buffers = buffer_names(learner.model)
        if parallel == "fsdp":
            # The learner's own model stays whole, for the lead to evaluate.
            self._own = copy.deepcopy(learner.model)
            whole: nn.Module = _Whole(learner, self._own, self._generator)
            device = next(self._own.parameters()).device.type
            mesh = init_device_mesh(device, (self.parts,))
            for layer in layers_of(self._own):
                fully_shard(layer, mesh=mesh)
            fully_shard(whole, mesh=mesh)
            self._model = whole
        else:
            self._own = learner.model
            self._model = DistributedDataParallel(
                _Whole(learner, self._own, self._generator), broadcast_buffers=False
            )
        if settings.compile:
            compile_layers([self._own])
        draw_from(self._own, self._generator)
        self.optimizer = learner.optimizer(dict(self._own.named_parameters()), settings)

    def gradients(self, group: Sequence[BatchT], seeds: Sequence[int]) -> tuple[int, float, float]:
        """Leave the gradient of all processes' batches, divided by all their predictions."""
        self.optimizer.zero_grad(set_to_none=True)
        self._generator.manual_seed(seeds[0])
        torch.manual_seed(seeds[0])
        sums, factor = torch.zeros(3, dtype=torch.float64), self.scale.factor
        with self.repeatable():
            for number, batch in enumerate(group):
                before = [] if self.learner.count(batch) else [b.clone() for b in self._kept()]
                with self._alone(number + 1 < len(group)):
                    with self._precision.numbers():
                        found: Loss = self._model(batch)
                    (found.loss * (factor / NOMINAL)).backward()  # type: ignore[no-untyped-call]
                for buffer, value in zip(self._kept(), before, strict=False):
                    buffer.copy_(value)  # a stand-in without predictions changes nothing
                seen = [self.learner.count(batch), found.loss.item(), found.nll.item()]
                sums += torch.tensor(seen, dtype=torch.float64)
        for buffer in self._kept():
            dist.broadcast(buffer, 0)
        gather_rows(self._own.parameters())
        sums = self._sum(sums)
        count = int(sums[0])
        # DDP and FSDP both leave the mean over the processes.
        self._scale_gradients(self.parts * NOMINAL / (count * factor))
        return count, float(sums[1]), float(sums[2])

    def _kept(self) -> list[Tensor]:
        return [self._own.get_buffer(name) for name in self._buffers]

    def _alone(self, more: bool) -> AbstractContextManager[None]:
        """Leave the exchange of gradients to the last batch of a step."""
        if isinstance(self._model, DistributedDataParallel):
            return self._model.no_sync() if more else nullcontext()
        cast(FSDPModule, self._model).set_requires_gradient_sync(not more)
        return nullcontext()

    def _gradients(self) -> list[Tensor]:
        return [numbers_of(p.grad) for p in self._own.parameters() if p.grad is not None]

    def _scale_gradients(self, factor: float) -> None:
        for gradient in self._gradients():
            gradient.mul_(factor)

    def _sum(self, numbers: Tensor) -> Tensor:
        there = numbers.to(next(self._own.parameters()).device)
        dist.all_reduce(there)
        return there.cpu()

    def norm(self) -> float:
        """Give the norm of the whole gradient, of which a process may have a part only."""
        return float(_full(torch.nn.utils.get_total_norm(self._gradients())))

    def update(self, lr: float, scale: float) -> None:
        """Scale the gradient and take the optimiser's step."""
        if scale != 1:
            self._scale_gradients(scale)
        take_step(self.optimizer, lr)

    def tensors(self) -> dict[str, Tensor]:
        """Give weights, buffers, and what the optimiser remembers, whole; every process asks."""
        found = {f"model.{name}": self._own.get_buffer(name).cpu() for name in self._buffers}
        found = found if self.lead else {}
        for name, parameter in self._own.named_parameters():
            mine = {f"model.{name}": parameter.detach()}
            mine |= memory_of(self.optimizer, name, parameter)
            for key, tensor in mine.items():
                whole = _full(tensor)
                if self.lead:
                    found[key] = whole.cpu()
        return found

    @torch.no_grad()
    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take back what `tensors` gave, each process its part."""
        self.optimizer.state.clear()
        for name, parameter in self._own.named_parameters():
            parameter.copy_(_like(tensors[f"model.{name}"], parameter))
            remember(self.optimizer, name, parameter, tensors, _like)
        for name in self._buffers:
            self._own.get_buffer(name).copy_(tensors[f"model.{name}"])
        self.refresh()

    @torch.no_grad()
    def refresh(self) -> None:
        """Copy the parts together into the learner's model, in the lead."""
        if self._own is self.learner.model:
            return
        for name in self._buffers:
            self.learner.model.get_buffer(name).copy_(self._own.get_buffer(name))
        places = dict(self.learner.model.named_parameters())
        for name, parameter in self._own.named_parameters():
            whole = _full(parameter.detach())
            if self.lead:
                places[name].copy_(whole)

    def together(self, work: Callable[[], ResultT]) -> ResultT:
        """Do something in the lead, and hand its result to the others."""
        return cast(ResultT, from_lead(work() if self.lead else None))

    def agree(self, flags: Sequence[bool]) -> list[bool]:
        """Give, for each flag, whether it is set in any process."""
        return [count > 0 for count in self._sum(torch.tensor(list(map(float, flags)))).tolist()]


def _full(tensor: Tensor) -> Tensor:
    return tensor.full_tensor() if isinstance(tensor, DTensor) else tensor


def _like(whole: Tensor, place: Tensor) -> Tensor:
    if isinstance(place, DTensor):
        return distribute_tensor(whole, place.device_mesh, place.placements)
    return whole.to(place.device)
