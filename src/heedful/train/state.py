"""Where a training is, how much time it has, and how it ended."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any, NamedTuple

FORMERLY = {"place": "batch", "look_at": "evaluate_at", "tokens": "count"}
"""Names in the states of earlier versions."""


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
class Window:
    """Sums since the last line of the log."""

    count: int = 0
    """Predictions."""
    loss: float = 0.0
    nll: float = 0.0
    norm: float = 0.0
    steps: int = 0

    def __post_init__(self) -> None:
        """Start the clock, which is no part of a state: rates may differ where a run went on."""
        self._begun, self._before = time.monotonic(), self.count

    def add(self, count: int, loss: float, nll: float, norm: float) -> None:
        """Count one step."""
        self.count += count
        self.loss += loss
        self.nll += nll
        self.norm += norm
        self.steps += 1

    def means(self) -> dict[str, float]:
        """Give the means since the window was opened."""
        return {
            "loss": self.loss / self.count,
            "nll": self.nll / self.count,
            "gradient_norm": self.norm / self.steps,
        }

    def speed(self) -> float:
        """Give how many predictions a second there were."""
        return (self.count - self._before) / max(1e-9, time.monotonic() - self._begun)


class Kept(NamedTuple):
    """Weights kept for averaging."""

    step: int
    score: float
    digest: str
    """The sha256 of their file; empty where they are not kept but only counted."""


@dataclass
class State:
    """Where a run is: everything that is not a tensor."""

    step: int = 0
    epoch: int = 0
    batch: int = 0
    """Batches of the epoch already taken."""
    count: int = 0
    """Predictions so far."""
    window: Window = field(default_factory=Window)
    best: float = -math.inf
    loss_of_best: float = math.inf
    best_loss: float = math.inf
    """The lowest of any evaluation, which need not be that of the best score."""
    best_step: int = 0
    stale: int = 0
    """Evaluations since anything got better."""
    evaluate_at: int = 0
    """The step of the next evaluation, where they are not every so many steps."""
    kept: list[Kept] = field(default_factory=list)
    peak: float = 0.0
    """The peak learning rate, to notice when another one is asked for."""
    anchors: list[tuple[int, float, int]] = field(default_factory=list)
    where: str = ""
    """Device, numbers and workers: on others the run is not bit-exact."""
    loss_scale: tuple[float, int] = (1.0, 0)
    """Of float16: the factor, and good steps since it changed."""
    lr_scale: float = 1.0
    """Halved at each rollback."""
    rollbacks: int = 0
    """In a row, without a state saved beyond where it went wrong."""
    diverged_at: int = 0
    typical: float = 0.0
    """The loss a prediction of late, and how far it usually is from that."""
    spread: float = 0.0
    spiked_at: int = 0
    log_size: int = 0
    """Bytes of the log that belong to this state, and their sha256."""
    log_digest: str = ""
    spent: float = 0.0
    """Seconds of the run so far, all its parts together."""
    saved: int = 0
    """How often the run was saved."""
    finished: bool = False
    why: str = ""
    weights: str = "none yet"
    """How the run ended, and which weights were chosen, in words."""

    def to_facts(self) -> dict[str, Any]:
        """Give it as what JSON can hold."""
        return asdict(self)

    @classmethod
    def of_facts(cls, facts: Mapping[str, Any]) -> State:
        """Take it from what JSON held; what else is there is not ours."""
        facts, window = _renamed(facts), _renamed(facts["window"])
        own = {f.name: facts[f.name] for f in fields(cls) if f.name in facts}
        own["window"] = Window(**window)
        own["kept"] = [Kept(*kept) for kept in own["kept"]]
        own["loss_scale"] = tuple(own["loss_scale"])
        own["anchors"] = [tuple(anchor) for anchor in own["anchors"]]
        return cls(**own)


def _renamed(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {FORMERLY.get(name, name): value for name, value in facts.items()}


@dataclass(frozen=True)
class Outcome:
    """How a training ended."""

    step: int
    epochs: float
    count: int
    """Predictions."""
    seconds: float
    score: float
    why: str
    """"finished", "no better for a while" or "interrupted"."""
    weights: str
    """Which weights were chosen, in words."""
    parameters: int
