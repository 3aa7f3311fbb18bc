from hypothesis import given
from hypothesis import strategies as st

from heedful.decoding.guards import ENDLESS, limits_for, repeating, run_end
from heedful.settings import DecodeSettings


def test_limits_follow_the_source() -> None:
    settings = DecodeSettings(guard_ratio=2.0, guard_extra=5)
    assert limits_for([3, 4, 5], settings).length == 11
    assert limits_for([3] * 3, settings.model_copy(update={"max_length": 4})).length == 4
    off = limits_for([3], DecodeSettings(guards=False))
    assert (off.length, off.repeats) == (ENDLESS, 0)


def test_a_source_that_repeats_may_be_translated_by_one_that_does() -> None:
    assert limits_for([5, 6] * 20, DecodeSettings()).repeats == 0
    assert limits_for([5, 6, 7], DecodeSettings()).repeats == 6


def test_a_run_is_cut_after_its_first_pattern() -> None:
    assert run_end([1, 2, *[7, 8] * 12, 9], 6) == 4
    assert run_end([5] * 24, 6) == 1
    assert run_end([5] * 23, 6) is None
    assert run_end(list(range(100)), 6) is None


def test_short_runs_are_not_endless() -> None:
    million = [1, *[0] * 6]
    assert not repeating(million, 6)
    assert repeating([3, 4, *[7, 8, 9] * 8], 6)
    assert not repeating([*[7, 8, 9] * 8, 4], 6)


@given(st.lists(st.integers(0, 3), max_size=60))
def test_the_two_guards_agree(ids: list[int]) -> None:
    first = next((n for n in range(len(ids) + 1) if repeating(ids[:n], 6)), None)
    assert (run_end(ids, 6) is not None) == (first is not None)
