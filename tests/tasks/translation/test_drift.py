from __future__ import annotations

import random

import pytest

from heedful.tasks.translation.drift import drift


def sentences(count: int, seed: int) -> tuple[list[str], list[str]]:
    """Pairs of lines whose lengths agree as those of real translations do."""
    draw = random.Random(seed)
    lengths = [max(4, int(draw.lognormvariate(4, 0.5))) for _ in range(count)]
    return ["s" * n for n in lengths], [
        "t" * max(1, int(0.5 * n * draw.lognormvariate(0, 0.2))) for n in lengths
    ]


@pytest.mark.parametrize("missing", [1, 2, 30, 500])
@pytest.mark.parametrize("place", [0, 777, 1999])
def test_missing_lines_are_placed_to_a_few_lines(missing: int, place: int) -> None:
    ours, theirs = sentences(4000, seed=missing + place)
    shortened = theirs[:place] + theirs[place + missing :]
    for found in (drift(ours, shortened), drift(shortened, ours)):
        assert found is not None
        assert abs(found - 1 - place) <= 12


def test_the_first_of_many_missing_lines_is_placed() -> None:
    ours, theirs = sentences(4000, seed=5)
    shortened = [line for i, line in enumerate(theirs) if i not in range(1000, 4000, 97)]
    found = drift(ours, shortened)
    assert found is not None
    assert abs(found - 1001) <= 12


def test_a_file_that_only_ends_early_does_not_drift() -> None:
    ours, theirs = sentences(1000, seed=3)
    assert drift(ours, theirs[:900]) == 901
    assert drift(ours, theirs) == 1001


def test_lengths_that_say_nothing_give_no_place() -> None:
    ours, theirs = sentences(1000, seed=3)
    by_length = [target for _, target in sorted(zip(ours, theirs, strict=True))]
    assert drift(sorted(ours), by_length[:500] + by_length[501:]) is None
    random.Random(1).shuffle(theirs)
    assert drift(ours, theirs[:-3]) is None
    assert drift(["same"] * 50, ["same"] * 49) in (None, 50)
    assert drift(["one"], []) is None
