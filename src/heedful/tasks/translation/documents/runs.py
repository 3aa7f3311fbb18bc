"""A translation divided among the runs of its source, whose order is fixed.

A word processor's paragraph is made of runs: text can be moved between them, they themselves cannot
be moved. Where words went is known in `projection.py`.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from itertools import accumulate

from heedful.tasks.translation.documents.projection import Align, Projection, is_punctuation

LARGEST_DIVISION = 250_000
"""Runs times words of a paragraph for which the best division is searched for."""


def divide(
    runs: Sequence[str],
    target: str,
    align: Align | None = None,
    formats: Sequence[object] | None = None,
) -> list[str]:
    """Divide a translation among the runs of its source, in their order, losing nothing.

    Each word goes where the words it is aligned to stand, as far as the order allows, or at least
    to a run of the same format.
    """
    if len(runs) < 2:
        return [target] if runs else []
    small = len(runs) * (1 + target.count(" ")) <= LARGEST_DIVISION
    projection = Projection("".join(runs), target, align if small else None)
    ends = list(accumulate(map(len, runs)))
    if projection.links is None:
        owners = _proportional_owners(ends, projection)
    else:
        votes: list[set[int]] = [set() for _ in projection.tokens]
        for (start, end), tokens in zip(projection.words, projection.links, strict=True):
            owner = bisect_left(ends, (start + end + 1) // 2)  # where the middle of the word is
            for token in tokens:
                votes[token].add(owner)
        owners = _best_owners(votes, formats or range(len(runs)))
    return _cut(runs, projection, owners)


def _best_owners(votes: list[set[int]], formats: Sequence[object]) -> list[int]:
    """Choose a run for every token, never going back, at the lowest cost.

    A token in a run it does not come from costs 1 if that has the same format, else 3.
    """
    count = len(formats)
    costs = [0] * count
    steps: list[list[int]] = []
    for wanted in votes:
        same = {formats[run] for run in wanted}
        came, fresh = [], []
        best = 0
        for run in range(count):
            if costs[run] <= costs[best]:  # staying is as good as coming
                best = run
            came.append(best)
            cost = 0 if not wanted or run in wanted else 1 if formats[run] in same else 3
            fresh.append(costs[best] + cost)
        steps.append(came)
        costs = fresh
    run = min(range(count), key=costs.__getitem__)
    owners = []
    for came in reversed(steps):
        owners.append(run)
        run = came[run]
    return owners[::-1]


def _proportional_owners(ends: list[int], projection: Projection) -> list[int]:
    total = max(ends[-1], 1)
    scaled = [end * len(projection.target) / total for end in ends]
    middles = [(start + end) / 2 for start, end in projection.tokens]
    return [min(bisect_left(scaled, middle), len(ends) - 1) for middle in middles]


def _cut(runs: Sequence[str], projection: Projection, owners: list[int]) -> list[str]:
    """Give each run the text of its tokens; spaces and punctuation go as they did in the source."""
    result: list[list[str]] = [[] for _ in runs]
    target, tokens = projection.target, projection.tokens
    if not tokens:
        return [target, *("" for _ in runs[1:])]
    result[owners[0]].append(target[: tokens[0][0]])
    for number, (start, end) in enumerate(tokens):
        owner = owners[number]
        last = number + 1 == len(tokens)
        following = owner if last else owners[number + 1]
        space = target[end : len(target) if last else tokens[number + 1][0]]
        stop, home = end, owner
        if (last or following != owner) and not is_punctuation(runs[owner][-1:] or "."):
            later = range(owner + 1, len(runs) if last else following + 1)
            home = next((run for run in later if runs[run] and is_punctuation(runs[run][0])), owner)
            while home != owner and stop > start + 1 and is_punctuation(target[stop - 1]):
                stop -= 1
        result[owner].append(target[start:stop])
        if stop < end:
            following = max(following, home)
            result[home].append(target[stop:end])
        onward = stop < end or runs[following][:1].isspace()
        result[following if onward else owner].append(space)
    return ["".join(pieces) for pieces in result]
