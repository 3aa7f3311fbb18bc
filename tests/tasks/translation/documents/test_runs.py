from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.tasks.translation.documents.runs import divide


@settings(max_examples=100)
@given(
    st.lists(st.text("ab ,", max_size=5), max_size=6),
    st.text("xy .,漢", max_size=30),
    st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), max_size=9),
)
def test_a_division_put_together_is_the_translation(
    runs: list[str], target: str, pairs: list[tuple[int, int]]
) -> None:
    for align in (None, lambda _, __: pairs):
        divided = divide(runs, target, align)
        assert len(divided) == len(runs)
        assert "".join(divided) == (target if runs else "")
