"""The best word by way of a guess against the largest of all logits."""

from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from quick_case import SOURCES, made
from torch import Tensor

from heedful.decoding import shortlist
from heedful.decoding.batch import search
from heedful.decoding.shortlist import Shortlist, best, guess
from heedful.nn.loss import aligned
from heedful.settings import DecodeSettings


def short(words: Tensor, bias: Tensor | None, pad: int) -> Shortlist:
    shift = torch.full((aligned(len(words)),), -math.inf)  # filled up, as the quick decoder's are
    shift[: len(words)] = 0 if bias is None else bias
    shift[pad] = -math.inf
    return Shortlist.of(words, shift)


def logits(x: Tensor, words: Tensor, bias: Tensor | None, pad: int) -> Tensor:
    found = x.double() @ words.double().t()
    found = found if bias is None else found + bias
    found[:, pad] = -math.inf
    return found


@given(
    st.integers(1, 40),
    st.integers(2, 90),
    st.integers(3, 200),
    st.sampled_from([0.01, 1.0, 30.0]),
    st.booleans(),
    st.integers(0, 99),
)
def test_the_best_word_is_found(
    rows: int, width: int, size: int, spread: float, biased: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    x, words = torch.randn(rows, width), spread * torch.randn(size, width)
    words[size // 2] = words[0] + 1e-3 * torch.randn(width)  # hardly told apart after rounding
    words[1] *= 2  # and one that makes the rounding of all others coarser
    bias = torch.randn(size) if biased else None
    pad = size - 1
    with torch.inference_mode():
        found = best(x, short(words, bias, pad), many=size)
    assert found is not None
    all_of_them = logits(x, words, bias, pad)
    behind = all_of_them.amax(1) - all_of_them.gather(1, found[:, None])[:, 0]
    assert float(behind.max()) <= 1e-5 * float(all_of_them[:, :pad].abs().max())


@given(st.integers(2, 300), st.integers(0, 99))
def test_no_guess_is_farther_off_than_was_said(width: int, seed: int) -> None:
    torch.manual_seed(seed)
    x, words = torch.randn(7, width).exp(), torch.randn(31, width) ** 3
    guessed, said = guess(x, short(words, None, 30), float(x.abs().max()) / shortlist.LARGEST)
    right = logits(x, words, None, 30)
    off = (guessed[:, :30] - right[:, :30]).abs().amax(1)
    assert (off <= said).all()


@pytest.mark.parametrize("width", [2, 31, 256])
def test_the_largest_numbers_of_all_do_not_overflow(width: int) -> None:
    x, words = torch.ones(3, width), torch.ones(5, width)
    words[1:3] *= -1
    guessed, _ = guess(x, short(words, None, 4), 1 / shortlist.LARGEST)
    right = width * torch.tensor([1.0, -1.0, -1.0, 1.0]).expand(3, 4)
    torch.testing.assert_close(guessed[:, :4], right)


def test_few_numbers_of_rows_are_multiplied_for_each_costs_memory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    seen, product = set(), shortlist.product

    def note(states: Tensor, *others: Any) -> Tensor:
        seen.add(states.size(0))
        return product(states, *others)

    monkeypatch.setattr(shortlist, "product", note)
    words = torch.randn(90, 8)
    for rows in range(32, 300):
        x = torch.randn(rows, 8)
        found = best(x, short(words, None, 89), many=90)
        assert found is not None
        assert found.tolist() == logits(x, words, None, 89).argmax(1).tolist()
    assert len(seen) < 40


def test_of_equals_the_first_is_taken_as_in_a_search_with_scores() -> None:
    words = torch.randn(1, 8).expand(5, 8).clone()
    found = best(torch.randn(3, 8).abs() * words[0].sign(), short(words, None, 0))
    assert found is not None
    assert found.tolist() == [1, 1, 1]  # 0 is padding


def test_where_there_is_no_number_there_is_no_best_word() -> None:
    some = short(torch.randn(9, 4), None, 8)
    for row in (0, 1, 2):
        x = torch.randn(3, 4)
        x[row, 1] = math.nan
        assert best(x, some) is None
    assert best(torch.zeros(2, 4), some) is None
    assert best(torch.full((2, 4), 1e20), some) is None  # its square is no number any more
    nothing = short(torch.randn(9, 4), torch.full((9,), -math.inf), 8)
    assert best(torch.randn(2, 4), nothing) is None


def test_a_guess_that_leaves_too_many_is_none() -> None:
    words = torch.randn(500, 16)
    words[3] *= 100  # what it could be off by is more than all the others are apart
    assert best(torch.randn(4, 16), short(words, None, 499)) is None


def test_a_search_without_scores_finds_what_one_with_scores_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(shortlist, "worth_it", lambda: True)
    asked = []

    def seen(x: Tensor, among: Shortlist) -> Tensor | None:
        asked.append(len(x))
        return best(x, among)

    monkeypatch.setattr("heedful.decoding.quick.freed", lambda f: seen if f is best else f)
    sources = [[i % 47 + 2 for i in (*source, n)] for n in range(20) for source in SOURCES]
    for changes in ({}, {"output_bias": True, "norm": "pre"}):
        model, decode = made(**changes), DecodeSettings(beam=1, max_length=20)
        scored = search(model, sources, decode)
        quick = search(model, sources, decode, scored=False)
        assert [h[0].ids for h in quick] == [h[0].ids for h in scored]
        assert all(math.isnan(h[0].logp) for h in quick)
    assert asked
    assert min(asked) >= shortlist.ROWS  # fewer rows are not worth a guess
