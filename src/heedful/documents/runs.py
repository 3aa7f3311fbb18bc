"""A translation divided among the parts of its source, whose order is fixed.

The runs of a word processor's paragraph are such parts: text can be moved between them, they
themselves cannot be moved. Where words went is known in `projection.py`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate, pairwise

from heedful.documents.projection import Align, Placement, Range, is_punctuation

__all__ = ["divide"]

LARGEST_DIVISION = 250_000
"""Runs times words of a paragraph for which the best division is searched for."""


def divide(
    parts: Sequence[str],
    target: str,
    align: Align | None = None,
    looks: Sequence[object] | None = None,
) -> list[str]:
    """Divide a translation among the parts of its source, in their order, losing nothing.

    Each word goes where the words it is aligned to stand, as far as the order allows, or at least
    to a part that looks the same.
    """
    if len(parts) < 2:
        return [target] if parts else []
    small = len(parts) * (1 + target.count(" ")) <= LARGEST_DIVISION
    placement = Placement("".join(parts), target, align if small else None)
    if placement.aligned:
        owners = _best_owners(_votes(parts, placement), looks or range(len(parts)))
    else:
        owners = _proportional_owners(parts, placement)
    return _cut(parts, placement, owners)


def _bounds(parts: Sequence[str]) -> list[Range]:
    return list(pairwise(accumulate(map(len, parts), initial=0)))


def _votes(parts: Sequence[str], placement: Placement) -> list[set[int]]:
    """Give, for every unit, the parts that have a word tied to it."""
    votes: list[set[int]] = [set() for _ in placement.units]
    ends = [end for _, end in _bounds(parts)]
    assert placement.ties is not None
    for (start, end), units in zip(placement.words, placement.ties, strict=True):
        owner = bisect_left(ends, (start + end + 1) // 2)  # where the middle of the word is
        for unit in units:
            votes[unit].add(owner)
    return votes


def _best_owners(votes: list[set[int]], looks: Sequence[object]) -> list[int]:
    """Choose an owner for every unit, never going back, at the lowest cost.

    A word in a part it does not come from costs 1 if that looks the same, else 3.
    """
    count = len(looks)
    costs = [0] * count
    steps: list[list[int]] = []
    for wanted in votes:
        same = {looks[part] for part in wanted}
        came, fresh = [], []
        best = 0
        for part in range(count):
            if costs[part] <= costs[best]:  # staying is as good as coming
                best = part
            came.append(best)
            cost = 0 if not wanted or part in wanted else 1 if looks[part] in same else 3
            fresh.append(costs[best] + cost)
        steps.append(came)
        costs = fresh
    part = min(range(count), key=costs.__getitem__)
    owners = []
    for came in reversed(steps):
        owners.append(part)
        part = came[part]
    return owners[::-1]


def _proportional_owners(parts: Sequence[str], placement: Placement) -> list[int]:
    total = max(len(placement.source), 1)
    ends = [end * len(placement.target) / total for _, end in _bounds(parts)]
    middles = [(start + end) / 2 for start, end in placement.units]
    return [min(bisect_left(ends, middle), len(parts) - 1) for middle in middles]


def _cut(parts: Sequence[str], placement: Placement, owners: list[int]) -> list[str]:
    """Give each part the text of its units; spaces and punctuation go as they did in the source."""
    result: list[list[str]] = [[] for _ in parts]
    target, units = placement.target, placement.units
    if not units:
        return [target, *("" for _ in parts[1:])]
    result[owners[0]].append(target[: units[0][0]])
    for number, (start, end) in enumerate(units):
        owner = owners[number]
        last = number + 1 == len(units)
        following = owner if last else owners[number + 1]
        space = target[end : len(target) if last else units[number + 1][0]]
        stop, home = end, owner
        if (last or following != owner) and not is_punctuation(parts[owner][-1:] or "."):
            later = range(owner + 1, len(parts) if last else following + 1)
            home = next((p for p in later if parts[p] and is_punctuation(parts[p][0])), owner)
            while home != owner and stop > start + 1 and is_punctuation(target[stop - 1]):
                stop -= 1
        result[owner].append(target[start:stop])
        if stop < end:
            following = max(following, home)
            result[home].append(target[stop:end])
        onward = stop < end or parts[following][:1].isspace()
        result[following if onward else owner].append(space)
    return ["".join(pieces) for pieces in result]
