"""A beam search step by step: which candidates were kept, which ended, which were dropped.

The search is the ordinary one. Its stepper is wrapped in one that records the logits of every row,
which rows are kept and with which piece; the whole tree follows from that.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from heedful.decoding.guards import Limits
from heedful.decoding.hypothesis import Hypothesis, LengthPenalty
from heedful.decoding.search import Stepper, beam, best_of


@dataclass
class Branch:
    """One candidate of a step: a hypothesis, extended by one piece."""

    row: int
    """The row of the beam that was extended."""
    parent: int | None
    """The index of that hypothesis among the branches of the step before."""
    word: int
    logp: float
    fate: str = "dropped"

    @property
    def ended(self) -> bool:
        """Whether the end symbol was chosen here."""
        return self.fate == "ended"


class _Watched:
    """A stepper that records what the search makes of its logits; for one sentence."""

    def __init__(self, inner: Stepper, width: int, eos: int) -> None:
        self._inner, self._width, self._eos = inner, width, eos
        self.steps: list[list[Branch]] = []
        self._rows: list[int | None] = [None]  # the branch behind each row
        self._logp = [0.0]
        self._origin: list[int] = []

    def step(self, words: Tensor) -> Tensor:
        """Record what was kept of the step before, then the candidates of this one."""
        if self.steps:
            self._settle(words.tolist())
        logits = self._inner.step(words)
        found = best_of(
            logits.log_softmax(-1)[None], torch.tensor(self._logp)[None], 2 * self._width
        )
        branches = []
        candidates = zip(*(part[0].tolist() for part in found), strict=True)
        for place, (logp, row, word) in enumerate(candidates):
            if math.isfinite(logp):
                fate = "ended" if word == self._eos and place < self._width else "dropped"
                branches.append(Branch(row, self._rows[row], word, logp, fate))
        self.steps.append(branches)
        return logits

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        """Record which rows are kept; their pieces come with the next step."""
        self._origin = rows.tolist()
        self._inner.select(rows, sources)

    def _settle(self, words: list[int]) -> None:
        kept: list[int | None] = []
        logp = []
        known = {(b.row, b.word): place for place, b in enumerate(self.steps[-1])}
        for row, word in zip(self._origin, words, strict=True):
            place = known.get((row, word))
            branch = None if place is None else self.steps[-1][place]
            kept.append(place)
            if branch is None or branch.ended:
                logp.append(-math.inf)  # the row only fills the beam up: not to be shown
            else:
                branch.fate = "kept"
                logp.append(branch.logp)
        self._rows, self._logp = kept, logp


@dataclass(frozen=True)
class Tree:
    """All steps of a search, and its hypotheses, best first."""

    steps: list[list[Branch]]
    found: list[Hypothesis]
    width: int
    penalty: LengthPenalty

    def best(self, eos: int) -> list[int]:
        """Give the index of the winning hypothesis's branch at each step; empty if it was cut."""
        winner = self.found[0]
        words = [*winner.ids, eos]
        if winner.stop != "end" or len(words) > len(self.steps):
            words = winner.ids
        paths: dict[int | None, list[int]] = {None: []}  # by the place of its last branch
        for word, step in zip(words, self.steps, strict=False):
            paths = {
                place: [*paths[branch.parent], place]
                for place, branch in enumerate(step)
                if branch.word == word and branch.parent in paths
            }
        return next(iter(paths.values()), [])

    def as_data(self, name: Any, eos: int) -> dict[str, Any]:
        """Give the tree in the format of the trace; `name` turns an id into a piece."""
        steps = []
        for number, branches in enumerate(self.steps):
            row = []
            for place, b in enumerate(branches):
                one: dict[str, Any] = {
                    "id": place,
                    "parent": b.parent,
                    "piece": name(b.word),
                    "logp": b.logp,
                    "fate": b.fate,
                }
                if b.ended:
                    one["score"] = b.logp / self.penalty(number + 1)
                row.append(one)
            steps.append(row)
        return {
            "width": self.width,
            "length_penalty": self.penalty.alpha,
            "length_offset": self.penalty.offset,
            "steps": steps,
            "best": self.best(eos),
        }


@torch.no_grad()  # in inference mode a second, packed copy of the weights would stay
def watch(
    stepper: Stepper, limits: Limits, width: int, start: int, eos: int, penalty: LengthPenalty
) -> Tree:
    """Search for the best continuation of one sentence and keep the whole tree."""
    watched = _Watched(stepper, width, eos)
    found = beam(watched, [limits], width, start, eos, penalty)[0]
    return Tree(watched.steps, found, width, penalty)
