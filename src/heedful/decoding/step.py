"""The decoder's step as one function of weights and memory; `quick.py` keeps the books around it.

Annotations are evaluated here, as in `cells.py`: `freed.py` wants the types of the fields.
"""

import math
from typing import NamedTuple, Self

import torch
from torch import Tensor

from heedful.decoding import maps
from heedful.decoding.cells import Look, Pool, attend, look, write
from heedful.decoding.first import Made, opened
from heedful.decoding.maps import Forward, Map, Norm, added, forwarded, mapped, normed
from heedful.models.transformer import Transformer
from heedful.nn.layers import DecoderLayer
from heedful.nn.loss import aligned

__all__ = ["Decoder", "Layer", "through"]


class Layer(NamedTuple):
    """One decoder layer's weights, as a step wants them."""

    widths: list[int]
    """Of the queries, keys and values of all heads."""
    own: Map
    """To queries, keys and values of the self-attention; the division by sqrt(d_k) is in the
    queries' part, here and everywhere."""
    own_output: Map
    query: Map
    """Of the attention to the source."""
    source_keys: Map
    source_values: Map
    output: Map
    forward: Forward
    pre: bool
    norms: tuple[Norm, Norm, Norm]

    @classmethod
    def of(cls, layer: DecoderLayer) -> Self:
        """Lay out a layer of the model."""
        own, cross = layer.attention, layer.cross
        keys, values = maps.keys_and_values(cross)
        return cls(
            widths=[own.n_heads * w for w in (own.d_head, own.d_head, own.d_value)],
            own=Map.of(*maps.joint(own)),
            own_output=maps.output(own),
            query=Map.of(*maps.scaled(cross)),
            source_keys=Map.of(keys, keys.new_zeros(keys.size(1))),
            source_values=Map.of(values, values.new_zeros(values.size(1))),
            output=maps.output(cross),
            forward=Forward.of(layer.feed_forward),
            pre=layer.norm == "pre",
            norms=(
                Norm.of(layer.attention_norm),
                Norm.of(layer.cross_norm),
                Norm.of(layer.feed_forward_norm),
            ),
        )


class Decoder(NamedTuple):
    """A decoder's weights, as a step wants them."""

    embedding: Tensor
    scale: float
    layers: list[Layer]
    norm: Norm
    words: Map
    """From states to logits."""

    @classmethod
    def of(cls, model: Transformer) -> Self:
        """Lay out a model's decoder."""
        return cls(
            model.target_embedding.weight,
            math.sqrt(model.settings.d_model),
            [Layer.of(layer) for layer in model.decoder.layers],  # type: ignore[arg-type]
            Norm.of(model.decoder.norm),
            _words(model),
        )


def _words(model: Transformer) -> Map:
    """Lay out the vocabulary, filled up with words that can no more be predicted than padding.

    With 4,001 words instead of 4,032 a product of 256 rows takes half as long again.
    """
    weight, bias, size = model.output_weight.detach(), model.output_bias, model.ids.size
    wide = aligned(size)
    words, shift = weight.new_zeros(weight.size(1), wide), weight.new_full((wide,), -math.inf)
    words[:, :size] = weight.t()
    shift[:size] = 0 if bias is None else bias.detach()
    shift[model.ids.pad] = -math.inf
    return Map.of(words, shift)


def through(
    decoder: Decoder,
    words: Tensor,
    position: Tensor,
    made: Made | None,
    time: int,
    past: list[Pool],
    numbers: Tensor,
    source: list[Pool],
    across: Look,
) -> Tensor:
    """Take the newest words through all layers; `numbers` are the cells of the past they see.

    `made` is what is known of the words in the first layer, if anything is.

    In the part of Python that `freed.py` can take out of the interpreter.
    """
    x = torch.add(position, torch.embedding(decoder.embedding, words), alpha=decoder.scale)
    back = look(numbers, past[0].rows.size(0))
    for i, layer in enumerate(decoder.layers):
        first, second, third = layer.norms
        if i == 0 and made is not None:
            both = opened(made, words, x)
        else:
            both = mapped(normed(x, first) if layer.pre else x, layer.own)
        q, keys, values = both.split_with_sizes(layer.widths, 1)
        write(past[i], time, keys, values)
        x = added(x, attend(back, q, past[i]), layer.own_output)
        x = x if layer.pre else normed(x, first)
        q = mapped(normed(x, second) if layer.pre else x, layer.query)
        x = added(x, attend(across, q, source[i]), layer.output)
        x = x if layer.pre else normed(x, second)
        x = forwarded(x, normed(x, third) if layer.pre else x, layer.forward)
        x = x if layer.pre else normed(x, third)
    return normed(x, decoder.norm)
