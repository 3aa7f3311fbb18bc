"""How a step's arithmetic is shared: among threads (`replicas.py`) or processes (`ranks.py`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Generic, TypeVar

import torch
from torch import Tensor

from heedful.errors import TrainingError
from heedful.train.precision import Scale

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")
WATCHED = 25
"""Steps after each start that are watched for random numbers which could not be repeated."""


class Strategy(ABC, Generic[BatchT]):
    """Forward, backward and update of a learner's model, and what several processes agree on.

    The loop runs the same in every process: they see the same losses and so decide alike. Only the
    lead evaluates, speaks and writes. What is not overridden is meant for a single process.
    """

    lead: bool = True
    """Whether this process speaks and writes."""
    part: int = 0
    """Which part of every batch is this process's, of how many."""
    parts: int = 1

    size: int = 1
    """How many random generators it wants a seed for at every step."""
    scale: Scale
    """What the loss is multiplied with where numbers are short."""

    @abstractmethod
    def gradients(self, group: Sequence[BatchT], seeds: Sequence[int]) -> tuple[int, float, float]:
        """Leave the gradient of some batches, divided by their predictions, on the model.

        Gives the predictions, the summed loss and the summed nll, of all processes.
        """

    @abstractmethod
    def norm(self) -> float:
        """Give the norm of the whole gradient."""

    @abstractmethod
    def update(self, lr: float, scale: float) -> None:
        """Scale the gradient and take the optimiser's step."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Give weights, buffers and what the optimiser remembers, whole; empty but in the lead."""

    @abstractmethod
    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take back what `tensors` gave."""

    @contextmanager
    def repeatable(self) -> Iterator[None]:
        """Refuse a step whose random numbers do not follow from the seeds of its generators."""
        before = torch.get_rng_state() if self._watched < WATCHED else None
        yield
        self._watched += 1
        if before is not None and not torch.equal(before, torch.get_rng_state()):
            raise TrainingError(
                "a step drew from torch's own random generator, which threads share, so it cannot "
                "be repeated; draw from the generator that Learner.loss is given, and in a module "
                "from its attribute `generator`, as heedful.nn.dropout.Dropout does"
            )

    _watched = 0

    def refresh(self) -> None:
        """See that the learner's model, in the lead, has the weights of now."""

    def together(self, work: Callable[[], ResultT]) -> ResultT:
        """Do something in the lead and give its result in every process."""
        return work()

    def agree(self, flags: Sequence[bool]) -> list[bool]:
        """Give, for each flag, whether it is set in any process."""
        return list(flags)

    def close(self) -> None:
        """Let go of threads or connections."""
