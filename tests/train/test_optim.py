from __future__ import annotations

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import nn

from heedful.settings import TrainSettings
from heedful.train.optim import Anchor, Schedule, make_optimizer


@pytest.mark.parametrize(("d_model", "warmup"), [(512, 4000), (128, 7)])
def test_the_papers_schedule_is_the_papers_formula(d_model: int, warmup: int) -> None:
    schedule = Schedule((d_model * warmup) ** -0.5, warmup, "paper")
    for step in (1, 2, warmup - 1, warmup, warmup + 1, 10 * warmup, 100_000):
        formula = d_model**-0.5 * min(step**-0.5, step * warmup**-1.5)
        assert schedule.lr(step) == pytest.approx(formula, rel=1e-12)
    assert schedule.end is None


def test_linear_rises_to_the_peak_and_falls_to_zero_at_the_end() -> None:
    schedule = Schedule(0.6, 10, "linear")
    assert schedule.foresee(0, 40) == Anchor(10, 0.6, 40)
    assert schedule.lr(5) == pytest.approx(0.3)
    assert schedule.lr(10) == pytest.approx(0.6)
    assert schedule.lr(25) == pytest.approx(0.3)
    assert schedule.lr(40) == schedule.lr(41) == 0.0
    assert schedule.end == 40


def test_linear_stays_at_its_peak_while_no_end_is_foreseen() -> None:
    schedule = Schedule(0.6, 10, "linear")
    assert [schedule.lr(step) for step in (10, 11, 5000)] == [0.6, 0.6, 0.6]
    assert schedule.end is None


def test_an_end_within_the_warm_up_does_not_stop_the_rise() -> None:
    schedule = Schedule(0.6, 10, "linear")
    schedule.foresee(0, 5)
    assert [schedule.lr(step) for step in (4, 5, 10)] == pytest.approx([0.24, 0.3, 0.6])
    assert schedule.end == 11


ENDS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 90)), min_size=1, max_size=6)


@given(st.integers(1, 30), ENDS)
def test_foreseeing_anew_changes_no_step_that_was_taken(
    warmup: int, gaps: list[tuple[int, int]]
) -> None:
    schedule, step = Schedule(1.0, warmup, "linear"), 0
    schedule.foresee(0, 100)
    for gap, more in gaps:
        step += gap
        before = [schedule.lr(s) for s in range(1, step + 1)]
        end = step + more
        anchor = schedule.foresee(step, end)
        assert [schedule.lr(s) for s in range(1, step + 1)] == before
        # The next learning rate goes on from the last one, and the last one is zero.
        assert abs(schedule.lr(step + 1) - schedule.lr(step)) <= 1 / min(warmup, more) + 1e-9
        assert schedule.end == anchor.end
        if end > warmup:
            assert schedule.end == end
        assert schedule.lr(anchor.end) == 0.0
        rates = [schedule.lr(s) for s in range(anchor.step + 1, anchor.end + 1)]
        assert rates == sorted(rates, reverse=True)
        assert all(0 <= rate <= 1 for rate in rates)


def test_anchors_are_enough_to_go_on() -> None:
    schedule = Schedule(0.5, 5, "linear")
    for step, end in ((0, 50), (20, 70), (30, 45)):
        schedule.foresee(step, end)
    again = Schedule(0.5, 5, "linear", [Anchor(a.step, a.lr, a.end) for a in schedule.anchors])
    assert len(again.anchors) == 3
    assert [again.lr(s) for s in range(1, 80)] == [schedule.lr(s) for s in range(1, 80)]


def test_adam_is_the_papers_and_decay_spares_biases_and_norms() -> None:
    layer = nn.Linear(3, 5)
    norm = nn.LayerNorm(5)
    settings = TrainSettings(weight_decay=0.25)
    optimizer = make_optimizer([*layer.parameters(), *norm.parameters()], settings)
    decays = {id(p): g["weight_decay"] for g in optimizer.param_groups for p in g["params"]}
    assert decays.pop(id(layer.weight)) == 0.25
    assert list(decays.values()) == [0.0, 0.0, 0.0]
    for group in optimizer.param_groups:
        assert (group["betas"], group["eps"]) == ((0.9, 0.98), 1e-9)
    assert len(make_optimizer([layer.bias], settings).param_groups) == 1


def test_one_step_of_adam_by_hand() -> None:
    weight = nn.Parameter(torch.tensor([[2.0, -3.0]]))
    optimizer = make_optimizer([weight], TrainSettings())
    optimizer.param_groups[0]["lr"] = 0.125
    for gradient in ([[4.0, -1.0]], [[2.0, -3.0]]):
        weight.grad = torch.tensor(gradient)
        optimizer.step()
    # After the bias correction the first step is the sign of the gradient; the second by the book.
    expected = []
    for start, g1, g2 in ((2.0, 4.0, 2.0), (-3.0, -1.0, -3.0)):
        m = (0.9 * 0.1 * g1 + 0.1 * g2) / (1 - 0.9**2)
        v = (0.98 * 0.02 * g1**2 + 0.02 * g2**2) / (1 - 0.98**2)
        expected.append(start - 0.125 * math.copysign(1, g1) - 0.125 * m / math.sqrt(v))
    assert weight.tolist()[0] == pytest.approx(expected, rel=1e-6)
