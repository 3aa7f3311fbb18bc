import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from heedful.nn.kernels import additive_scores, attend, fused, mix, scores, weigh

sizes = st.integers(1, 7)


def heads(batch: int, n_heads: int, length: int, width: int, grad: bool = False) -> torch.Tensor:
    return torch.randn(batch, n_heads, length, width, dtype=torch.float64, requires_grad=grad)


def test_attention_by_hand() -> None:
    # One query (1, 0), two keys (1, 0) and (0, 0): scores 1 and 0, undivided.
    q, k = torch.tensor([[[[1.0, 0.0]]]]), torch.tensor([[[[1.0, 0.0], [0.0, 0.0]]]])
    v = torch.tensor([[[[10.0], [20.0]]]])
    e = math.e
    expected = (10 * e + 20) / (e + 1)
    assert attend(q, k, v, scale=1.0).item() == pytest.approx(expected, abs=1e-5)
    # Divided by sqrt(2), the paper's scaling for d_k = 2.
    s = math.exp(1 / math.sqrt(2))
    assert attend(q, k, v).item() == pytest.approx((10 * s + 20) / (s + 1), abs=1e-5)


def test_a_masked_key_has_exactly_no_weight() -> None:
    keep = torch.tensor([True, False, True])[None, None, None]
    weights = weigh(torch.tensor([[[[1.0, 1e6, 2.0]]]]), keep)
    assert weights[0, 0, 0, 1] == 0.0
    assert weights.sum().item() == pytest.approx(1.0)


def test_a_query_that_may_look_at_nothing_gets_zeros() -> None:
    q, k, v = heads(2, 3, 5, 7), heads(2, 3, 4, 7), heads(2, 3, 4, 2)
    keep = torch.ones(2, 1, 5, 4, dtype=torch.bool)
    keep[1, 0, 3] = False
    for kernel in (attend, fused):
        out = kernel(q, k, v, keep)
        assert torch.isfinite(out).all()
        assert (out[1, :, 3] == 0).all()


@given(st.integers(1, 3), st.integers(1, 3), sizes, sizes, sizes, sizes, st.integers(0, 99))
def test_fused_equals_plain_forward_and_backward(
    batch: int, n_heads: int, t: int, s: int, width: int, value: int, seed: int
) -> None:
    torch.manual_seed(seed)
    keep = torch.rand(batch, 1, t, s) < 0.7  # rows without any key come up often
    inputs = [heads(batch, n_heads, n, w, True) for n, w in ((t, width), (s, width), (s, value))]
    upstream = heads(batch, n_heads, t, value)
    results = []
    for kernel in (attend, fused):
        out = kernel(*inputs, keep)
        gradients = torch.autograd.grad((out * upstream).sum(), inputs)
        assert all(torch.isfinite(g).all() for g in gradients)
        results.append((out, *gradients))
    for plain, fast in zip(*results, strict=True):
        torch.testing.assert_close(plain, fast, rtol=1e-9, atol=1e-10)


@given(sizes, sizes, st.integers(0, 99))
def test_float32_kernels_agree_as_well(t: int, s: int, seed: int) -> None:
    torch.manual_seed(seed)
    q, k, v = (heads(2, 2, n, 8).float().requires_grad_() for n in (t, s, s))
    keep = torch.rand(2, 1, t, s) < 0.6
    for mask in (keep, None):
        outs = [kernel(q, k, v, mask) for kernel in (attend, fused)]
        torch.testing.assert_close(*outs, rtol=1e-5, atol=1e-6)
        grads = [torch.autograd.grad(out.square().sum(), (q, k, v)) for out in outs]
        for a, b in zip(*grads, strict=True):
            torch.testing.assert_close(a, b, rtol=1e-4, atol=1e-5)


def test_permuting_keys_and_values_together_changes_nothing() -> None:
    q, k, v = heads(2, 3, 5, 7), heads(2, 3, 11, 7), heads(2, 3, 11, 7)
    order = torch.randperm(11)
    torch.testing.assert_close(attend(q, k, v), attend(q, k[:, :, order], v[:, :, order]))


def test_additive_scores_by_hand() -> None:
    q, k = torch.tensor([[[[0.5]]]]), torch.tensor([[[[0.25], [-0.5]]]])
    found = additive_scores(q, k, torch.tensor([[2.0]]))
    expected = [2 * math.tanh(0.75), 2 * math.tanh(0.0)]
    assert found.flatten().tolist() == pytest.approx(expected)


def test_scaling_is_one_over_the_root_of_the_width() -> None:
    q, k = heads(1, 1, 3, 13), heads(1, 1, 5, 13)
    torch.testing.assert_close(scores(q, k), scores(q, k, scale=1.0) / math.sqrt(13))
    assert mix(weigh(scores(q, k)), heads(1, 1, 5, 2)).shape == (1, 1, 3, 2)
