from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.tasks.translation.documents.projection import Projection, disjoint


def test_a_part_becomes_what_its_words_are_linked_to() -> None:
    pairs = [(0, 0), (1, 2), (2, 1)]
    projection = Projection("the red car", "la voiture rouge", lambda *_: pairs)
    whole, tokens = (0, 11), (0, 3)
    assert projection.project((4, 7), whole, tokens) == ((2, 3), True)
    assert projection.project((4, 11), whole, tokens) == ((1, 3), True)


@pytest.mark.parametrize("pairs", [None, [], [(9, 9)]])
def test_without_links_a_part_stands_as_far_in_as_it_stood(
    pairs: list[tuple[int, int]] | None,
) -> None:
    align = None if pairs is None else lambda *_: pairs
    projection = Projection("the red car", "das rote auto", align)
    assert projection.project((4, 7), (0, 11), (0, 3)) == ((1, 2), False)


@settings(max_examples=200)
@given(st.lists(st.tuples(st.integers(0, 12), st.integers(1, 9)), max_size=8))
def test_ranges_made_disjoint_lie_within_reach_of_what_they_were(
    given_ranges: list[tuple[int, int]],
) -> None:
    ranges = [(start, start + width) for start, width in given_ranges]
    result = disjoint(ranges)
    taken = [unit for start, end in result for unit in range(start, end)]
    assert len(taken) == len(set(taken))
    assert set(taken) <= {unit for start, end in ranges for unit in range(start, end)}
    assert all(start <= end for start, end in result)
