"""Where two files that should be line by line translations begin to run apart.

The two lines of a pair are long or short together: the log of one length is near that of the
other, up to a constant. From a missing line on, each line meets its neighbour's translation and
the difference is larger, but small again at the right offset. The path of lowest cost
through the offsets, from 0 to the difference of the counts, says where offset 0 is left.
"""

from __future__ import annotations

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

_EXACT = 12
"""Offsets up to this one are all tried, farther ones in steps that double."""
_TELLING = 0.9
"""Lengths tell something when the best path costs less than this share of a pairing by chance."""
_LEAP = 2.0
"""Cost of a change of offset, in units of an ordinary difference times the log of the lines."""

Floats = NDArray[np.float64]


def drift(source_lines: Iterable[str], target_lines: Iterable[str]) -> int | None:
    """Give the 1-based line at which the two sides seem to begin to drift apart.

    It is an estimate, good to a few lines on ordinary sentences. One more than the lines of the
    shorter side means that the longer one only goes on. None means that the lengths do not tell.
    """
    longer, shorter = _log_lengths(source_lines), _log_lengths(target_lines)
    if len(longer) < len(shorter):
        longer, shorter = shorter, longer
    lines, missing = len(shorter), len(longer) - len(shorter)
    if lines < 2:
        return None
    # `chance` is what pairing each line with a near but wrong one costs, at an offset that is not
    # searched. In a file sorted by length near lines are as long as the right one; the comparison
    # below then says that the lengths do not tell.
    chance = float(_apart(longer[:lines], np.roll(shorter, -min(7, lines // 2))).mean())
    aligned = _apart(longer[:lines], shorter)
    ordinary = float(np.minimum(aligned, _apart(longer[missing:], shorter)).mean())
    leap = _LEAP * ordinary * math.log(lines)

    cost = _sums(aligned)  # lowest cost to reach each line with the offsets so far
    left = np.arange(lines + 1)  # where that path left offset 0
    lost = np.full(lines, chance)
    for offset in (None, *_offsets(missing)):
        here = _sums(lost if offset is None else _apart(longer[offset : offset + lines], shorter))
        entering = cost - here
        cheapest = np.minimum.accumulate(entering)
        entered = np.maximum.accumulate(np.where(entering == cheapest, np.arange(lines + 1), 0))
        by_here = here + cheapest + leap
        better = by_here < cost
        left = np.where(better, left[entered], left)
        cost = np.where(better, by_here, cost)
    if cost[-1] > _TELLING * chance * lines:
        return None
    return int(left[-1]) + 1


def _offsets(missing: int) -> list[int]:
    offsets = list(range(1, min(missing, _EXACT) + 1))
    while offsets and offsets[-1] < missing:
        offsets.append(min(2 * offsets[-1], missing))
    return offsets


def _log_lengths(lines: Iterable[str]) -> Floats:
    lengths: Floats = np.log1p(np.fromiter(map(len, lines), dtype=np.float64))
    return lengths


def _apart(one: Floats, other: Floats) -> Floats:
    difference = one - other
    apart: Floats = np.abs(difference - np.median(difference))
    return apart


def _sums(costs: Floats) -> Floats:
    return np.concatenate([[0.0], np.cumsum(costs)])
