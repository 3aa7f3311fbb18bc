"""Recording what attentions and layers compute in a pass, which stays bit-exact.

The fused kernel runs as usual; queries, keys, values and mask are kept, and the attention weights
are computed from them on demand. Only the thread that captures is recorded (`nn/observe.py`), so
another thread may translate with the same model at the same time.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import torch
from torch import Tensor, nn

from heedful.nn.attention import Attention
from heedful.nn.kernels import additive_scores, mix, scores
from heedful.nn.layers import Layer
from heedful.nn.observe import Observer, observing
from heedful.nn.shapes import BHSK, BHSW, BHTK, BHTS, BHTW, BTD, Keep


@dataclass(frozen=True)
class AttentionPass:
    """One attention sublayer in one pass: queries, keys and values of every head, and the mask."""

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
        """The attention weights: of each query, the share of every key."""
        return self.module.weights(self.q, self.k, self.keep).detach()

    @property
    def output(self) -> BHTW:
        """The output of each head: the values, mixed by the weights."""
        return mix(self.weights, self.v)


@dataclass(frozen=True)
class Sublayer:
    """One residual connection: its input, what the sublayer added to it, and its LayerNorm."""

    before: BTD
    change: BTD
    norm: nn.LayerNorm
    """Applied to the sum in post-norm, to the sublayer's input in pre-norm."""

    @property
    def sum(self) -> BTD:
        """The residual sum."""
        return self.before + self.change


@dataclass
class Captured:
    """What was recorded, by the names the modules have in the model."""

    attentions: dict[str, AttentionPass] = field(default_factory=dict)
    sublayers: dict[str, dict[str, Sublayer]] = field(default_factory=dict)
    """Of each layer the sublayers, by their names and in the order they ran."""
    outputs: dict[str, Tensor] = field(default_factory=dict)
    """The output of each layer, and of each feed-forward's inner linear map."""
    embedded: list[Tensor] = field(default_factory=list)
    """The embedded streams in the order they were read, unscaled and without positions."""

    def weights(self, stack: str, sublayer: str = "attention") -> Tensor:
        """Give an attention's weights in all layers of a stack: layer, head, query, key."""
        names = [f"{stack}.layers.{i}.{sublayer}" for i in range(len(self.attentions))]
        found = [self.attentions[name] for name in names if name in self.attentions]
        return torch.stack([seen.weights[0].cpu() for seen in found])


class Recorder(Observer):
    """Fills a `Captured` and changes nothing."""

    def __init__(self, model: nn.Module, embeddings: Collection[nn.Module]) -> None:
        self.found = Captured()
        self._names = {module: name for name, module in model.named_modules()}
        self._embeddings = embeddings

    def value(self, module: nn.Module, x: Tensor) -> Tensor:
        """Keep an embedding, a layer's output or that of a feed-forward's inner map."""
        if module in self._embeddings:
            self.found.embedded.append(x.detach())
        else:
            self.found.outputs[self._names[module]] = x.detach()
        return x

    def heads(
        self, module: Attention, q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None
    ) -> Tensor:
        """Keep the queries, keys, values and mask of an attention."""
        seen = AttentionPass(module, q.detach(), k.detach(), v.detach(), keep)
        self.found.attentions[self._names[module]] = seen
        return super().heads(module, q, k, v, keep)

    def change(self, module: Layer, before: Tensor, change: Tensor, norm: nn.LayerNorm) -> Tensor:
        """Keep a residual connection; the sublayer's norm bears its name."""
        name = self._names[norm].rpartition(".")[2].removesuffix("_norm")
        kept = Sublayer(before.detach(), change.detach(), norm)
        self.found.sublayers.setdefault(self._names[module], {})[name] = kept
        return change


@contextmanager
def capture(model: nn.Module, embeddings: Collection[nn.Module] = ()) -> Iterator[Captured]:
    """Record what the model's attentions, sublayers and layers compute in this thread."""
    recorder = Recorder(model, embeddings)
    with observing(recorder):
        yield recorder.found


def record(
    model: nn.Module, run: Callable[[], Tensor], embeddings: Collection[nn.Module] = ()
) -> tuple[Captured, Tensor]:
    """Run a pass without gradients, and give what was recorded and what the pass gave."""
    # In inference mode a second, packed copy of the weights would stay with the model.
    with capture(model, embeddings) as found, torch.no_grad():
        return found, run()
