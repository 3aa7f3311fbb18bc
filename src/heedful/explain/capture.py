"""Watching a pass while it happens, without a flag in any call and without changing a bit.

The fused kernel runs as ever; queries, keys, values and mask are kept beside it, and the weights
are computed from them when somebody asks. Only the thread that captures is watched
(`nn/observe.py`): a translation by the same model at the same moment goes its own way.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from heedful.models.transformer import Transformer
from heedful.nn.attention import Attention
from heedful.nn.kernels import additive_scores, mix, scores
from heedful.nn.layers import Layer
from heedful.nn.observe import Observer, observing
from heedful.nn.shapes import BHSK, BHSW, BHTK, BHTS, BHTW, BTD, Keep

__all__ = ["Captured", "Looked", "Sublayer", "capture", "pass_over"]


@dataclass(frozen=True)
class Looked:
    """One attention at work: what every head compared, and what it may see."""

    module: Attention
    q: BHTK
    k: BHSK
    v: BHSW
    keep: Keep | None

    @property
    def scores(self) -> BHTS:
        """How well each query matches each key, scaled, before the mask."""
        if self.module.comparison == "additive":
            return additive_scores(self.q, self.k, self.module.compare).detach()
        return scores(self.q, self.k, self.module.scale)

    @property
    def weights(self) -> BHTS:
        """The shares of each key."""
        return self.module.weights(self.q, self.k, self.keep).detach()

    @property
    def output(self) -> BHTW:
        """What each head brought back."""
        return mix(self.weights, self.v)


@dataclass(frozen=True)
class Sublayer:
    """One step of the residual way: what was there, what was added, what was left behind."""

    before: BTD
    change: BTD
    norm: nn.LayerNorm
    """The sublayer's own: around it in post-norm, in front of it in pre-norm."""

    @property
    def sum(self) -> BTD:
        """The residual sum."""
        return self.before + self.change


@dataclass
class Captured:
    """What was seen, by the names the modules have in the model."""

    looked: dict[str, Looked] = field(default_factory=dict)
    sublayers: dict[str, list[Sublayer]] = field(default_factory=dict)
    """Of each layer, in the order they ran."""
    outputs: dict[str, Tensor] = field(default_factory=dict)
    """Of the layers, and of each feed-forward's inner map."""
    embedded: list[Tensor] = field(default_factory=list)
    """Embeddings as looked up, the source's first."""


class Recorder(Observer):
    """Keeps what passes, by the names the modules have in the model."""

    def __init__(self, model: Transformer) -> None:
        self.found = Captured()
        self._names = {module: name for name, module in model.named_modules()}
        self._embeddings = {model.source_embedding, model.target_embedding}

    def value(self, module: nn.Module, x: Tensor) -> Tensor:
        """Keep an embedding, a layer's result or what the inner map of a feed-forward gives."""
        if module in self._embeddings:
            self.found.embedded.append(x.detach())
        else:
            self.found.outputs[self._names[module]] = x.detach()
        return x

    def heads(
        self, module: Attention, q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None
    ) -> Tensor:
        """Keep what every head compares."""
        seen = Looked(module, q.detach(), k.detach(), v.detach(), keep)
        self.found.looked[self._names[module]] = seen
        return super().heads(module, q, k, v, keep)

    def change(self, module: Layer, before: Tensor, change: Tensor, norm: nn.LayerNorm) -> Tensor:
        """Keep a step of the residual way."""
        kept = Sublayer(before.detach(), change.detach(), norm)
        self.found.sublayers.setdefault(self._names[module], []).append(kept)
        return change


@contextmanager
def capture(model: Transformer) -> Iterator[Captured]:
    """Record what every attention, sublayer and layer does in this thread, in the block."""
    recorder = Recorder(model)
    with observing(recorder):
        yield recorder.found


def pass_over(model: Transformer, source: list[int], target: list[int]) -> tuple[Captured, Tensor]:
    """Read a source and its target once, and give what was seen and the logits of each step.

    `source` is without the end symbol, `target` without start and end.
    """
    ids, device = model.ids, model.output_weight.device
    with capture(model) as found, torch.inference_mode():
        logits = model(
            torch.tensor([[*source, ids.eos]], device=device),
            torch.tensor([len(source) + 1], device=device),
            torch.tensor([[ids.start, *target]], device=device),
        )
    return found, logits[0]
