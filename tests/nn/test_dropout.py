import pytest
import torch

from heedful.nn import dropout as module
from heedful.nn.dropout import Dropout


def test_it_keeps_the_mean_and_drops_the_share() -> None:
    out = Dropout(0.3)(torch.ones(1000, 1000))
    assert (out == 0).float().mean().item() == pytest.approx(0.3, abs=0.003)
    assert out.mean().item() == pytest.approx(1.0, abs=0.005)
    assert out.unique().tolist() == pytest.approx([0.0, 1 / 0.7])


def test_two_masks_are_independent() -> None:
    drop = Dropout(0.5)
    one, two = (drop(torch.ones(300_000)) - 1 for _ in range(2))
    assert abs((one * two).mean().item()) < 0.01
    neighbours = one[1:] * one[:-1]
    assert abs(neighbours.mean().item()) < 0.01


def test_the_seed_repeats_it() -> None:
    drop, x = Dropout(0.5), torch.randn(17, 19)
    torch.manual_seed(3)
    one = drop(x)
    torch.manual_seed(3)
    assert torch.equal(one, drop(x))
    assert not torch.equal(one, drop(x))


def test_off_it_changes_nothing() -> None:
    x = torch.randn(3, 5)
    assert torch.equal(Dropout(0.5).eval()(x), x)
    assert torch.equal(Dropout(0.0)(x), x)
    assert torch.equal(Dropout(0.5).eval().add(x, x), x + x)


def test_adding_equals_dropping_then_adding_forward_and_backward() -> None:
    drop = Dropout(0.4)
    x, change = (torch.randn(7, 11, requires_grad=True) for _ in range(2))
    results = []
    for add in (drop.add, lambda a, b: a + drop(b)):
        torch.manual_seed(5)
        out = add(x, change)
        results.append((out, *torch.autograd.grad(out.square().sum(), (x, change))))
    for a, b in zip(*results, strict=True):
        torch.testing.assert_close(a, b)


def test_a_tensor_too_large_for_the_pool_draws_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "POOL", 10)
    drop, x = Dropout(0.5), torch.ones(50, 50)
    assert sorted(drop(x).unique().tolist()) == [0.0, 2.0]
    assert 0.4 < (drop(x) == 0).float().mean() < 0.6
    assert 0.4 < (drop.add(x, x) == 1).float().mean() < 0.6
    assert repr(drop) == "Dropout(p=0.5)"
