"""Attention to numbered cells against attention as it is written."""

from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.decoding.cells import VECTOR, Pool, attend, look, make_ready, write
from heedful.nn import kernels

HEADS, KEY, VALUE = 3, 5, 7


@pytest.fixture(autouse=True, scope="module")
def _ready() -> None:
    make_ready()


def filled(places: int, times: int) -> Pool:
    pool = Pool.empty(places, HEADS, times, KEY, VALUE)
    pool.keys.normal_()
    pool.values.normal_()
    return pool


@given(st.integers(1, 6), st.integers(1, 2 * VECTOR + 1), st.booleans(), st.integers(0, 99))
def test_rows_attend_to_their_cells_and_to_no_others(
    rows: int, seen: int, masked: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    pool, queries = filled(4, seen + 2), torch.randn(rows, HEADS * KEY)
    places = torch.randint(0, 4, (rows, seen))
    keep = torch.rand(rows, seen) < (0.6 if masked else 2.0)
    keep[:, 0] = True
    mask = torch.zeros(keep.shape).masked_fill_(~keep, -math.inf) if masked else None
    times = torch.arange(seen)
    keys, values = (table[places, :, times].transpose(1, 2) for table in (pool.keys, pool.values))
    wanted = kernels.attend(
        queries.view(rows, HEADS, 1, KEY) * math.sqrt(KEY), keys, values, keep[:, None, None]
    )
    ready = look(pool.numbers(places), pool.rows.size(0), mask)
    for _ in range(2):  # a look leaves nothing behind that changes the next one
        found = attend(ready, queries, pool)
        torch.testing.assert_close(found, wanted.reshape(rows, -1), rtol=1e-5, atol=1e-5)


def test_cells_may_lie_in_any_order() -> None:
    pool, places = filled(4, 6), torch.tensor([[0, 3, 2], [1, 1, 1]])
    other = Pool.of(pool.keys.contiguous(), pool.values.contiguous())  # place by place
    queries = torch.randn(2, HEADS * KEY)
    one, two = (attend(look(p.numbers(places), p.rows.size(0)), queries, p) for p in (pool, other))
    torch.testing.assert_close(one, two)


def test_a_word_is_written_where_it_is_read() -> None:
    pool = filled(4, 6)
    keys, values = torch.randn(2, HEADS * KEY), torch.randn(2, HEADS * VALUE)
    write(pool, 5, keys, values)
    assert torch.equal(pool.keys[:2, :, 5].flatten(1), keys)
    assert torch.equal(pool.values[:2, :, 5].flatten(1), values)


def test_a_larger_pool_has_what_the_rows_saw_in_places_of_their_own() -> None:
    pool, places = filled(4, 3), torch.tensor([[0, 3, 2], [1, 1, 1]])
    kept = pool.kept(pool.numbers(places), 8)
    assert kept.keys.shape == (2, HEADS, 8, KEY)
    times = torch.arange(3)
    for table, old in ((kept.keys, pool.keys), (kept.values, pool.values)):
        assert torch.equal(table[:, :, :3], old[places, :, times].transpose(1, 2))
