"""The sublayers and the two kinds of layer made of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn.attention import Attention, Comparison
from heedful.nn.cache import LayerCache, Memory
from heedful.nn.dropout import Dropout
from heedful.nn.linear import Linear, restored, shortened
from heedful.nn.observe import observer, passing
from heedful.nn.shapes import BTD, Keep

Activation = Literal["relu", "gelu", "swish"]
Norm = Literal["post", "pre"]
ACTIVATIONS: dict[Activation, Callable[[Tensor], Tensor]] = {
    "relu": torch.relu_,  # in place: nothing else needs the inner map's output
    "gelu": F.gelu,
    "swish": F.silu,
}


class FeedForward(nn.Module):
    """Two linear maps with an activation between them, applied to each position by itself."""

    def __init__(self, d_model: int, d_ff: int, activation: Activation, dropout: float) -> None:
        super().__init__()
        self.inner = Linear(d_model, d_ff)
        self.outer = Linear(d_ff, d_model)
        self.activation = activation
        self.dropout = Dropout(dropout)

    def forward(self, x: BTD) -> BTD:
        """Widen, activate, narrow."""
        wide = passing(self.inner, self.inner(shortened(x)))
        active = ACTIVATIONS[self.activation](wide)
        return restored(self.outer(self.dropout(active)), x)


class Layer(nn.Module):
    """What both layers share: self-attention, feed-forward, a residual and a norm for each.

    Post-norm (the paper): x = LayerNorm(x + sublayer(x)). Pre-norm: x = x + sublayer(LayerNorm(x)),
    which needs no warm-up but one more LayerNorm at the end of the stack.
    """

    def __init__(
        self,
        d_model: int,
        d_ff: int,
        n_heads: int,
        d_head: int | None = None,
        d_value: int | None = None,
        norm: Norm = "post",
        activation: Activation = "relu",
        comparison: Comparison = "scaled",
        dropout: float = 0.0,
        attention_dropout: float = 0.0,
        ff_dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.norm = norm
        self.attention = Attention(d_model, n_heads, d_head, d_value, comparison, attention_dropout)
        self.attention_norm = nn.LayerNorm(d_model)
        self.feed_forward = FeedForward(d_model, d_ff, activation, ff_dropout)
        self.feed_forward_norm = nn.LayerNorm(d_model)
        self.dropout = Dropout(dropout)

    def before(self, x: BTD, norm: nn.LayerNorm) -> BTD:
        """What a sublayer reads."""
        return norm(x) if self.norm == "pre" else x

    def after(self, x: BTD, change: BTD, norm: nn.LayerNorm) -> BTD:
        """What a sublayer leaves behind: the residual sum, normalised in post-norm."""
        watching = observer()
        if watching is not None:
            change = watching.change(self, x, change, norm)
        added = self.dropout.add(x, change)
        return norm(added) if self.norm == "post" else added


class EncoderLayer(Layer):
    """Self-attention over the whole source, then the feed-forward."""

    def forward(self, x: BTD, keep: Keep | None) -> BTD:
        """Let every source position gather from all others."""
        seen = self.attention(self.before(x, self.attention_norm), keep)
        x = self.after(x, seen, self.attention_norm)
        changed = self.feed_forward(self.before(x, self.feed_forward_norm))
        return passing(self, self.after(x, changed, self.feed_forward_norm))


class DecoderLayer(Layer):
    """Self-attention over the past, attention to the source, then the feed-forward."""

    def __init__(self, d_model: int, *sizes: Any, **options: Any) -> None:
        """Take what every layer takes, and make a second attention of the same kind."""
        super().__init__(d_model, *sizes, **options)
        self.cross = self.attention.another()
        self.cross_norm = nn.LayerNorm(d_model)

    def forward(
        self, x: BTD, keep: Keep | None, memory: Memory, cache: LayerCache | None = None
    ) -> BTD:
        """Attend to the past, attend to the source, transform; with a cache, only new positions."""
        past = None if cache is None else (cache.keys, cache.values)
        seen = self.attention(self.before(x, self.attention_norm), keep, past)
        x = self.after(x, seen, self.attention_norm)

        source = None if cache is None else cache.memory
        if source is None:
            source = self.cross.project(memory.states)
        if cache is not None:
            cache.memory = source
        found = self.cross.attend_to(self.before(x, self.cross_norm), *source, memory.keep)
        x = self.after(x, found, self.cross_norm)

        changed = self.feed_forward(self.before(x, self.feed_forward_norm))
        return passing(self, self.after(x, changed, self.feed_forward_norm))
