from __future__ import annotations

import random
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.errors import DataError
from heedful.metrics import Judged, interval
from heedful.metrics.bootstrap import compare

VALUES = st.lists(st.integers(-100, 100), min_size=1, max_size=17)


def mean(values: list[int]) -> Judged:
    """Judge by the mean of numbers: a row is a number and one, and the sums are divided."""
    return Judged("mean", np.array([(v, 1) for v in values]), lambda sums: sums[0] / sums[1], "")


def test_a_figure_follows_from_the_sum_of_its_rows() -> None:
    assert mean([2, 3, 7]).value == 4
    assert mean([2, 3, 7]).higher_is_better


def test_examples_that_are_all_alike_have_an_interval_without_width() -> None:
    assert interval(mean([5] * 13)) == (5, 5)


def test_two_examples_can_be_drawn_as_either_of_them_twice() -> None:
    assert interval(mean([3, 11])) == (3, 11)  # each in a quarter of the samples


def test_the_interval_of_a_coin_is_that_of_the_binomial_distribution() -> None:
    low, high = interval(mean([0, 1] * 200))
    width = 1.96 * (0.5 * 0.5 / 400) ** 0.5
    assert (low, high) == pytest.approx((0.5 - width, 0.5 + width), abs=0.01)


def test_two_equal_systems_differ_by_nothing_and_surely_by_luck() -> None:
    found = compare(mean([2, 3, 5, 7]), mean([2, 3, 5, 7]))
    assert (found.difference, found.low, found.high, found.p_value) == (0, 0, 0, 1)


def test_a_difference_that_is_the_same_everywhere_has_an_interval_without_width() -> None:
    found = compare(mean([4, 5, 7, 9]), mean([2, 3, 5, 7]))
    assert (found.system, found.baseline) == (6.25, 4.25)
    assert (found.difference, found.low, found.high) == (2, 2, 2)
    assert found.p_value == 1 / 1001  # no test set strays, and the one observed counts too


def test_one_of_two_examples_that_differs_may_be_drawn_twice_or_not_at_all() -> None:
    found = compare(mean([8, 1]), mean([4, 1]))
    assert (found.difference, found.low, found.high) == (2, 0, 4)
    assert found.p_value > 0.2  # each happens in a quarter of the samples


@settings(max_examples=20)
@given(VALUES, st.randoms(use_true_random=False))
def test_the_order_of_the_examples_changes_nothing_but_the_draws(
    values: list[int], draw: random.Random
) -> None:
    other = [v // 2 for v in values]
    both = list(zip(values, other, strict=True))
    draw.shuffle(both)
    here = compare(mean(values), mean(other), samples=100)
    there = compare(*(mean(list(side)) for side in zip(*both, strict=True)), samples=100)
    assert here.system == there.system
    assert here.difference == there.difference
    gaps = [a - b for a, b in both]
    for found in (here, there):
        assert min(gaps) - 1e-9 <= found.low <= found.high <= max(gaps) + 1e-9


@settings(max_examples=20)
@given(VALUES)
def test_a_comparison_seen_from_the_other_side_is_the_same_turned_round(values: list[int]) -> None:
    first, second = mean(values), mean([7] * len(values))
    forth, back = compare(first, second, samples=100), compare(second, first, samples=100)
    assert (forth.low, forth.high) == (-back.high, -back.low)
    assert (forth.difference, forth.p_value) == (-back.difference, back.p_value)


def test_systems_judged_on_different_numbers_of_examples_are_refused() -> None:
    message = "2 answers do not match 3 answers of the other; give one line for each"
    with pytest.raises(DataError, match=f"^{re.escape(message)}$"):
        compare(mean([1, 2]), mean([1, 2, 3]))
