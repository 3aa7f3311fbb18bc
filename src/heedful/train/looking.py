"""Looking at the development set, keeping the best weights, and choosing at the end."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from functools import partial
from typing import TypeVar

from heedful.machine import give_memory_back
from heedful.tasks.protocol import Evaluation
from heedful.train.checkpoint import average, read_weights, write_weights
from heedful.train.pacing import Paced
from heedful.train.run import Weights
from heedful.train.state import Kept

__all__ = ["Diverged", "Looking"]

BatchT = TypeVar("BatchT")


class Diverged(Exception):
    """The loss or its gradient is no number any more."""

    def __init__(self, loss: float, norm: float) -> None:
        self.what = f"loss {loss}" if not math.isfinite(loss) else f"gradient norm {norm}"
        super().__init__(self.what)


class Looking(Paced[BatchT]):
    """A run that looks at how good it is."""

    def _look(self) -> bool:
        """Evaluate, keep the weights, and say whether it is time to give up."""
        state, started = self.state, time.monotonic()
        self.engine.refresh()
        give_memory_back()  # what the steps left is free for the search, and the other way round
        found = self.engine.together(self.task.evaluate)
        give_memory_back()
        if not math.isfinite(found.loss):
            raise Diverged(found.loss, math.nan)
        better = self._is_better(found)
        if better or found.loss < state.best_loss:
            state.stale = 0
        else:
            state.stale += 1
        state.best_loss = min(state.best_loss, found.loss)
        if better:
            state.best, state.loss_of_best = found.score, found.loss
            state.best_step = state.step
            self._keep()
        self._remember(found)
        self._record(found, better)
        self._look_seconds = self.engine.together(lambda: time.monotonic() - started)
        state.look_at = state.step + self._look_gap()
        return state.stale >= self.settings.patience

    def _keep(self) -> None:
        if self.engine.lead:
            self.keep()

    def _is_better(self, found: Evaluation) -> bool:
        """By score; by loss where the scores are equal, as they are while BLEU is still 0."""
        state = self.state
        return (found.score, -found.loss) > (state.best, -state.loss_of_best)

    def _record(self, found: Evaluation, better: bool) -> None:
        record = self._write(
            "look",
            score=found.score,
            loss=found.loss,
            figures=found.figures,
            samples=[asdict(sample) for sample in found.samples],
            best=better,
        )
        self.report.look(record)

    def _remember(self, found: Evaluation) -> None:
        """Keep the weights of the last and of the best looks, for averaging."""
        state, count = self.state, self.settings.average
        if count == 1:
            state.kept = [Kept(state.step, found.score, "")]
            return

        def write() -> str:
            self._path(0).parent.mkdir(exist_ok=True)
            return write_weights(self._path(state.step), dict(self.model.named_parameters()))

        now = Kept(state.step, found.score, self.engine.together(write))
        others = [kept for kept in state.kept if kept.step != state.step and kept.digest]
        state.kept = [*others, now]
        wanted = {*state.kept[-count:], *self._best(count)}
        state.kept = [kept for kept in state.kept if kept in wanted]

    def _best(self, count: int) -> list[Kept]:
        return sorted(self.state.kept, key=lambda kept: (-kept.score, -kept.step))[:count]

    def _choose(self) -> str:
        """Try averages of the last and of the best weights; keep one if it is better.

        The best of many looks at the same lines is partly lucky there, so finalists meet on fresh
        ones, it among them. To win, an average has to be better by score and by loss: a hundredth
        of a point alone is chance.
        """
        state, count = self.state, self.settings.average
        chosen = f"step {state.best_step}"
        candidates: dict[str, Callable[[], Weights]] = {}
        if self._ema:
            candidates["moving average"] = lambda: self._ema
        if count > 1 and len(state.kept) > 1:
            picks = {"last": state.kept[-count:], "best": self._best(count)}
            groups = {name: tuple(sorted(kept)) for name, kept in picks.items()}
            if groups["last"] == groups["best"]:
                del groups["best"]
            for name, kept in groups.items():
                candidates[f"average of the {name} {len(kept)}"] = partial(self._average, kept)
        if not candidates:
            return chosen
        best = (state.best, -state.loss_of_best)
        there = [k for k in state.kept if k.step == state.best_step and k.digest]
        if there:  # first of all: the others are measured by it
            candidates = {chosen: partial(self._average, there), **candidates}
        now = {name: tensor.clone() for name, tensor in self.model.named_parameters()}
        for name, weights in candidates.items():
            if self.engine.lead:
                self._load(weights())
            found = self.engine.together(partial(self.task.evaluate, fresh=bool(there)))
            rank = (found.score, -found.loss)
            again = name == f"step {state.best_step}"
            better = again or (rank > best and rank[1] >= best[1])
            if better:
                best, chosen = rank, name
                self._keep()  # also the best look: an earlier end may have kept another
            self._write("finalist", weights=name, figures=found.figures, best=better)
            figures = "  ".join(f"{key} {value:.2f}" for key, value in found.figures.items())
            self.report.note(f"{name}: {figures}")
        self._load(now)
        return chosen

    def _average(self, kept: Sequence[Kept]) -> Weights:
        return average(read_weights(self._path(k.step), k.digest) for k in kept)
