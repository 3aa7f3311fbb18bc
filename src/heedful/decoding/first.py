"""What the first layer makes of words: once for a word, not each time it is read or written.

The first layer sees words at places, x = e + p, and maps them to queries, keys and values. That is
linear, W (e + p) = W e + W p: one part is the word's alone, the other the place's alone, and both
are kept from the first time on. With a few thousand words a product becomes a lookup. Where a norm
stands before the map, it takes the mean away, which is linear too, and divides by the deviation:
all that is left to compute of word and place together.

Annotations are evaluated here, as in `cells.py`: `freed.py` wants the types of the fields.
"""

import math
import threading
from typing import NamedTuple, Self

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.decoding import maps
from heedful.decoding.maps import Map, Norm, mapped
from heedful.models.transformer import Transformer
from heedful.nn.layers import DecoderLayer, EncoderLayer
from heedful.nn.positions import Learned, Positions

__all__ = ["First", "Made", "opened"]

MOST = 1 << 23
"""Numbers in a table: more than 32 MB of memory are not spent on a small part of a large model."""
PLACES = 64
"""Of which the first are made; then they double."""
TOGETHER = 16
"""Always so many are mapped at once, so that what is found does not depend on the others."""


class Made(NamedTuple):
    """What is known of the words and of the places at hand."""

    words: Tensor
    """A row a word."""
    places: Tensor
    """A row a place, the same for every sentence."""
    shift: Tensor
    """What comes to it after a norm."""
    pre: bool
    """Whether there is a norm before the map ..."""
    epsilon: float
    """... and its epsilon."""


class First:
    """The first layer of one side of a model; it learns words as it meets them."""

    def __init__(
        self,
        embedding: Tensor,
        scale: float,
        positions: Positions,
        layer: EncoderLayer | DecoderLayer,
    ) -> None:
        self._embedding, self._scale = embedding.detach(), scale
        self._positions = positions
        self._pre, norm = layer.norm == "pre", Norm.of(layer.attention_norm)
        matrix, shift = maps.joint(layer.attention)
        if self._pre:
            assert norm.weight is not None
            assert norm.bias is not None
            shift = shift + norm.bias.detach() @ matrix
            matrix = norm.weight.detach()[:, None] * matrix
        self._shift, self._epsilon = shift, norm.epsilon
        self._map = Map.of(matrix, torch.zeros_like(shift))
        with torch.inference_mode(False):  # they are written to, wherever this is made
            self._words = torch.empty(len(self._embedding), matrix.size(1))  # untouched, it is free
            self._known = torch.zeros(len(self._words), dtype=torch.bool)
        self._places = torch.empty(0, matrix.size(1))
        self._most_places = 1 << (MOST // matrix.size(1)).bit_length() - 1
        self._learning = threading.Lock()

    @classmethod
    def of(
        cls, model: Transformer, embedding: nn.Embedding, layer: EncoderLayer | DecoderLayer
    ) -> Self | None:
        """Begin with no words; None where a table of all of them would be too large."""
        own = layer.attention
        if len(embedding.weight) * own.n_heads * (2 * own.d_head + own.d_value) > MOST:
            return None
        return cls(embedding.weight, math.sqrt(model.settings.d_model), model.positions, layer)

    def at(self, words: Tensor, start: int, length: int) -> Made | None:
        """Give what is known, with these words and these places now among it.

        None where there are too many places to keep.
        """
        end = start + length
        if end > self._most_places:
            return None
        known = self._known.numpy()[words.numpy()]  # NumPy's is quicker for a few
        if not known.all() or end > len(self._places):
            with self._learning:
                self._learn(words, end)
        places = self._places[start:end]
        return Made(self._words, places, self._shift, self._pre, self._epsilon)

    def _learn(self, words: Tensor, places: int) -> None:
        new = torch.unique(words[~self._known[words]])
        if len(new):
            self._words[new] = self._parts(self._embedding[new] * self._scale)
            self._known[new] = True  # last: others do not wait for the lock
        if places > len(self._places):
            if isinstance(self._positions, Learned):
                places = max(places, len(self._positions.weight))
            else:
                places = max(PLACES, 1 << (places - 1).bit_length())
            made = self._parts(self._positions(0, places, self._embedding).detach())
            self._places = made if self._pre else made + self._shift

    def _parts(self, x: Tensor) -> Tensor:
        """Map words or places alone."""
        if self._pre:
            x = x - x.mean(1, keepdim=True)
        missing = -len(x) % TOGETHER
        parts = torch.split(F.pad(x, (0, 0, 0, missing)), TOGETHER)
        return torch.cat([mapped(part, self._map) for part in parts])[: len(x)]


# What follows is in the part of Python that `freed.py` can take out of the interpreter.


def opened(by: Made, words: Tensor, x: Tensor) -> Tensor:
    """Give queries, keys and values of words at their places; x is the sum of both."""
    count, width = by.places.size(0), by.places.size(1)
    found = F.embedding(words, by.words).view(-1, count, width)
    found = found.add_(by.places).view(-1, width)
    if by.pre:
        deviation = torch.native_layer_norm(x, [x.size(1)], None, None, by.epsilon)[2]
        found = torch.addcmul(by.shift, found, deviation, out=found)
    return found
