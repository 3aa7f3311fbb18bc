"""Adam as in the paper, and how its learning rate rises and falls."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field

import torch
from torch import nn

from heedful.settings import TrainSettings

__all__ = ["Anchor", "Schedule", "make_optimizer"]


def make_optimizer(
    parameters: Iterable[nn.Parameter], settings: TrainSettings, fused: bool = True
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
        lr=0.0,
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        fused=fused,
    )


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
