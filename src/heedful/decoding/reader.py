"""The encoder once more, laid out for speed: what `Transformer.encode` computes, in less time.

A few sentences are read at a time, padded to the longest of the few: a batch to be written together
may have lengths so unlike that half of it is padding; the decoder's step hardly notices, but the
encoder computes every position. A test proves the states equal.

Annotations are evaluated here, as in `cells.py`: `freed.py` wants the types of the fields.
"""

import math
from collections.abc import Callable, Sequence
from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.data.batching import pad
from heedful.decoding import maps
from heedful.decoding.first import First, Made, opened
from heedful.decoding.freed import freed
from heedful.decoding.maps import Forward, Map, Norm, added, forwarded, mapped, normed
from heedful.models.transformer import Transformer
from heedful.nn import masks
from heedful.nn.cache import Memory
from heedful.nn.layers import EncoderLayer

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


class Layer(NamedTuple):
    """One encoder layer's weights."""

    heads: int
    widths: list[int]
    """Of the queries, keys and values of all heads."""
    own: Map
    output: Map
    forward: Forward
    pre: bool
    norms: tuple[Norm, Norm]

    @classmethod
    def of(cls, layer: EncoderLayer) -> Self:
        """Lay out a layer of the model."""
        own = layer.attention
        return cls(
            own.n_heads,
            [own.n_heads * w for w in (own.d_head, own.d_head, own.d_value)],
            Map.of(*maps.joint(own)),
            maps.output(own),
            Forward.of(layer.feed_forward),
            layer.norm == "pre",
            (Norm.of(layer.attention_norm), Norm.of(layer.feed_forward_norm)),
        )


def encode(
    layers: list[Layer],
    norm: Norm,
    words: Tensor,
    x: Tensor,
    made: Made | None,
    count: int,
    mask: Tensor | None,
) -> Tensor:
    """Let every word of `count` sentences gather from its sentence; x may have more rows.

    `made` is what is known of the words in the first layer, if anything is. In the part of Python
    that `freed.py` can take out of the interpreter.
    """
    real = words.size(0)
    for i, layer in enumerate(layers):
        first, second = layer.norms
        if i == 0 and made is not None:
            both = opened(made, words, x[:real])
        else:
            both = mapped(normed(x, first) if layer.pre else x, layer.own)
        parts = both[:real].split_with_sizes(layer.widths, 1)
        q, keys, values = [
            part.reshape(count, real // count, layer.heads, -1).transpose(1, 2) for part in parts
        ]
        seen = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask, scale=1.0)
        seen = F.pad(seen.transpose(1, 2).reshape(real, -1), (0, 0, 0, x.size(0) - real))
        x = added(x, seen, layer.output)
        x = x if layer.pre else normed(x, first)
        x = forwarded(x, normed(x, second) if layer.pre else x, layer.forward)
        x = x if layer.pre else normed(x, second)
    return normed(x, norm)[:real]


class Reader:
    """A model's encoder, laid out for reading: float32 on a CPU, dot-product attention."""

    def __init__(self, model: Transformer) -> None:
        self._model = model
        self._layers = [Layer.of(layer) for layer in model.encoder.layers]  # type: ignore[arg-type]
        self._norm = Norm.of(model.encoder.norm)
        self._first = First.of(model, model.source_embedding, model.encoder.layers[0])  # type: ignore[arg-type]
        self._encode = freed(encode)

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
        x = F.embedding(table, model.source_embedding.weight)
        x *= math.sqrt(model.settings.d_model)
        x += model.positions(0, longest, x)
        x = F.pad(x.view(real, -1), (0, 0, 0, maps.filled(real) - real))
        words = table.flatten()
        made = None if self._first is None else self._first.at(words, 0, longest)
        states = self._encode(self._layers, self._norm, words, x, made, count, mask)
        return Memory(states.view(count, longest, -1), lengths, keep)
