"""Models that are no encoder-decoder: a few lines tell of their pass, and the trace is whole."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from playwright.sync_api import Page
from torch import Tensor, nn

from heedful.explain.passes import Attends, Output, Pass, Stack, Stream, pieces
from heedful.explain.trace import trace
from heedful.explain.writer import Extent
from heedful.nn import masks
from heedful.nn.observe import passing
from heedful.nn.positions import Learned, Positions, Sinusoid
from heedful.nn.stacks import Encoder

Show = Callable[..., Page]
D, WORDS = 12, [f"▁w{i}" for i in range(17)]
IDS = torch.tensor([[3, 5, 2, 11, 7]])


class Model(nn.Module):
    """One stack under a name of its own, reading anything that can be embedded."""

    def __init__(
        self, name: str, embedding: nn.Module, positions: Positions | None, size: int
    ) -> None:
        super().__init__()
        self.add_module(name, Encoder(2, D, d_ff=14, n_heads=3, norm="pre"))
        self.name, self.embedding, self.positions = name, embedding, positions
        self.head = nn.Linear(D, size)
        if isinstance(positions, Learned):
            nn.init.normal_(positions.weight)

    def states(self, x: Tensor) -> Tensor:
        x = passing(self.embedding, self.embedding(x))
        if self.positions is not None:
            x = x + self.positions(0, x.size(1), x)
        keep = None
        if self.name == "decoder":
            keep = masks.look_ahead(torch.tensor([x.size(1)]), x.size(1))
        found: Tensor = self.get_submodule(self.name)(x, keep)
        return found


def told(model: Model, stream: Stream, run: Callable[[], Tensor], output: Output) -> Pass:
    stack = Stack(
        model.name, stream.name, [Attends(model.name, stream.name, model.name == "decoder")]
    )
    return Pass(model, run, [stream], [stack], output, {"name": "a model"})


def text(model: Model) -> Stream:
    names = [WORDS[int(i)] for i in IDS[0]]
    return Stream("text", "w3 w5", pieces(names), model.embedding, model.positions)


def language_model() -> Pass:
    model = Model("decoder", nn.Embedding(17, D), Sinusoid(D), 17)
    taken = [*IDS[0, 1:].tolist(), 0]
    return told(
        model,
        text(model),
        lambda: model.head(model.states(IDS))[0],
        Output("next-piece", "decoder", {}, taken, range(5), WORDS.__getitem__, model.head),
    )


def masked_language_model() -> Pass:
    model = Model("encoder", nn.Embedding(17, D), Learned(D, 9), 17)
    at = [1, 3]
    return told(
        model,
        text(model),
        lambda: model.head(model.states(IDS))[0, at],
        Output("masked-piece", "encoder", {}, [5, 11], at, WORDS.__getitem__, model.head),
    )


def classification() -> Pass:
    """Classes are few, and chosen from the mean of all states."""
    model = Model("encoder", nn.Embedding(17, D), Sinusoid(D, concatenated=True), 3)

    def head(states: Tensor) -> Tensor:
        found: Tensor = model.head(states.mean(1, keepdim=True))
        return found

    output = Output("class", "encoder", {}, [2], None, "abc".__getitem__, head)
    return told(model, text(model), lambda: head(model.states(IDS))[0], output)


def picture() -> Pass:
    model = Model("encoder", nn.Linear(48, D), Learned(D, 6), 3)
    pixels = torch.rand(1, 6, 48)
    patches = [{"kind": "patch", "box": [4 * x, 4 * y, 4, 4]} for y in range(2) for x in range(3)]
    size = {"picture": {"width": 12, "height": 8}}
    return told(
        model,
        Stream("picture", "a.png", patches, model.embedding, model.positions, 1.0, "picture", size),
        lambda: model.head(model.states(pixels))[0, :1],
        Output("class", "encoder", {}, [1], [0], "abc".__getitem__, model.head),
    )


def series() -> Pass:
    model = Model("encoder", nn.Linear(4, D), None, 3)
    values = torch.rand(1, 7, 4)
    steps = [{"kind": "step", "time": f"2026-11-0{i + 1}"} for i in range(7)]
    ahead = {"times": ["2026-11-08"], "values": [1.5], "quantiles": {"0.5": [1.5]}}
    return told(
        model,
        Stream("series", "power", steps, model.embedding, reads="series"),
        lambda: model.head(model.states(values))[0],
        Output("forecast", "encoder", ahead),
    )


FAMILY = [language_model, masked_language_model, classification, picture, series]


@pytest.mark.parametrize("make", FAMILY)
def test_a_trace_of_one_stack_agrees_with_its_pass(make: Callable[[], Pass]) -> None:
    one = make()
    model, (stream,), output = one.model, one.streams, one.output
    assert isinstance(model, Model)
    with torch.no_grad():
        logits = one.run()
    found = trace(one, Extent(decimals=8))
    json.dumps(found, allow_nan=False)
    assert found["schema"] == "heedful.trace/2"
    assert found["stacks"] == [{"name": model.name, "stream": stream.name, "layers": 2}]
    assert found["streams"][0]["items"] == list(stream.items)
    assert found["model"]["parameters"] == sum(p.numel() for p in model.parameters())
    assert "best_head" not in found
    assert "alignment" not in found
    size, causal = len(stream.items), model.name == "decoder"
    assert len(found["attentions"]) == 2
    for attention in found["attentions"]:
        assert (attention["from"], attention["to"]) == (stream.name, stream.name)
        assert attention["causal"] == causal
        for head in attention["heads"]:
            weights = np.array(head["weights"])
            assert weights.shape == (size, size)
            np.testing.assert_allclose(weights.sum(1), 1, atol=1e-5)
            assert (np.triu(weights, 1).max() == 0) == causal
    kinds = {Learned: "learned", Sinusoid: "interleaved"}
    assert len(found["positions"]) == (model.positions is not None)
    for positions in found["positions"]:
        concatenated = getattr(model.positions, "concatenated", False)
        assert positions["kind"] == (
            "concatenated" if concatenated else kinds[type(model.positions)]
        )
    (said,) = found["outputs"]
    assert (said["kind"], said["stream"]) == (output.kind, stream.name)
    if output.kind == "forecast":
        assert said["values"] == [1.5]
        assert "steps" not in said
        return
    steps = said["steps"]
    assert [step["at"] for step in steps] == ((output.at and list(output.at)) or [None])
    assert [step["taken"] for step in steps] == [output.name(i) for i in output.taken]
    for step, row in zip(steps, logits.double(), strict=True):
        shares = row.softmax(-1)
        order = [output.name(int(i)) for i in row.argsort(descending=True)[:10]]
        assert [each["name"] for each in step["top"]] == order
        first = step["top"][0]
        assert math.exp(first["logp"]) == pytest.approx(float(shares.max()), abs=1e-6)
        assert (step["rest"]["1"] is None) == (len(row) <= 10)
    for seen, step in zip(said["lens"][-1], steps, strict=True):
        assert seen[0]["name"] == step["top"][0]["name"]
    salient = np.array(said["saliency"][stream.name])
    np.testing.assert_allclose(salient.sum(1), 1, atol=1e-6)
    if causal:
        assert np.triu(salient, 1).max() == 0


@pytest.mark.parametrize("make", FAMILY)
def test_the_page_shows_it(make: Callable[[], Pass], show: Show) -> None:
    found: dict[str, Any] = trace(make())
    page = show(found)
    for tab in page.locator("[role=tab]:visible").all():
        tab.click()
    items = len(found["streams"][0]["items"])
    page.locator("#tab-heads").click()
    assert page.locator("#heads-svg [id^=query-]").count() == items
