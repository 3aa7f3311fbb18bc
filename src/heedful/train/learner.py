"""What the trainer asks of whoever wants a model trained, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

import torch
from torch import nn

from heedful.nn.loss import Loss
from heedful.settings import TrainSettings
from heedful.train.optim import make_optimizer

BatchT = TypeVar("BatchT")


@dataclass(frozen=True)
class Sample:
    """One example of what the model does now, for a person to read."""

    given: str
    wanted: str
    got: str


@dataclass(frozen=True)
class Evaluation:
    """How good the model is on the development set."""

    score: float
    """Higher is better; weights are chosen by it."""
    loss: float
    """Mean negative log-likelihood of a prediction; lower is better."""
    figures: dict[str, float] = field(default_factory=dict)
    """By name, for the log and the display."""
    samples: tuple[Sample, ...] = ()


class Learner(Protocol[BatchT]):
    """Data, a model and what is wanted of it: the base of every task's learner.

    Two rules make a training that was stopped end like one that was not, to the bit:

    - What a model remembers from step to step is a parameter or a persistent buffer: both are in
      every state and in all weights kept. Where several workers share a batch, each changes buffers
      of its own, and after the step all have those of the first, which saw its part (as in DDP).
    - What `loss` draws, it draws from the generator it is given, which is seeded for every step; a
      module draws from an attribute `generator`, which is set to the same (see nn/dropout.py).
    """

    model: nn.Module
    """What is trained."""
    unit: str = "prediction"
    """What `count` counts, in the singular: token, window, code. Its plural has an s."""
    peak: float = 1e-3
    """The peak learning rate where the settings give none."""
    evaluation_seconds: float = 1.0
    """A guess of how long an evaluation takes, until one has been timed."""

    def size(self, epoch: int) -> int:
        """How many batches an epoch has."""

    def batches(self, epoch: int, start: int, part: int = 0, parts: int = 1) -> Iterator[BatchT]:
        """Give the batches of an epoch from the `start`-th on; the same ones whenever asked.

        Of every batch only one of several parts, where several processes share it; the parts are
        of about equal cost, and a part that would be empty is a stand-in without predictions.
        """

    def where(self, batch: BatchT) -> list[str]:
        """Name the lines of the data a batch was made of, for a person to read."""

    def count(self, batch: BatchT) -> int:
        """How many predictions a batch asks for; its loss is divided by this."""

    def split(self, batch: BatchT, parts: int) -> list[BatchT]:
        """Give a batch as at most so many smaller ones of about equal cost."""

    def loss(self, model: nn.Module, batch: BatchT, generator: torch.Generator) -> Loss:
        """Give the summed loss of a batch under `model`, the learner's own or a replica."""

    def evaluate(self, fresh: bool = False) -> Evaluation:
        """Measure the model on the development set; if `fresh`, on another part if there is one."""

    def figures(self, nll: float) -> dict[str, float]:
        """Say what else a mean `Loss.nll` of training means, such as a perplexity, by name."""
        return {}

    def optimizer(
        self, parameters: Mapping[str, nn.Parameter], settings: TrainSettings
    ) -> torch.optim.Optimizer:
        """Make what takes the steps on some of the weights: every worker has a share of them.

        A group's learning rate is a factor of the schedule's. What it remembers of a weight has to
        be dense tensors and numbers.
        """
        return make_optimizer(parameters.values(), settings)

    def ending(self, evaluation_seconds: float, tests: int) -> float:
        """Seconds to leave for what follows the last step, with so many examples to test on."""
        return 6 * evaluation_seconds
