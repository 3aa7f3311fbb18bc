"""The one place where a pass is watched or changed: safe, free when off, exact when it changes."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from heedful.decoding.batch import search
from heedful.models.transformer import Transformer
from heedful.nn.attention import Attention
from heedful.nn.kernels import mix
from heedful.nn.observe import Observer, carried, observer, observing
from heedful.settings import DecodeSettings, ModelSettings, TokenIds
from heedful.train.replicas import layers_of

IDS = TokenIds(size=23, pad=22, start=22)
SOURCES = [[3, 4, 5], [7, 8], [9, 10, 11, 12, 13]]
SIZES = {"d_model": 12, "d_ff": 14, "n_heads": 3, "encoder_layers": 2, "decoder_layers": 2}
WHERE = ["encoder.layers.0.attention", "decoder.layers.1.attention", "decoder.layers.0.cross"]
HEAD, WIDTH = 1, 4
PART = slice(HEAD * WIDTH, (HEAD + 1) * WIDTH)


def make(**changes: object) -> Transformer:
    model = Transformer(ModelSettings.model_validate(SIZES | changes), IDS).eval()
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.dim() == 2:
                parameter.mul_(2.0)  # so that every change can be seen
    return model


def run(model: nn.Module) -> Tensor:
    with torch.no_grad():
        found: Tensor = model(
            torch.tensor([[3, 4, 5, 0], [7, 8, 0, 22]]),
            torch.tensor([4, 3]),
            torch.tensor([[22, 6, 7], [22, 8, 22]]),
            torch.tensor([3, 2]),
        )
    return found[torch.tensor([[1, 1, 1], [1, 1, 0]]).bool()]


def searched(model: Transformer, plain: bool = False, workers: int = 1) -> list[tuple]:  # type: ignore[type-arg]
    decode = DecodeSettings(beam=3, max_length=9, batch_tokens=20)
    found = search(model, SOURCES, decode, 3, plain=plain, workers=workers)
    return [(h.ids, pytest.approx(h.logp, abs=1e-4)) for each in found for h in each]


class HeadOff(Observer):
    """Gives nothing for one head."""

    def __init__(self, module: Attention) -> None:
        self.module = module

    def heads(
        self, module: Attention, q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None
    ) -> Tensor:
        found = super().heads(module, q, k, v, keep)
        if module is self.module:
            found = found.clone()
            found[:, HEAD] = 0
        return found


class Uniform(HeadOff):
    """Lets one head look at everything alike."""

    def heads(
        self, module: Attention, q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None
    ) -> Tensor:
        if module is not self.module:
            return super(HeadOff, self).heads(module, q, k, v, keep)
        weights = module.weights(q, k, keep).clone()
        seen = torch.ones_like(weights) if keep is None else keep.expand_as(weights).float()
        weights[:, HEAD] = (seen / seen.sum(-1, keepdim=True))[:, HEAD]
        return mix(weights, v)


class Shifted(HeadOff):
    """Adds one to every value of one head."""

    def heads(
        self, module: Attention, q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None
    ) -> Tensor:
        if module is self.module:
            v = v.clone()
            v[:, HEAD] += 1
        return super(HeadOff, self).heads(module, q, k, v, keep)


def without_head(attention: Attention) -> None:
    attention.output.weight[:, PART] = 0


def without_query(attention: Attention) -> None:
    attention.query.weight[PART] = 0
    attention.query.bias[PART] = 0


def with_bias(attention: Attention) -> None:
    attention.value.bias[PART] += 1


Change = tuple[type[HeadOff], Callable[[Attention], None]]
CHANGES: dict[str, Change] = {
    "a head off": (HeadOff, without_head),
    "uniform weights": (Uniform, without_query),
    "a value edited": (Shifted, with_bias),
}


def edited(model: Transformer, where: str, change: Callable[[Attention], None]) -> Transformer:
    """The same change, made in the weights of a copy."""
    other = copy.deepcopy(model)
    attention = other.get_submodule(where)
    assert isinstance(attention, Attention)
    with torch.no_grad():
        change(attention)
    return other


@pytest.mark.parametrize("where", WHERE)
@pytest.mark.parametrize("name", CHANGES)
def test_a_change_gives_what_the_same_change_of_the_weights_gives(name: str, where: str) -> None:
    model = make()
    change, by_weights = CHANGES[name]
    other = edited(model, where, by_weights)
    attention = model.get_submodule(where)
    assert isinstance(attention, Attention)
    plain, before = run(model), searched(model)
    with observing(change(attention)):
        changed = run(model)
        cached, uncached = searched(model), searched(model, plain=True)
        both = searched(model, workers=2)
    torch.testing.assert_close(changed, run(other), atol=1e-5, rtol=1e-5)
    assert not torch.allclose(changed, plain, atol=1e-3)
    assert cached == uncached == both == searched(other)
    assert cached != before
    assert torch.equal(run(model), plain), "nothing of it stays"
    assert searched(model) == before


def test_a_looked_up_word_can_be_another() -> None:
    model = make(share_embeddings=False)

    class Another(Observer):
        def value(self, module: nn.Module, x: Tensor) -> Tensor:
            if module is model.source_embedding:
                x = x.clone()
                x[0, 1] = model.source_embedding.weight[9].detach()
            return x

    def logits(word: int) -> Tensor:
        with torch.no_grad():
            found: Tensor = model(
                torch.tensor([[3, word, 0]]), torch.tensor([3]), torch.tensor([[22, 6]])
            )
        return found

    with observing(Another()):
        changed = logits(4)
    assert torch.equal(changed, logits(9))
    assert not torch.equal(changed, logits(4))


def test_a_thread_is_observed_only_where_the_observer_is_carried_into_it() -> None:
    model = make()
    attention = model.get_submodule(WHERE[0])
    assert isinstance(attention, Attention)
    alone = run(model)
    inside, done = threading.Event(), threading.Event()
    found: list[Tensor] = []

    def beside() -> None:
        inside.wait(60)
        found.append(run(model))
        done.set()

    other = threading.Thread(target=beside)
    other.start()
    one = HeadOff(attention)
    with observing(one), ThreadPoolExecutor(2) as pool:
        inside.set()
        assert done.wait(60)
        plain = list(pool.map(lambda _: observer(), range(2)))
        given = list(pool.map(carried(lambda _: observer()), range(2)))
        changed = list(pool.map(carried(lambda _: run(model)), range(2)))
        mine = run(model)
        nobody = carried(observer)
        with observing(None):
            assert observer() is None
    other.join()
    assert plain == [None, None]
    assert given == [one, one]
    assert nobody() is one
    assert observer() is None
    assert torch.equal(found[0], alone)
    assert all(torch.equal(each, mine) for each in changed)
    assert not torch.equal(mine, alone)


def test_nobody_observing_costs_no_second_computation(monkeypatch: pytest.MonkeyPatch) -> None:
    model = make()
    with observing(Observer()):
        watched = run(model)
    mixed: list[nn.Module] = []
    plain = Attention.mixed

    def counted(self: Attention, *args: Tensor) -> Tensor:
        mixed.append(self)
        return plain(self, *args)

    def refused(*args: object) -> Tensor:
        raise AssertionError("the weights are computed though nobody asks for them")

    monkeypatch.setattr(Attention, "mixed", counted)
    monkeypatch.setattr(Attention, "weights", refused)
    assert torch.equal(run(model), watched)
    assert len(mixed) == len(set(mixed)) == 2 + 2 * 2
    with observing(Observer()):
        run(model)
    assert len(mixed) == 2 * (2 + 2 * 2), "to watch computes nothing twice either"


class Counting(Observer):
    """Counts what it is shown."""

    def __init__(self) -> None:
        self.seen = 0

    def value(self, module: nn.Module, x: Tensor) -> Tensor:
        self.seen += 1
        return x


def test_a_compiled_graph_is_whole_and_asks_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    # The hook that checks shapes in every test is no part of the graph.
    monkeypatch.setattr(torch.nn.modules.module, "_global_forward_hooks", {})
    model = make()
    plain, one = run(model), Counting()
    compiled = copy.deepcopy(model)
    for layer in layers_of(compiled):
        layer.compile(fullgraph=True, dynamic=True, backend="eager")
    torch.testing.assert_close(run(compiled), plain)
    with observing(one):
        torch.testing.assert_close(run(compiled), plain)
    assert one.seen == 2, "the embeddings, which are not compiled"
    with observing(one):
        run(model)
    assert one.seen == 2 + 2 + 2 * 4, "and of each layer its output and its inner map"


def test_an_export_while_somebody_observes_is_the_same_graph() -> None:
    model = make()
    arguments = (torch.tensor([[3, 4, 0]]), torch.tensor([3]), torch.tensor([[22, 6]]))
    plain = torch.export.export(model, arguments)
    one = Counting()
    with observing(one):
        watched = torch.export.export(model, arguments)
    assert one.seen == 0
    assert str(plain.graph) == str(watched.graph)
    with torch.no_grad():
        torch.testing.assert_close(watched.module()(*arguments), model(*arguments))


@pytest.mark.filterwarnings("ignore")  # the exporter's own
def test_an_onnx_model_written_while_somebody_observes_is_the_same(tmp_path: Path) -> None:
    pytest.importorskip("onnxscript")
    from heedful.tasks.translation.exchange.onnx import write_onnx
    from model_case import make as make_folder

    folder = make_folder(tmp_path / "model")
    write_onnx(folder, tmp_path / "plain")
    one = Counting()
    with observing(one):
        write_onnx(folder, tmp_path / "watched")
    assert one.seen == 0
    for name in ("encoder.onnx", "decoder.onnx"):
        assert (tmp_path / "plain" / name).read_bytes() == (
            tmp_path / "watched" / name
        ).read_bytes()
