"""Adam as in the paper, how the learning rate rises and falls, what an optimiser remembers."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from heedful.errors import TrainingError
from heedful.settings import TrainSettings

NUMBER = "#"
"""Marks what an optimiser keeps as a number of Python's own: with a tensor in its place the
arithmetic would round otherwise."""
OTHERS = ("model", "ema")
"""Beginnings of names in a state that are no optimiser's: the weights, and averages of old."""


def make_optimizer(
    parameters: Iterable[nn.Parameter], settings: TrainSettings
) -> torch.optim.AdamW:
    """Make Adam(0.9, 0.98, 1e-9); weight decay, where asked for, spares biases and norms."""
    parameters = list(parameters)
    matrices = [p for p in parameters if p.dim() > 1]
    others = [p for p in parameters if p.dim() <= 1]
    groups = [
        {"params": matrices, "weight_decay": settings.weight_decay},
        {"params": others, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        [g for g in groups if g["params"]],
        lr=1.0,  # times the schedule's
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        fused=all(type(p.data) is Tensor for p in parameters),  # not of what FSDP has divided
    )


def take_step(optimizer: torch.optim.Optimizer, lr: float) -> None:
    """Take a step; the rate a group was made with is a factor of the schedule's."""
    for group in optimizer.param_groups:
        group["lr"] = lr * group.setdefault("factor", group["lr"])
    optimizer.step()


def gather_rows(parameters: Iterable[nn.Parameter]) -> None:
    """Have sparse gradients hold every row once, so that they can be measured and scaled."""
    checks = torch.sparse.check_sparse_tensor_invariants
    for parameter in parameters:
        if parameter.grad is not None and parameter.grad.is_sparse:
            if not checks.is_enabled():  # type: ignore[no-untyped-call]
                checks.disable()  # type: ignore[no-untyped-call]  # unsaid, torch warns
            parameter.grad = parameter.grad.coalesce()


def numbers_of(gradient: Tensor) -> Tensor:
    """Give the numbers of a gradient to scale and to measure: of a sparse one, those it has."""
    return gradient.values() if gradient.is_sparse else gradient


def memory_of(
    optimizer: torch.optim.Optimizer, name: str, parameter: nn.Parameter
) -> dict[str, Tensor]:
    """Give what an optimiser remembers of a weight, under names for a file."""
    found = {}
    for kind, value in optimizer.state.get(parameter, {}).items():
        if isinstance(value, Tensor) and value.layout is torch.strided:
            found[f"{kind}.{name}"] = value.detach()
        elif isinstance(value, int | float):
            size = torch.int64 if isinstance(value, int) else torch.float64
            found[f"{kind}{NUMBER}.{name}"] = torch.tensor(value, dtype=size)
        elif value is not None:
            raise TrainingError(
                f"{type(optimizer).__name__} keeps {kind} of {name} as a {_kind(value)}, which a "
                f"state cannot hold; expected dense tensors and numbers: take another optimiser"
            )
    return found


def _kind(value: object) -> str:
    return "sparse tensor" if isinstance(value, Tensor) else type(value).__name__


def remember(
    optimizer: torch.optim.Optimizer,
    name: str,
    parameter: nn.Parameter,
    tensors: Mapping[str, Tensor],
    placed: Callable[[Tensor, Tensor], Tensor] = lambda whole, like: whole.to(like.device),
) -> None:
    """Have an optimiser remember what was saved of a weight, where anything was."""
    quick = any(group.get("fused") or group.get("capturable") for group in optimizer.param_groups)
    home = parameter.device if quick else torch.device("cpu")  # of a count of steps
    state: dict[str, Tensor | float] = {}
    for key, value in tensors.items():
        kind, _, of = key.partition(".")
        if of != name or kind in OTHERS:
            continue
        if kind.endswith(NUMBER):
            state[kind.removesuffix(NUMBER)] = value.item()
        else:
            state[kind] = (
                placed(value.clone(), parameter) if value.dim() else value.clone().to(home)
            )
    if state:
        optimizer.state[parameter] = state


@dataclass(frozen=True)
class Anchor:
    """From `step` on the learning rate falls straight from `lr` to zero at `end`."""

    step: int
    lr: float
    end: int


@dataclass
class Schedule:
    """Rise to the peak over the warm-up, then fall.

    `paper` falls with the inverse square root of the step: with the default peak this is the
    paper's d_model^-0.5 x min(step^-0.5, step x warmup^-1.5). `linear` falls straight to zero at
    the end; where the end is a time, it is foreseen anew now and then, and each foreseeing is
    an anchor that is kept, so that the same steps always have the same learning rates.
    """

    peak: float
    warmup: int
    kind: str
    anchors: list[Anchor] = field(default_factory=list)

    def lr(self, step: int) -> float:
        """Give the learning rate of a step, the first being 1."""
        if self.kind == "paper":
            return self.peak * min(step / self.warmup, math.sqrt(self.warmup / step))
        rising = self.peak * min(1.0, step / self.warmup)
        for anchor in reversed(self.anchors):
            if step > anchor.step:
                share = (anchor.end - step) / max(1, anchor.end - anchor.step)
                return min(rising, anchor.lr * max(0.0, share))
        return rising

    def foresee(self, step: int, end: int) -> Anchor:
        """Aim for zero at `end` from where the learning rate is after `step`."""
        if step <= self.warmup:
            self.anchors.clear()  # still rising: nothing has been taken from an anchor yet
        start = max(step, self.warmup)
        anchor = Anchor(start, self.lr(start), max(end, start + 1))
        self.anchors.append(anchor)
        return anchor

    @property
    def end(self) -> int | None:
        """The last step foreseen, where there is one."""
        return self.anchors[-1].end if self.anchors else None
