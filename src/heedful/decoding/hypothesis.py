"""What a search finds, on whatever engine: a translation, what it costs, how it is ranked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from heedful.decoding.guards import Limits, run_end
from heedful.settings import DecodeSettings

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


@dataclass(frozen=True)
class LengthPenalty:
    """What a score is divided by: without it the shortest translation wins, as each word costs."""

    alpha: float
    offset: float = 0.0

    @classmethod
    def of(cls, decode: DecodeSettings) -> LengthPenalty:
        """Take the one that a model's settings ask for."""
        return cls(decode.length_penalty, decode.length_offset)

    def __call__(self, length: int) -> float:
        """Give the divisor for a hypothesis of so many words, its end included."""
        return math.pow((self.offset + length) / (self.offset + 1), self.alpha)


def finish(
    ids: list[int], logp: float, penalty: LengthPenalty, stop: Stop, limits: Limits
) -> Hypothesis:
    """Close a hypothesis; one that repeats itself is cut after the pattern's first occurrence."""
    end = run_end(ids, limits.repeats) if limits.repeats else None
    if end is not None:
        ids, stop = ids[:end], "repetition"
    return Hypothesis(ids, logp, logp / penalty(len(ids) + 1), stop)


def rank(hypotheses: Sequence[Hypothesis]) -> list[Hypothesis]:
    """Best first; those that ended by themselves before those a guard stopped."""
    return sorted(hypotheses, key=lambda h: (h.stop != "end", -h.score))


def rerank(hypotheses: Sequence[Hypothesis], penalty: LengthPenalty) -> list[Hypothesis]:
    """Rank by another length penalty, which changes the order and not what the beam found."""
    return rank([replace(h, score=h.logp / penalty(len(h.ids) + 1)) for h in hypotheses])
