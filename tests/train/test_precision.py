from __future__ import annotations

import math

import pytest
import torch
from toy_task import Reverse

from heedful.errors import ConfigError
from heedful.nn import onednn
from heedful.nn.linear import shortened
from heedful.nn.loss import Loss
from heedful.settings import TrainSettings
from heedful.tasks.translation.batching import Batch
from heedful.train.precision import Precision, Scale, choose_precision
from heedful.train.rate import calibrate
from heedful.train.replicas import Replicas


@pytest.mark.parametrize(
    ("has", "name"),
    [({}, "float32"), ({"avx512_bf16": True}, "bfloat16"), ({"amx_bf16": True}, "bfloat16")],
)
def test_a_cpu_computes_in_what_it_has_units_for(
    monkeypatch: pytest.MonkeyPatch, has: dict[str, bool], name: str
) -> None:
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: has, raising=False)
    monkeypatch.setattr(onednn, "faster", lambda: False)  # it remembers
    assert choose_precision("auto", "cpu").name == name
    assert choose_precision("float32", "cpu").name == "float32"


@pytest.mark.parametrize(
    ("bf16", "capability", "name"),
    [(True, (8, 0), "bfloat16"), (False, (7, 5), "float16"), (False, (6, 0), "float32")],
)
def test_a_gpu_computes_in_what_it_has_units_for(
    monkeypatch: pytest.MonkeyPatch, bf16: bool, capability: tuple[int, int], name: str
) -> None:
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", lambda including_emulation: bf16)
    monkeypatch.setattr(torch.cuda, "get_device_capability", lambda: capability)
    assert choose_precision("auto", "cuda").name == name


@pytest.mark.parametrize(
    ("faster", "asked", "device", "compiled", "by_onednn"),
    [
        (True, "float32", "cpu", False, True),
        (False, "float32", "cpu", False, False),
        (True, "bfloat16", "cpu", False, False),
        (True, "float32", "cuda", False, False),
        (True, "float32", "cpu", True, False),
    ],
)
def test_float32_is_by_onednn_where_that_is_worth_it(
    monkeypatch: pytest.MonkeyPatch,
    faster: bool,
    asked: str,
    device: str,
    compiled: bool,
    by_onednn: bool,
) -> None:
    monkeypatch.setattr(onednn, "faster", lambda: faster)
    assert choose_precision(asked, device, compiled).onednn == by_onednn


def test_a_run_that_goes_on_multiplies_as_it_did(monkeypatch: pytest.MonkeyPatch) -> None:
    usual, other = Precision(), Precision(onednn=True)
    assert (usual.told, other.told) == ("float32", "float32 in blocks")
    monkeypatch.setattr(onednn, "available", lambda: True)
    for now in (usual, other):
        for before in (usual, other):
            assert now.as_in(f"1 x 2 workers, cpu, {before.told}") == before
    short = Precision("bfloat16")
    assert short.as_in("1 x 2 workers, cpu, float32 in blocks") == short
    monkeypatch.setattr(onednn, "available", lambda: False)
    assert usual.as_in("1 x 2 workers, cpu, float32 in blocks") == usual


@pytest.mark.parametrize("workers", [1, 2])
@pytest.mark.skipif(not onednn.available(), reason="torch has no oneDNN here")
def test_products_by_onednn_give_the_same_gradient(workers: int) -> None:
    usual = gradients(Precision(), workers)
    other = gradients(Precision(onednn=True), workers)
    assert other[0] == pytest.approx(usual[0], rel=1e-5)
    assert torch.allclose(usual[1], other[1], atol=1e-5)


def test_what_is_not_there_is_refused() -> None:
    assert choose_precision("auto", "mps").name == "float32"
    with pytest.raises(ConfigError, match=r"train\.precision = float16 is not there on mps"):
        choose_precision("float16", "mps")


def gradients(precision: Precision, workers: int = 1) -> tuple[float, torch.Tensor]:
    task = Reverse(norm="pre", dropout=0.1)
    replicas: Replicas[Batch] = Replicas(task, TrainSettings(), workers, precision)
    try:
        tokens, loss, _ = replicas.gradients([next(iter(task.batches(0, 0)))], [1, 2][:workers])
    finally:
        replicas.close()
    flat = [p.grad.flatten() for p in task.model.parameters() if p.grad is not None]
    return loss / tokens, torch.cat(flat)


@pytest.mark.parametrize("name", ["bfloat16", "float16"])
@pytest.mark.parametrize("workers", [1, 2])
def test_shorter_numbers_give_nearly_the_same_gradient(name: str, workers: int) -> None:
    exact = gradients(Precision(), workers)
    short = gradients(choose_precision(name, "cpu"), workers)
    assert short[0] == pytest.approx(exact[0], rel=1e-2)
    assert float((short[1] - exact[1]).norm() / exact[1].norm()) < 0.05
    assert not torch.equal(short[1], exact[1])
    assert short[1].dtype == torch.float32


def test_the_time_foreseen_is_that_of_the_numbers_used(monkeypatch: pytest.MonkeyPatch) -> None:
    task, short = Reverse(), []
    real = task.loss

    def watched(model: torch.nn.Module, batch: Batch, generator: torch.Generator) -> Loss:
        short.append(shortened(torch.ones(1, 1)).dtype == torch.bfloat16)
        return real(model, batch, generator)

    monkeypatch.setattr(task, "loss", watched)
    for precision in (Precision(), Precision("bfloat16", "cpu")):
        assert calibrate(task, TrainSettings(), 1, precision, steps=1) > 0
    assert short == [False, False, True, True]


def test_the_scale_of_float16_falls_when_it_overflows_and_rises_when_it_does_not() -> None:
    scale = Scale(Precision("float16"))
    first = scale.factor
    assert scale.overflowed(math.inf)
    assert scale.factor == first / 2
    assert not any(scale.overflowed(1.0) for _ in range(2000))
    assert scale.factor == first
    assert not Scale(Precision()).overflowed(math.inf)
    assert Scale(Precision("bfloat16")).factor == 1
    lost = sum(scale.overflowed(math.nan) for _ in range(99))
    assert lost == 14  # below one it is not the scale's fault
