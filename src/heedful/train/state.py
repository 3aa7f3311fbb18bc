"""Where a training is, how much time it has, and how it ended."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass, field

__all__ = ["Clock", "Outcome", "State", "Window"]


class Clock:
    """How much of the minutes is left, counted from the command's start."""

    def __init__(self, minutes: float | None, started: float | None = None) -> None:
        self.started = time.time() if started is None else started
        self._seconds = None if minutes is None else 60 * minutes

    def spent(self) -> float:
        """Seconds since the start."""
        return time.time() - self.started

    def left(self) -> float:
        """Seconds left; without a limit, endless."""
        return math.inf if self._seconds is None else self._seconds - self.spent()


@dataclass
class State:
    """Where a run is: everything that is not a tensor."""

    step: int = 0
    epoch: int = 0
    place: int = 0
    """Batches of the epoch already taken."""
    tokens: int = 0
    best: float = -math.inf
    loss_of_best: float = math.inf
    best_loss: float = math.inf
    """The lowest of any look, which need not be that of the best score."""
    best_step: int = 0
    stale: int = 0
    """Looks since anything got better."""
    look_at: int = 0
    """The step of the next look, where looks are not every so many steps."""
    kept: list[tuple[int, float]] = field(default_factory=list)
    """Step and score of the weights kept for averaging."""
    anchors: list[tuple[int, float, int]] = field(default_factory=list)
    spent: float = 0.0
    """Seconds of earlier parts of the run."""
    finished: bool = False
    why: str = ""
    weights: str = "none yet"
    """How the run ended, and which weights were chosen, in words."""


@dataclass(frozen=True)
class Outcome:
    """How a training ended."""

    step: int
    epochs: float
    tokens: int
    seconds: float
    score: float
    why: str
    """"finished", "no better for a while" or "interrupted"."""
    weights: str
    """Which weights were chosen, in words."""


class Window:
    """Sums since the last line of the log."""

    def __init__(self) -> None:
        self.tokens, self.loss, self.nll, self.norm, self.steps = 0, 0.0, 0.0, 0.0, 0
        self.begun = time.monotonic()

    def add(self, tokens: int, loss: float, nll: float, norm: float) -> None:
        """Count one step."""
        self.tokens += tokens
        self.loss += loss
        self.nll += nll
        self.norm += norm
        self.steps += 1

    def figures(self) -> dict[str, float]:
        """Give the means, and the speed, since the window was opened."""
        return {
            "loss": self.loss / self.tokens,
            "perplexity": math.exp(min(50.0, self.nll / self.tokens)),
            "gradient_norm": self.norm / self.steps,
            "tokens_per_second": self.tokens / (time.monotonic() - self.begun),
            "at": time.time(),
        }
