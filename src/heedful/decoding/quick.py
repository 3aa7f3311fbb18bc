"""The decoder's step once more, laid out for speed: what `CachedStepper` computes, in less time.

A step of the ordinary modules spends much of its time on what is not arithmetic: small products
that could be one, heads split and joined, rows of the source repeated for every beam. Here the
weights are laid out once for a whole search: the division by sqrt(d_k) inside the weights, states
without an axis for time, matrices as (in, out) (a product of few rows is up to a fifth faster so)
or in blocks as the processor's own kernels read them (`maps.py`), the vocabulary filled up to a
width at which every row begins where a CPU likes to read, and keys and values in numbered cells,
which never move and are there once for all beams that share them (`cells.py`). A test proves the
logits equal. The encoder is in `reader.py`.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.decoding import cells, maps
from heedful.decoding.cells import Look, Pool
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
        source_keys=Map(keys, keys.new_zeros(keys.size(1))),
        source_values=Map(values, values.new_zeros(values.size(1))),
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
        self._past: list[Pool] = []
        """What was written, a pool a layer."""
        self._cells: Tensor
        """For each row, head and step the number of its cell; also for steps still to come, unless
        rows have just become more."""
        self._own: Tensor
        """The same for rows that were always in the place where they are."""
        keep = memory.keep.flatten(1)  # B S
        self._mask: Tensor | None = None
        states, spread = memory.states.flatten(0, 1), None
        if not keep.all():
            self._mask = torch.zeros(keep.shape).masked_fill_(~keep, -math.inf)
            states = states[keep.flatten()]
            spread = (keep.flatten().cumsum(0) - 1).clamp_(min=0)

        def laid_out(table: Tensor) -> Tensor:
            if spread is not None:  # padding, which is masked, is the word before it again
                table = table.index_select(0, spread)
            return table.view(*keep.shape, quick.heads, -1).transpose(1, 2).contiguous()

        self._source = [
            Pool(laid_out(layer.source_keys(states)), laid_out(layer.source_values(states)))
            for layer in quick.layers
        ]
        sentences = torch.arange(len(keep))[:, None]
        self._seen = self._source[0].numbers(sentences.expand(keep.shape))
        """The cells of each sentence's words."""
        self._across: Look | None = None

    def step(self, words: Tensor) -> Tensor:
        """Give the logits after the newest words."""
        quick, model = self._quick, self._quick.model
        position = model.positions(self._length, 1, model.output_weight)
        x = torch.embedding(model.target_embedding.weight, words)
        x = torch.add(position, x, alpha=math.sqrt(model.settings.d_model))
        back, across = self._looks(words.size(0))
        widths = [quick.heads * w for w in (quick.d_head, quick.d_head, quick.d_value)]
        for layer, past, source in zip(quick.layers, self._past, self._source, strict=True):
            first, second, third = layer.norms
            both = layer.own(first(x) if quick.pre else x)
            q, keys, values = both.split_with_sizes(widths, 1)
            past.write(self._length, keys, values)
            x = layer.own_output.add(x, back(q, past))
            x = x if quick.pre else first(x)
            q = layer.query(second(x) if quick.pre else x)
            x = layer.output.add(x, across(q, source))
            x = x if quick.pre else second(x)
            bent = layer.inner(third(x) if quick.pre else x)
            x = layer.outer.add(x, bent if quick.bend is None else quick.bend(bent))
            x = x if quick.pre else third(x)
        self._length += 1
        return quick.words(quick.last_norm(x))

    def _looks(self, rows: int) -> tuple[Look, Look]:
        """Say what the rows see of their past, the newest words included, and of the source."""
        if not self._past or rows > self._own.size(0) or self._length == self._own.size(2):
            self._make_room(rows)
        if self._across is None:
            each = rows // self._seen.size(0)  # all beams of a sentence look at one copy of it
            seen = self._seen.repeat_interleave(each, 0)
            mask = None if self._mask is None else self._mask.repeat_interleave(each, 0)
            self._across = Look(seen, self._source[0].rows.size(0), mask)
        numbers = self._cells[:, :, : self._length + 1]
        return Look(numbers, self._past[0].rows.size(0)), self._across

    def _make_room(self, rows: int) -> None:
        """Have places for all rows and for more steps; what nobody sees is left behind."""
        quick, room = self._quick, max(ROOM, 2 * self._length)
        if self._past:
            past = self._cells[:, :, : self._length]
            self._past = [pool.kept(past, room) for pool in self._past]
        else:
            sizes = rows, quick.heads, room, quick.d_head, quick.d_value
            self._past = [Pool.empty(*sizes) for _ in quick.layers]
        places = torch.arange(rows)[:, None].expand(rows, room)
        self._own = self._cells = self._past[0].numbers(places)

    def bytes(self) -> int:
        """Memory that the past and the source take now, room for steps to come included."""
        return sum(pool.nbytes for pool in (*self._past, *self._source))

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        """Go on with these rows: no key moves, only the numbers of their places."""
        if self._past:
            self._cells = self._cells[:, :, : self._length].index_select(0, rows)
            if len(rows) <= len(self._own):  # more of them find their places with the next step
                to_come = self._own[: len(rows), :, self._length :]
                self._cells = torch.cat([self._cells, to_come], 2)
        if sources is not None:
            self._seen = self._seen.index_select(0, sources)
            if self._mask is not None:
                self._mask = self._mask.index_select(0, sources)
            self._across = None
