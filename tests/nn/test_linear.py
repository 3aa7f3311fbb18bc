"""Products in short numbers against products in float32, and that nobody else is given them."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
from torch.nn import functional as F

from heedful.nn import loss as loss_module
from heedful.nn import onednn
from heedful.nn.layers import Activation, FeedForward
from heedful.nn.linear import ROWS, Linear, linear, products_in, restored, shortened
from heedful.nn.loss import projected

SHORT = [torch.bfloat16, torch.float16]
ONEDNN = [True] if onednn.available() else []


@pytest.mark.parametrize("numbers", SHORT)
@pytest.mark.parametrize("shape", [(7,), (3, 5), (4, ROWS), (2, 3, 11)])
def test_a_short_map_is_the_map_of_short_numbers(
    numbers: torch.dtype, shape: tuple[int, ...]
) -> None:
    x, made = torch.randn(*shape, 13), Linear(13, 5)
    with products_in(numbers):
        found = made(x)
    short = F.linear(x.to(numbers), made.weight.to(numbers), made.bias.to(numbers))
    assert found.dtype == torch.float32
    assert found.shape == (*shape, 5)
    assert torch.allclose(found, short.float(), rtol=2**-7, atol=1e-2)
    assert torch.equal(made(x), F.linear(x, made.weight, made.bias))  # and float32 after it


@pytest.mark.parametrize("numbers", SHORT)
def test_its_gradients_are_nearly_those_of_float32(numbers: torch.dtype) -> None:
    x, made = torch.randn(3, 17, 13), Linear(13, 5)
    found = []
    for one in (torch.float32, numbers):
        at = x.clone().requires_grad_()
        made.zero_grad()
        with products_in(one):
            made(at).square().sum().backward()
        gradients = [at.grad, made.weight.grad, made.bias.grad]
        assert all(g is not None and g.dtype == torch.float32 for g in gradients)
        found.append([g.clone() for g in gradients if g is not None])
    for exact, short in zip(*found, strict=True):
        assert float((exact - short).norm() / exact.norm()) < 0.02


@pytest.mark.parametrize("activation", ["relu", "gelu", "swish"])
def test_a_feed_forward_stays_short_inside(activation: Activation) -> None:
    made, x = FeedForward(12, 20, activation, dropout=0.0), torch.randn(2, 5, 12)
    inside = []
    made.outer.register_forward_pre_hook(lambda module, given: inside.append(given[0].dtype))
    exact = made(x)
    with products_in(torch.bfloat16):
        short = made(x)
    assert inside == [torch.float32, torch.bfloat16]
    assert short.dtype == torch.float32
    assert torch.allclose(short, exact, atol=0.02)


def test_rows_are_filled_up_and_taken_away_again() -> None:
    x = torch.randn(3, 11, 4)
    assert shortened(x) is x
    with products_in(torch.bfloat16):
        short = shortened(x)
        assert short.shape == (2 * ROWS, 4)
        assert not short[33:].any()
        assert shortened(short) is short
        assert torch.equal(restored(short, x), x.bfloat16().float())
        assert shortened(torch.randn(1025, 4)).shape == (1024 + 2 * ROWS, 4)
        assert shortened(torch.randn(0, 4)).shape == (0, 4)
        turned = torch.randn(5, 3, 4).transpose(0, 1)
        assert torch.equal(restored(shortened(turned), turned), turned.bfloat16().float())


@pytest.mark.parametrize("with_onednn", ONEDNN)
@pytest.mark.parametrize("shape", [(1, 7), (3, 5), (4, ROWS), (2, 33), (0, 3)])
def test_products_by_onednn_are_the_usual_ones(with_onednn: bool, shape: tuple[int, ...]) -> None:
    made = FeedForward(12, 20, "relu", dropout=0.0)
    x = torch.randn(*shape, 12)
    found = []
    for asked in (False, with_onednn):
        at = x.clone().requires_grad_()
        made.zero_grad()
        with products_in(torch.float32, asked):
            out = made(at)
            out.square().sum().backward()
        assert out.shape == x.shape
        found.append([out.detach(), at.grad, *(p.grad for p in made.parameters())])
    for usual, other in zip(*found, strict=True):
        assert usual is not None
        assert other is not None
        assert torch.allclose(usual, other, atol=1e-5)


@pytest.mark.parametrize("with_onednn", ONEDNN)
def test_a_product_with_onednn_keeps_what_any_keeps(with_onednn: bool) -> None:
    made, x = Linear(12, 20), torch.randn(2, ROWS, 12, requires_grad=True)
    kept: list[int] = []
    for asked in (False, with_onednn):
        sizes: list[int] = []
        with (
            products_in(torch.float32, asked),
            torch.autograd.graph.saved_tensors_hooks(lambda t: sizes.append(t.numel()) or t, id),  # noqa: B023
        ):
            made(x)
        kept.append(sum(sizes))
    assert kept[1] == kept[0] == x.numel() + made.weight.numel()


def test_autocast_is_left_to_itself() -> None:
    x, made = torch.randn(3, 4), Linear(4, 5)
    with torch.autocast("cpu", torch.bfloat16):
        assert torch.equal(made(x), F.linear(x, made.weight, made.bias))
        assert made(x).dtype == torch.bfloat16


@pytest.mark.parametrize("words", [37, 5])
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize("least", [loss_module.LEAST, 3])
@pytest.mark.parametrize(
    ("numbers", "with_onednn", "near"),
    [(torch.bfloat16, False, 0.02), *((torch.float32, one, 1e-6) for one in ONEDNN)],
)
def test_the_loss_of_other_products_is_nearly_that_of_the_usual_ones(
    monkeypatch: pytest.MonkeyPatch,
    words: int,
    bias: bool,
    least: int,
    numbers: torch.dtype,
    with_onednn: bool,
    near: float,
) -> None:
    monkeypatch.setattr(loss_module, "CHUNK", 1)
    monkeypatch.setattr(loss_module, "LEAST", least)
    hidden, weight = torch.randn(29, 12), torch.randn(words, 12)
    shift = torch.randn(words) if bias else None
    targets = torch.randint(0, words - 1, (29,))
    found = []
    for asked in ((torch.float32, False), (numbers, with_onednn)):
        at = [t.clone().requires_grad_() for t in (hidden, weight)]
        with products_in(*asked):
            loss = projected(*at, shift, targets, 0.1, words - 1)
        loss.loss.backward()
        found.append((loss.loss.detach(), *[t.grad for t in at]))
    for exact, short in zip(*found, strict=True):
        assert exact is not None
        assert short is not None
        assert float((exact - short).norm() / exact.norm()) < near


def test_short_numbers_are_one_thread_s_and_end_with_an_error() -> None:
    def numbers() -> torch.dtype:
        return shortened(torch.ones(1, 1)).dtype

    def fail() -> None:
        with products_in(torch.bfloat16):
            assert numbers() == torch.bfloat16
            with ThreadPoolExecutor(1) as pool:
                assert pool.submit(numbers).result() == torch.float32
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        fail()
    assert numbers() == torch.float32
    assert linear(torch.ones(1, 1), torch.ones(1, 1), torch.ones(1)).dtype == torch.float32
