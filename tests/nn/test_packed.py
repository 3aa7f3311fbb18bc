"""Packed weights against the plain product: the same numbers, and never those of old weights."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.nn import functional as F

from heedful.nn import onednn
from heedful.nn.attention import Attention
from heedful.nn.linear import Linear
from heedful.nn.packed import padded_rows


@pytest.fixture
def packing(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Count how often a weight is packed."""
    made: list[int] = []
    pack = onednn.pack
    monkeypatch.setattr(onednn, "pack", lambda weight: made.append(1) or pack(weight))
    return made


@pytest.mark.parametrize("rows", [1, 2, 7, 9, 64, 130, 257])
@pytest.mark.parametrize(("wide", "narrow"), [(13, 5), (64, 520)])
def test_a_packed_map_is_the_plain_one(rows: int, wide: int, narrow: int) -> None:
    made = Linear(wide, narrow)
    x = torch.randn(rows, 1, wide)
    wanted = F.linear(x, made.weight, made.bias)
    with torch.inference_mode():
        found = made(x)
    assert found.shape == wanted.shape
    assert torch.allclose(found, wanted, atol=1e-5)


def test_a_weight_is_packed_once(packing: list[int]) -> None:
    made, x = Linear(4, 6), torch.randn(3, 4)
    for _ in range(3):
        with torch.inference_mode():
            made(x)
    assert len(packing) == onednn.available()


@pytest.mark.parametrize("change", ["in place", "trained", "loaded", "assigned"])
def test_a_changed_weight_is_packed_anew(change: str) -> None:
    made, x = Linear(4, 6).eval(), torch.randn(3, 4)
    with torch.inference_mode():
        before = made(x).clone()
    other = Linear(4, 6).state_dict()
    if change == "in place":
        with torch.no_grad():
            made.weight.add_(1)
    elif change == "trained":
        made.train()(x).sum().backward()
        torch.optim.AdamW(made.parameters(), lr=1.0, fused=True).step()
        made.eval()
    else:
        made.load_state_dict(other, assign=change == "assigned")
    with torch.inference_mode():
        after = made(x)
    assert not torch.allclose(after, before, atol=1e-3)
    assert torch.allclose(after, F.linear(x, made.weight, made.bias), atol=1e-5)


def test_training_drops_what_was_packed(packing: list[int]) -> None:
    made, x = Linear(4, 6), torch.randn(3, 4)
    for _ in range(2):
        made.eval()
        with torch.inference_mode():
            made(x)
        made.train()
        assert made._packed._kept is None
    assert len(packing) == 2 * onednn.available()


def test_a_copy_packs_its_own_weights() -> None:
    made, x = Linear(4, 6), torch.randn(3, 4)
    with torch.inference_mode():
        made(x)
    other = copy.deepcopy(made)
    with torch.no_grad():
        other.weight.zero_()
        other.bias.fill_(2)
    with torch.inference_mode():
        assert (other(x) == 2).all()


def test_queries_keys_and_values_are_one_product(packing: list[int]) -> None:
    made, x = Attention(12, 3, d_head=5, d_value=7), torch.randn(2, 6, 12)
    wanted = made(x, None)
    with torch.inference_mode():
        found = made(x, None)
    assert torch.allclose(found, wanted, atol=1e-5)
    assert len(packing) == 2 * onednn.available()  # they, and the output


def test_threads_share_what_is_packed() -> None:
    made, x = Linear(16, 24), torch.randn(9, 16)
    wanted = F.linear(x, made.weight, made.bias)

    def run(_: int) -> bool:
        with torch.inference_mode():
            return torch.allclose(made(x), wanted, atol=1e-5)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(200)))


def test_nothing_is_packed_for_other_numbers_or_no_rows(packing: list[int]) -> None:
    made = Linear(4, 6)
    with torch.inference_mode():
        assert made(torch.randn(0, 4)).shape == (0, 6)
        assert made.double()(torch.randn(3, 4).double()).dtype == torch.float64
    assert not packing


def test_rows_come_in_few_numbers() -> None:
    assert [padded_rows(n) for n in (0, 1, 8, 9, 17, 127, 128, 129, 257)] == [
        *(0, 1, 8, 16, 24, 128, 128, 144, 288),
    ]
    assert all(n <= padded_rows(n) <= n * 9 / 8 + 8 for n in range(3000))
    assert len({padded_rows(n) for n in range(3000)}) < 80
