import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn import functional as F

from heedful.nn import loss as module
from heedful.nn.loss import projected, smoothed


@given(
    st.integers(1, 29),
    st.integers(3, 31),
    st.sampled_from([0.0, 0.1, 0.4]),
    st.booleans(),
    st.booleans(),
    st.integers(0, 99),
)
def test_projected_equals_plain_forward_and_backward(
    tokens: int, vocabulary: int, smoothing: float, padded: bool, biased: bool, seed: int
) -> None:
    torch.manual_seed(seed)
    pad = seed % vocabulary if padded else None
    hidden = torch.randn(tokens, 5, dtype=torch.float64, requires_grad=True)
    weight = torch.randn(vocabulary, 5, dtype=torch.float64, requires_grad=True)
    bias = torch.randn(vocabulary, dtype=torch.float64, requires_grad=True) if biased else None
    targets = torch.randint(vocabulary - padded, (tokens,))
    if pad is not None:
        targets += (targets >= pad).long()
    inputs = [t for t in (hidden, weight, bias) if t is not None]
    plain = smoothed(F.linear(hidden, weight, bias), targets, smoothing, pad)
    fast = projected(hidden, weight, bias, targets, smoothing, pad)
    torch.testing.assert_close(plain.loss, fast.loss)
    torch.testing.assert_close(plain.nll, fast.nll)
    for a, b in zip(
        torch.autograd.grad(plain.loss * 0.7, inputs),
        torch.autograd.grad(fast.loss * 0.7, inputs),
        strict=True,
    ):
        torch.testing.assert_close(a, b)


def test_chunks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    hidden, weight = torch.randn(23, 4, requires_grad=True), torch.randn(11, 4)
    targets = torch.randint(10, (23,))
    whole = projected(hidden, weight, None, targets, 0.1, 10)
    monkeypatch.setattr(module, "CHUNK", 33)
    monkeypatch.setattr(module, "LEAST", 3)
    parts = projected(hidden, weight, None, targets, 0.1, 10)
    torch.testing.assert_close(whole.loss, parts.loss)
    torch.testing.assert_close(whole.nll, parts.nll)


def test_without_smoothing_it_is_cross_entropy() -> None:
    logits, targets = torch.randn(7, 5), torch.randint(5, (7,))
    found = smoothed(logits, targets, 0.0, None)
    expected = F.cross_entropy(logits, targets, reduction="sum")
    torch.testing.assert_close(found.loss, expected)
    torch.testing.assert_close(found.nll, expected)


def test_smoothing_by_hand() -> None:
    # Two words of equal logits, so each has probability 1/2 whatever is smoothed.
    found = smoothed(torch.zeros(1, 2), torch.tensor([0]), 0.1, None)
    assert found.loss.item() == pytest.approx(math.log(2))
    # Logits log 3 and 0: probabilities 3/4 and 1/4.
    found = smoothed(torch.tensor([[math.log(3), 0.0]]), torch.tensor([0]), 0.2, None)
    expected = -(0.8 + 0.1) * math.log(3 / 4) - 0.1 * math.log(1 / 4)
    assert found.loss.item() == pytest.approx(expected)


def test_the_padding_is_outside_the_softmax_and_never_trained() -> None:
    hidden, weight = torch.randn(3, 4), torch.randn(6, 4, requires_grad=True)
    targets = torch.tensor([0, 1, 2])
    for smoothing in (0.0, 0.1):
        found = projected(hidden, weight, None, targets, smoothing, 5)
        (gradient,) = torch.autograd.grad(found.loss, weight)
        assert (gradient[5] == 0).all()
        five = smoothed(hidden @ weight[:5].T, targets, smoothing, None)
        torch.testing.assert_close(found.loss, five.loss)
