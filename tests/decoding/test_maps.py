"""Maps in blocks and plain ones: the same numbers, whatever the rows."""

from __future__ import annotations

import math

import pytest
import torch

from heedful.decoding import maps
from heedful.decoding.maps import MANY, WIDE, Map, added, mapped

THERE = torch.backends.mkldnn.is_available()
BLOCKED = [(False, False), (True, False), (True, True)] if THERE else [(False, False)]


@pytest.mark.parametrize(("blocked", "faster"), BLOCKED)
@pytest.mark.parametrize("out", [WIDE, 11])
@pytest.mark.parametrize("relu", [True, False])
def test_a_map_is_a_product_and_a_bias(
    monkeypatch: pytest.MonkeyPatch, blocked: bool, faster: bool, out: int, relu: bool
) -> None:
    monkeypatch.setattr(maps, "blocks", lambda: blocked)
    monkeypatch.setattr(maps, "blocks_faster", lambda: faster)
    matrix, bias = torch.randn(13, out), torch.randn(out)
    bias[-1] = -math.inf  # a word that cannot be predicted
    made = Map.of(matrix, bias, relu)
    with torch.inference_mode():
        for rows in (1, 2, 7, 8, 9, 16, 21, 64, 67, 131):
            x = torch.randn(rows, 13)
            wanted = x @ matrix + bias
            found = mapped(x, made)
            assert torch.allclose(found, wanted.relu() if relu else wanted, atol=1e-5)
            assert found.shape == (rows, out)
            assert found.is_contiguous()


@pytest.mark.parametrize(("blocked", "faster"), BLOCKED)
@pytest.mark.parametrize("rows", [5, 8, 13, 64, MANY, MANY + 3])
@pytest.mark.parametrize("out", [WIDE, 11])
def test_a_change_is_added(
    monkeypatch: pytest.MonkeyPatch, blocked: bool, faster: bool, rows: int, out: int
) -> None:
    monkeypatch.setattr(maps, "blocks", lambda: blocked)
    monkeypatch.setattr(maps, "blocks_faster", lambda: faster)
    matrix, bias = torch.randn(13, out), torch.randn(out)
    x, change = torch.randn(rows, out), torch.randn(rows, 13)
    wanted = x + change @ matrix + bias
    with torch.inference_mode():
        found = added(x, change, Map.of(matrix, bias))
    assert torch.allclose(found, wanted, atol=1e-5)


def test_a_product_in_blocks_is_shown_few_numbers_of_rows() -> None:
    assert [maps.filled(n) for n in (0, 1, 8, 9, 64, 65, 129, 256, 1000, 1025)] == [
        *(0, 1, 8, 16, 64, 72, 144, 256, 1024, 1152)
    ]
    shown = {maps.filled(rows) for rows in range(1, 8193)}
    assert len(shown) < 80
    assert all(maps.filled(rows) == rows for rows in shown)
    assert all(rows <= maps.filled(rows) <= 1.125 * rows + 8 for rows in range(1, 8193))
