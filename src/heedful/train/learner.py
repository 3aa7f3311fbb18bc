"""What the trainer asks of whoever wants a model trained, and nothing more."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Protocol, TypeVar

from torch import nn

from heedful.nn.loss import Loss

__all__ = ["Evaluation", "Learner", "Sample"]

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
    """Mean negative log-likelihood of a token; lower is better."""
    figures: dict[str, float] = field(default_factory=dict)
    """By name, for the log and the display."""
    samples: tuple[Sample, ...] = ()


class Learner(Protocol[BatchT]):
    """Data, a model and what is wanted of it."""

    peak: float
    evaluation_seconds: float

    def ending(self, evaluation_seconds: float, tests: int) -> float:
        """Seconds to leave for what follows the last step, with so many examples to test on."""
        ...

    @property
    def model(self) -> nn.Module:
        """What is trained."""
        ...

    def size(self, epoch: int) -> int:
        """How many batches an epoch has."""
        ...

    def batches(self, epoch: int, start: int, part: int = 0, parts: int = 1) -> Iterator[BatchT]:
        """Give the batches of an epoch from the `start`-th on; the same ones whenever asked.

        Of every batch only one of several parts, where several processes share it; the parts are
        of about equal cost, and a part that would be empty is a stand-in without tokens.
        """
        ...

    def where(self, batch: BatchT) -> list[str]:
        """Name the lines of the corpus a batch was made of, for a person to read."""
        ...

    def tokens(self, batch: BatchT) -> int:
        """How many predictions a batch asks for; its loss is divided by this."""
        ...

    def split(self, batch: BatchT, parts: int) -> list[BatchT]:
        """Give a batch as at most so many smaller ones of about equal cost."""
        ...

    def loss(self, model: nn.Module, batch: BatchT) -> Loss:
        """Give the summed loss of a batch under `model`, the learner's own or a replica."""
        ...

    def evaluate(self, fresh: bool = False) -> Evaluation:
        """Measure the model on the development set; if `fresh`, on another part if there is one."""
        ...
