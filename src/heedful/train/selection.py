"""Which weights of a training are kept: the best, checkpoints to average, and the final choice."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from torch import nn

from heedful.errors import TrainingError
from heedful.train.checkpoint import (
    average,
    check_weights,
    read_weights,
    take_weights,
    weights_of,
    write_weights,
)
from heedful.train.learner import Evaluation
from heedful.train.state import Kept, State
from heedful.train.strategy import Strategy

Tell = Callable[[str, Evaluation, bool], None]


class Selection:
    """The weights of a training's best evaluations, in `run/kept/`."""

    def __init__(
        self,
        model: nn.Module,
        folder: Path,
        count: int,
        strategy: Strategy[Any],
        keep: Callable[[], None],
    ) -> None:
        """`count` checkpoints are averaged; `keep` is called for the best weights so far."""
        self._model, self._folder, self._count = model, folder, count
        self._strategy, self._keep = strategy, keep
        self._before: set[int] = set()

    def _path(self, step: int) -> Path:
        return self._folder / f"step-{step:08d}.safetensors"

    def consider(self, found: Evaluation, state: State) -> bool:
        """Keep the weights of now if they are the best, and remember them for averaging.

        By score; by loss where the scores are equal, as they are while BLEU is still 0.
        """
        better = (found.score, -found.loss) > (state.best, -state.loss_of_best)
        state.stale = 0 if better or found.loss < state.best_loss else state.stale + 1
        state.best_loss = min(state.best_loss, found.loss)
        if better:
            state.best, state.loss_of_best = found.score, found.loss
            state.best_step = state.step
            if self._strategy.lead:
                self._keep()
        self._remember(found, state)
        return better

    def _remember(self, found: Evaluation, state: State) -> None:
        """Keep the weights of the last and of the best evaluations."""
        count = self._count
        if count == 1:
            state.kept = [Kept(state.step, found.score, "")]
            return

        def write() -> str:
            self._folder.mkdir(exist_ok=True)
            return write_weights(self._path(state.step), weights_of(self._model))

        now = Kept(state.step, found.score, self._strategy.together(write))
        others = [kept for kept in state.kept if kept.step != state.step and kept.digest]
        state.kept = [*others, now]
        wanted = {*state.kept[-count:], *self._best(state)}
        state.kept = [kept for kept in state.kept if kept in wanted]

    def _best(self, state: State) -> list[Kept]:
        return sorted(state.kept, key=lambda kept: (-kept.score, -kept.step))[: self._count]

    def check(self, state: State, note: Callable[[str], None]) -> None:
        """Leave out what a saved state names and is damaged or missing now."""
        self._before = {kept.step for kept in state.kept}
        whole = []
        for kept in state.kept:
            try:
                if kept.digest:
                    check_weights(self._path(kept.step), kept.digest)
                whole.append(kept)
            except TrainingError as error:
                note(f"{error}; it is left out of averages")
        state.kept = self._strategy.together(lambda: whole)

    def sweep(self, state: State) -> None:
        """Remove the weights that neither this state nor the one before it knows."""
        known = {kept.step for kept in state.kept}
        for file in self._folder.glob("step-*.safetensors"):
            if int(file.stem.split("-")[1]) not in known | self._before:
                file.unlink()
        self._before = known

    def choose(self, state: State, evaluate: Callable[[bool], Evaluation], tell: Tell) -> str:
        """Try averages of the last and of the best weights; keep one if it is better.

        The best of many evaluations on the same lines is partly lucky there, so the candidates are
        compared on fresh ones, it among them. To win, an average has to be better by score and by
        loss: a hundredth of a point alone is chance.
        """
        chosen = f"step {state.best_step}"
        groups = self._groups(state)
        if not groups:
            return chosen
        best = (state.best, -state.loss_of_best)
        there = [k for k in state.kept if k.step == state.best_step and k.digest]
        if there:  # first of all: the others are measured by it
            groups = {chosen: there, **groups}
        now = {name: tensor.clone() for name, tensor in weights_of(self._model).items()}
        for name, group in groups.items():
            if self._strategy.lead:
                weights = average(read_weights(self._path(k.step), k.digest) for k in group)
                take_weights(self._model, weights)
            found = self._strategy.together(partial(evaluate, bool(there)))
            rank = (found.score, -found.loss)
            again = name == f"step {state.best_step}"
            better = again or (rank > best and rank[1] >= best[1])
            if better:
                best, chosen = rank, name
                if self._strategy.lead:  # also the best step: an earlier end may have kept another
                    self._keep()
            tell(name, found, better)
        take_weights(self._model, now)
        return chosen

    def _groups(self, state: State) -> dict[str, Sequence[Kept]]:
        """Give the checkpoints to average, by name: the last, and the best if they are others."""
        if self._count == 1 or len(state.kept) < 2:
            return {}
        last, best = sorted(state.kept[-self._count :]), sorted(self._best(state))
        groups: dict[str, Sequence[Kept]] = {f"average of the last {len(last)}": last}
        if best != last:
            groups[f"average of the best {len(best)}"] = best
        return groups
