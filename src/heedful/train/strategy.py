"""How a step's arithmetic is shared: among threads (`replicas.py`) or processes (`ranks.py`)."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from typing import Generic, TypeVar

from torch import Tensor

from heedful.train.precision import Scale

__all__ = ["Strategy"]

BatchT = TypeVar("BatchT")
ResultT = TypeVar("ResultT")


class Strategy(ABC, Generic[BatchT]):
    """Forward, backward and Adam on a learner's model, and what several processes must agree on.

    The loop runs the same in every process: they see the same losses and so decide alike. Only the
    lead evaluates, speaks and writes. What is not overridden is meant for a single process.
    """

    lead: bool = True
    """Whether this process speaks and writes."""
    part: int = 0
    """Which part of every batch is this process's, of how many."""
    parts: int = 1

    scale: Scale
    """What the loss is multiplied with where numbers are short."""

    @property
    @abstractmethod
    def size(self) -> int:
        """How many random generators it wants a seed for at every step."""

    @abstractmethod
    def gradients(self, group: Sequence[BatchT], seeds: Sequence[int]) -> tuple[int, float, float]:
        """Leave the gradient of some batches, divided by their tokens, on the model.

        Gives the tokens, the summed loss and the summed negative log-likelihood, of all processes.
        """

    @abstractmethod
    def norm(self) -> float:
        """Give the norm of the whole gradient."""

    @abstractmethod
    def update(self, lr: float, scale: float) -> None:
        """Scale the gradient and take Adam's step."""

    @abstractmethod
    def tensors(self) -> dict[str, Tensor]:
        """Give weights and Adam's moments by name, whole; empty but in the lead."""

    @abstractmethod
    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Take weights and moments back."""

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
