"""What a search finds, on whatever engine: a translation, what it costs, how it is ranked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from heedful.decoding.guards import Limits, run_end

__all__ = ["Hypothesis", "Stop", "finish", "length_penalty", "rank", "rerank"]

Stop = Literal["end", "length", "repetition"]


@dataclass(frozen=True)
class Hypothesis:
    """One possible translation."""

    ids: list[int]
    """Without start and end."""
    logp: float
    """Sum of the log-probabilities of its words and its end; forced words cost nothing."""
    score: float
    """What hypotheses are ranked by: `logp` over the length penalty."""
    stop: Stop = "end"
    """Whether it came to its end by itself or a guard acted."""


def length_penalty(length: int, alpha: float) -> float:
    """GNMT's divisor: without it the shortest translation always wins, as each word costs."""
    return math.pow((5 + length) / 6, alpha)


def finish(ids: list[int], logp: float, alpha: float, stop: Stop, limits: Limits) -> Hypothesis:
    """Close a hypothesis; one that repeats itself is cut after the pattern's first occurrence."""
    end = run_end(ids, limits.repeats) if limits.repeats else None
    if end is not None:
        ids, stop = ids[:end], "repetition"
    return Hypothesis(ids, logp, logp / length_penalty(len(ids) + 1, alpha), stop)


def rank(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Best first; those that ended by themselves before those a guard stopped."""
    return sorted(hypotheses, key=lambda h: (h.stop != "end", -h.score))


def rerank(hypotheses: Sequence[Hypothesis], alpha: float) -> list[Hypothesis]:
    """Rank by another length penalty, which changes the order and not what the beam found."""
    return rank(
        [replace(h, score=h.logp / length_penalty(len(h.ids) + 1, alpha)) for h in hypotheses]
    )
