"""The encoder once more, laid out for speed: what `Transformer.encode` computes, in less time.

A few sentences are read at a time, padded to the longest of the few: a batch to be written together
may have lengths so unlike that half of it is padding; the decoder's step hardly notices, but the
encoder computes every position. A test proves the states equal.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.data.batching import pad
from heedful.decoding import maps
from heedful.decoding.maps import Map, Norm
from heedful.models.transformer import Transformer
from heedful.nn import masks
from heedful.nn.attention import Attention
from heedful.nn.cache import Memory
from heedful.nn.layers import ACTIVATIONS, EncoderLayer

__all__ = ["Reader", "read"]

AT_ONCE = 512
"""Positions: a product of so many rows is as fast as one of more."""


def read(
    encode: Callable[[Tensor, Tensor], Memory],
    sources: Sequence[Sequence[int]],
    eos: int,
    padding: int,
    device: torch.device | None = None,
) -> Memory:
    """Encode a batch, its longest sentences first; on a CPU a few of them at a time."""
    parts, start = [], 0
    while start < len(sources):
        few = len(sources)
        if device is None or device.type == "cpu":
            few = max(1, AT_ONCE // (len(sources[start]) + 1))
        table, lengths = pad([[*s, eos] for s in sources[start : start + few]], padding)
        parts.append(encode(table.to(device), lengths.to(device)))
        start += few
    return Memory.joined(parts)


@dataclass(frozen=True)
class _Layer:
    """One encoder layer's weights."""

    own: Map
    output: Map
    inner: Map
    outer: Map
    norms: tuple[Norm, Norm]


class Reader:
    """A model's encoder, laid out for reading: float32 on a CPU, dot-product attention."""

    def __init__(self, model: Transformer) -> None:
        self._model = model
        self._layers = [_laid_out(layer) for layer in model.encoder.layers]  # type: ignore[arg-type]
        attention: Attention = model.encoder.layers[0].attention  # type: ignore[assignment]
        self._heads, self._d_head = attention.n_heads, attention.d_head
        self._pre = model.settings.norm == "pre"
        activation = model.settings.activation
        self._bend = None if activation == "relu" else ACTIVATIONS[activation]
        self._last_norm = maps.norm(model.encoder.norm)

    def read(self, sources: Sequence[Sequence[int]]) -> Memory:
        """Encode sentences."""
        return read(self.encode, sources, self._model.ids.eos, self._model.ids.pad)

    def encode(self, table: Tensor, lengths: Tensor) -> Memory:
        """Encode ids in a rectangle, as the model does."""
        model = self._model
        count, longest = table.shape
        real = count * longest
        keep = masks.padding(lengths, longest)
        mask = None if bool(keep.all()) else keep
        words = F.embedding(table, model.source_embedding.weight)
        words *= math.sqrt(model.settings.d_model)
        words += model.positions(0, longest, words)
        x = F.pad(words.view(real, -1), (0, 0, 0, maps.filled(real) - real))
        for layer in self._layers:
            first, second = layer.norms
            seen = self._look_round(layer, first(x) if self._pre else x, count, real, mask)
            x = layer.output.add(x, seen)
            x = x if self._pre else first(x)
            bent = layer.inner(second(x) if self._pre else x)
            x = layer.outer.add(x, bent if self._bend is None else self._bend(bent))
            x = x if self._pre else second(x)
        states = self._last_norm(x)[:real].view(count, longest, -1)
        return Memory(states, lengths, keep)

    def _look_round(
        self, layer: _Layer, x: Tensor, count: int, real: int, mask: Tensor | None
    ) -> Tensor:
        """Let every position of a sentence attend to all of it."""
        h, k = self._heads, self._d_head
        both = layer.own(x)[:real].view(count, real // count, -1)
        parts = both[..., : h * k], both[..., h * k : 2 * h * k], both[..., 2 * h * k :]
        q, keys, values = (part.view(*part.shape[:2], h, -1).transpose(1, 2) for part in parts)
        found = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask, scale=1.0)
        found = found.transpose(1, 2).reshape(real, -1)
        return F.pad(found, (0, 0, 0, len(x) - real))


def _laid_out(layer: EncoderLayer) -> _Layer:
    forward = layer.feed_forward
    return _Layer(
        own=maps.own(layer.attention),
        output=maps.output(layer.attention),
        inner=Map(*maps.linear(forward.inner), relu=forward.activation == "relu"),
        outer=Map(*maps.linear(forward.outer)),
        norms=(maps.norm(layer.attention_norm), maps.norm(layer.feed_forward_norm)),
    )
