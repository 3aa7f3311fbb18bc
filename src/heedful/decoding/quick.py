"""The decoder's step once more, laid out for speed: what `CachedStepper` computes, in less time.

A step of the ordinary modules spends much of its time on what is not arithmetic: small products
that could be one, heads split and joined, rows of the source repeated for every beam. Here the
weights are laid out once for a whole search: the division by sqrt(d_k) inside the weights, states
without an axis for time, the past with time first (so that a step's keys and values lie together,
and beams that change places move only the steps in which they differ), matrices as (in, out) (a
product of few rows is up to a fifth faster so) or, the wide ones, in blocks as the processor's own
kernels read them, the vocabulary filled up to a width at which every row begins where a CPU likes
to read, and one copy of a sentence's keys and values for all its beams. A test proves the logits
equal. The encoder is in `reader.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.decoding import cells, maps
from heedful.decoding.cells import Look
from heedful.decoding.maps import Map, Norm
from heedful.decoding.reader import Reader
from heedful.models.transformer import Transformer
from heedful.nn.attention import Attention
from heedful.nn.cache import Memory
from heedful.nn.layers import ACTIVATIONS, DecoderLayer
from heedful.nn.loss import aligned

__all__ = ["Quick", "QuickStepper"]

ROOM = 16
"""Steps for which there are cells at first."""


@dataclass(frozen=True)
class _Layer:
    """One decoder layer's weights, as a step wants them."""

    own: Map
    """Queries, keys and values of the self-attention; the division by sqrt(d_k) is in the queries'
    part, here and everywhere."""
    own_output: Map
    query: Map
    """Of the attention to the source."""
    source_keys: Map
    source_values: Map
    output: Map
    inner: Map
    outer: Map
    norms: tuple[Norm, Norm, Norm]


class Quick:
    """A model's decoder, laid out for stepping; made once for a search, used by all its batches."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        self.layers = [_laid_out(layer) for layer in model.decoder.layers]  # type: ignore[arg-type]
        attention: Attention = model.decoder.layers[0].attention  # type: ignore[assignment]
        self.heads, self.d_head, self.d_value = (
            attention.n_heads,
            attention.d_head,
            attention.d_value,
        )
        self.pre = model.settings.norm == "pre"
        activation = model.settings.activation
        self.bend = None if activation == "relu" else ACTIVATIONS[activation]
        self.last_norm = maps.norm(model.decoder.norm)
        self.words = _words(model)
        self._reader = Reader(model)
        cells.make_ready()

    @staticmethod
    def suits(model: Transformer) -> bool:
        """Say whether a model can be stepped here: float32 on a CPU, dot-product attention."""
        weight = model.output_weight
        on_cpu = weight.device.type == "cpu" and weight.dtype == torch.float32
        return on_cpu and model.settings.attention != "additive" and not model.training

    def read(self, sources: Sequence[Sequence[int]]) -> Memory:
        """Read what is to be translated."""
        return self._reader.read(sources)

    def begin(self, memory: Memory) -> QuickStepper:
        """Start writing the translations of what was read."""
        return QuickStepper(self, memory)


def _laid_out(layer: DecoderLayer) -> _Layer:
    cross, forward = layer.cross, layer.feed_forward
    keys, values = maps.keys_and_values(cross)
    return _Layer(
        own=maps.own(layer.attention),
        own_output=maps.output(layer.attention),
        query=Map(*maps.scaled(cross)),
        source_keys=Map(keys, keys.new_zeros(keys.size(1)), many=True),
        source_values=Map(values, values.new_zeros(values.size(1)), many=True),
        output=maps.output(cross),
        inner=Map(*maps.linear(forward.inner), relu=forward.activation == "relu"),
        outer=Map(*maps.linear(forward.outer)),
        norms=(
            maps.norm(layer.attention_norm),
            maps.norm(layer.cross_norm),
            maps.norm(layer.feed_forward_norm),
        ),
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
    return Map(words, shift)


class QuickStepper:
    """Each step costs one word, and little else."""

    def __init__(self, quick: Quick, memory: Memory) -> None:
        self._quick = quick
        self._length = 0
        self._past: list[Tensor] = []
        """Keys and values of every layer in turn, a cell for each word of each row."""
        self._used = 0
        """Cells of the past that were written."""
        self._cells: Tensor
        """For each row, the cells of its words."""
        keep = memory.keep.flatten(1)
        self._mask: Tensor | None = None
        if not keep.all():
            self._mask = torch.zeros(keep.shape).masked_fill_(~keep, -math.inf)
        states = memory.states.flatten(0, 1)[keep.flatten()]
        # Padding, which is masked, is the word before it once more.
        self._places = (keep.flatten().cumsum(0) - 1).clamp_(min=0).view(keep.shape)
        self._seen = [
            (layer.source_keys(states), layer.source_values(states)) for layer in quick.layers
        ]
        self._across: Look | None = None

    def step(self, words: Tensor) -> Tensor:
        """Give the logits after the newest words."""
        quick, model = self._quick, self._quick.model
        position = model.positions(self._length, 1, model.output_weight)
        x = F.embedding(words, model.target_embedding.weight)
        x = x * math.sqrt(model.settings.d_model) + position
        self._make_room(len(words))
        back, across = self._looks(len(words))
        for index, layer in enumerate(quick.layers):
            first, second, third = layer.norms
            q = self._write(index, first(x) if quick.pre else x)
            x = layer.own_output.add(x, back(q, *self._past[2 * index : 2 * index + 2]))
            x = x if quick.pre else first(x)
            q = layer.query(second(x) if quick.pre else x)
            x = layer.output.add(x, across(q, *self._seen[index]))
            x = x if quick.pre else second(x)
            bent = layer.inner(third(x) if quick.pre else x)
            x = layer.outer.add(x, bent if quick.bend is None else quick.bend(bent))
            x = x if quick.pre else third(x)
        self._used += len(words)
        self._length += 1
        return quick.words(quick.last_norm(x))

    def _looks(self, rows: int) -> tuple[Look, Look]:
        """Say what the rows see of their past, the newest words included, and of the source."""
        heads = self._quick.heads
        newest = torch.arange(self._used, self._used + rows)
        self._cells = torch.cat([self._cells, newest[:, None]], 1)
        if self._across is None:
            each = rows // len(self._places)  # all beams of a sentence look at one copy of it
            places, mask = (
                None if table is None else table.repeat_interleave(each, 0)
                for table in (self._places, self._mask)
            )
            assert places is not None
            self._across = Look(places, heads, len(self._seen[0][0]), mask)
        return Look(self._cells, heads, len(self._past[0])), self._across

    def _write(self, index: int, x: Tensor) -> Tensor:
        """Put the newest keys and values into their cells; give the queries."""
        quick, end = self._quick, self._used + len(x)
        h, k, w = quick.heads, quick.d_head, quick.d_value
        keys, values = (past[self._used : end] for past in self._past[2 * index : 2 * index + 2])
        q, keys[:], values[:] = torch.split(quick.layers[index].own(x), [h * k, h * k, h * w], 1)
        return q

    def _make_room(self, rows: int) -> None:
        """Have cells for one more step; where there are none, leave what nobody sees behind."""
        if not self._past:
            quick = self._quick
            widths = [quick.heads * w for w in (quick.d_head, quick.d_value)] * len(quick.layers)
            self._past = [torch.empty(ROOM * rows, width) for width in widths]
            self._cells = torch.empty(rows, 0, dtype=torch.long)
        if self._used + rows <= len(self._past[0]):
            return
        kept, self._cells = torch.unique(self._cells, return_inverse=True)
        self._used = len(kept)
        room = max(ROOM * rows, 2 * len(kept))
        self._past = [_refilled(old, room, kept) for old in self._past]

    def bytes(self) -> int:
        """Memory that the past and the source take now, room for steps to come included."""
        seen = [t for pair in self._seen for t in pair]
        return sum(t.nbytes for t in (*self._past, *seen))

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        """Go on with these rows: no key moves, only the numbers of the cells."""
        if self._past:
            self._cells = self._cells.index_select(0, rows)
        if sources is not None:
            self._places = self._places.index_select(0, sources)
            if self._mask is not None:
                self._mask = self._mask.index_select(0, sources)
            self._across = None


def _refilled(old: Tensor, room: int, cells: Tensor) -> Tensor:
    """Give a pool with room for so many cells, its first ones these of the old."""
    new = old.new_empty(room, old.size(1))
    torch.index_select(old, 0, cells, out=new[: len(cells)])
    return new
