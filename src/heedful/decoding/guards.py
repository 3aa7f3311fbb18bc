"""No translation without end: how long one may become, and when it only repeats itself.

Each guard is a function of ids alone, so it means the same on every engine, whether it acts
while the search runs or on its result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from heedful.settings import DecodeSettings

ENDLESS = 1 << 20
"""The longest translation with all guards off: memory is finite."""
LONGEST_PATTERN = 16
SHORTEST_RUN = 24
"""Pieces a run must have: "1,000,000,000,000" or "ha ha ha ha" are not endless output."""


@dataclass(frozen=True)
class Limits:
    """What one sentence's translation may become."""

    length: int
    """Pieces, without the end."""
    repeats: int = 0
    """Times a pattern may stand in a row; 0 where repetition is not guarded against."""


def limits_for(source: Sequence[int], settings: DecodeSettings) -> Limits:
    """Say what the translation of a source may become.

    A source that itself repeats a pattern may be translated by one that does.
    """
    length = settings.max_length or ENDLESS
    if not settings.guards:
        return Limits(length)
    guard = int(settings.guard_ratio * len(source)) + settings.guard_extra
    repeats = settings.guard_repeats
    return Limits(min(length, guard), 0 if run_end(source, repeats) is not None else repeats)


def repeating(ids: Sequence[int], repeats: int) -> bool:
    """Say whether the last pieces are one pattern, `repeats` times over."""
    for size in range(1, LONGEST_PATTERN + 1):
        run = max(size * repeats, SHORTEST_RUN)
        if len(ids) < run:
            continue
        tail = ids[-run:]
        if tail[size:] == tail[:-size]:
            return True
    return False


def run_end(ids: Sequence[int], repeats: int) -> int | None:
    """Give where to cut a text that repeats itself: after the pattern's first occurrence.

    None where it does not.
    """
    for size in range(1, LONGEST_PATTERN + 1):
        run = max(size * repeats, SHORTEST_RUN)
        equal = 0
        for place in range(size, len(ids)):
            equal = equal + 1 if ids[place] == ids[place - size] else 0
            if equal + size >= run:
                return place + 1 - run + size
    return None
