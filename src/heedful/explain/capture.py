"""Watching a pass while it happens, without a flag in any call and without changing a bit.

The fused kernel runs as ever; queries, keys, values and mask are kept beside it, and the weights
are computed from them when somebody asks. Where nothing is captured nothing is different: what is
put around a method is taken away again when the block ends.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import torch
from torch import Tensor, nn
from torch.utils.hooks import RemovableHandle

from heedful.models.transformer import Transformer
from heedful.nn.attention import Attention
from heedful.nn.kernels import additive_scores, mix, scores
from heedful.nn.layers import Layer
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


@contextmanager
def capture(model: Transformer) -> Iterator[Captured]:
    """Record what every attention, sublayer and layer does, while the block runs."""
    found = Captured()
    wrapped: list[tuple[nn.Module, str]] = []
    hooks: list[RemovableHandle] = []

    def around(module: nn.Module, method: str, watch: Callable[..., None]) -> None:
        original = getattr(module, method)

        def watched(*arguments: Any) -> Any:
            watch(*arguments)
            return original(*arguments)

        setattr(module, method, watched)
        wrapped.append((module, method))

    def note_heads(name: str, module: Attention) -> None:
        def watch(q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None) -> None:
            found.looked[name] = Looked(module, q.detach(), k.detach(), v.detach(), keep)

        around(module, "heads", watch)

    def note_sublayers(name: str, module: Layer) -> None:
        def watch(x: Tensor, change: Tensor, norm: nn.LayerNorm) -> None:
            kept = Sublayer(x.detach(), change.detach(), norm)
            found.sublayers.setdefault(name, []).append(kept)

        around(module, "after", watch)

    def note_output(name: str, module: nn.Module) -> None:
        def hook(_: nn.Module, __: Any, output: Tensor) -> None:
            found.outputs[name] = output.detach()

        hooks.append(module.register_forward_hook(hook))

    def note_embedding(_: nn.Module, __: Any, output: Tensor) -> None:
        found.embedded.append(output.detach())

    for embedding in {model.source_embedding, model.target_embedding}:
        hooks.append(embedding.register_forward_hook(note_embedding))
    for name, module in model.named_modules():
        if isinstance(module, Attention):
            note_heads(name, module)
        elif isinstance(module, Layer):
            note_sublayers(name, module)
            note_output(name, module)
            note_output(f"{name}.feed_forward.inner", module.feed_forward.inner)
    try:
        yield found
    finally:
        for module, method in wrapped:
            delattr(module, method)  # the method of the class is there again
        for handle in hooks:
            handle.remove()


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
