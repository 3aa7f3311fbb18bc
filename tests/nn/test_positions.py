import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.errors import ConfigError
from heedful.nn.positions import Learned, Sinusoid, sinusoid


def test_the_papers_formula_by_hand() -> None:
    table = sinusoid(4, 6)
    for position in range(4):
        for i in range(3):
            angle = position / 10_000 ** (2 * i / 6)
            assert table[position, 2 * i].item() == pytest.approx(math.sin(angle), abs=1e-7)
            assert table[position, 2 * i + 1].item() == pytest.approx(math.cos(angle), abs=1e-7)


def test_concatenated_is_a_permutation_of_interleaved() -> None:
    order = [*range(0, 10, 2), *range(1, 10, 2)]
    assert torch.equal(sinusoid(7, 10)[:, order], sinusoid(7, 10, concatenated=True))


@given(st.integers(0, 500), st.integers(1, 500))
def test_any_window_is_a_part_of_the_whole(start: int, length: int) -> None:
    rows = Sinusoid(8)(start, length, torch.zeros(1))
    assert torch.equal(rows, sinusoid(1024, 8)[start : start + length])


def test_a_far_position_is_exact_to_float32() -> None:
    row = sinusoid(100_001, 4)[100_000]
    assert row[0].item() == pytest.approx(math.sin(100_000), abs=1e-7)


def test_a_learned_table_ends_and_says_so() -> None:
    table = Learned(4, 8)
    torch.nn.init.normal_(table.weight)
    assert torch.equal(table(3, 2, torch.zeros(1)), table.weight[3:5])
    with pytest.raises(ConfigError) as error:
        table(5, 4, torch.zeros(1))
    assert str(error.value) == (
        "position 9 is past the learned table of 8 positions; "
        "use sinusoidal positions for longer text"
    )
