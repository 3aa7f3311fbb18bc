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

from heedful.decoding import maps
from heedful.decoding.maps import Map, Norm
from heedful.decoding.reader import Reader
from heedful.models.transformer import Transformer
from heedful.nn.attention import Attention
from heedful.nn.cache import Memory
from heedful.nn.layers import ACTIVATIONS, DecoderLayer
from heedful.nn.loss import aligned

__all__ = ["Quick", "QuickStepper"]

SHORT = 6
"""Steps up to which sums of products are faster than many tiny matrix products."""


@dataclass(frozen=True)
class _Layer:
    """One decoder layer's weights, as a step wants them."""

    own: Map
    """Queries, keys and values of the self-attention; the division by sqrt(d_k) is in the queries'
    part, here and everywhere."""
    own_output: Map
    query: Map
    """Of the attention to the source."""
    source: Map
    """Keys and values of the source."""
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
    source = maps.keys_and_values(cross)
    return _Layer(
        own=maps.own(layer.attention),
        own_output=maps.output(layer.attention),
        query=Map(*maps.scaled(cross)),
        source=Map(source, source.new_zeros(source.size(1)), many=True),
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
        """Keys and values of every layer in turn."""
        self._cells: Tensor
        """For each step and row, in which row that step was taken: rows with the same number at a
        step have the same keys and values there."""
        h, k = quick.heads, quick.d_head
        self._sources = memory.states.size(0)
        self._mask: Tensor | None = None
        self._seen: list[tuple[Tensor, Tensor]] = []
        states, places = memory.states.flatten(0, 1), None
        keep = memory.keep.flatten()
        if not keep.all():
            self._mask = torch.zeros(memory.keep.shape).masked_fill_(~memory.keep, -math.inf)
            states = states[keep]
            places = (keep.cumsum(0) - 1).clamp_(min=0)
        for layer in quick.layers:
            both = layer.source(states)
            if places is not None:  # padding, which is masked, has the keys of the word before it
                both = both.index_select(0, places)
            both = both.view(*memory.states.shape[:2], -1)  # B S (H K + H W)
            keys, values = both[..., : h * k], both[..., h * k :]
            self._seen.append(
                (
                    keys.view(*keys.shape[:2], h, k).transpose(1, 2).contiguous(),  # B H S K
                    values.view(*values.shape[:2], h, -1).transpose(1, 2).contiguous(),  # B H S W
                )
            )

    def step(self, words: Tensor) -> Tensor:
        """Give the logits after the newest words."""
        quick, model = self._quick, self._quick.model
        position = model.positions(self._length, 1, model.output_weight)
        x = F.embedding(words, model.target_embedding.weight)
        x = x * math.sqrt(model.settings.d_model) + position
        self._make_room(len(words))
        for index, layer in enumerate(quick.layers):
            first, second, third = layer.norms
            seen = self._look_back(index, first(x) if quick.pre else x)
            x = layer.own_output.add(x, seen)
            x = x if quick.pre else first(x)
            found = self._look_across(index, second(x) if quick.pre else x)
            x = layer.output.add(x, found)
            x = x if quick.pre else second(x)
            bent = layer.inner(third(x) if quick.pre else x)
            x = layer.outer.add(x, bent if quick.bend is None else quick.bend(bent))
            x = x if quick.pre else third(x)
        self._cells[self._length] = torch.arange(self._cells.size(1))
        self._length += 1
        return quick.words(quick.last_norm(x))

    def _make_room(self, rows: int) -> None:
        """Have buffers for one more step: time, row, heads x width."""
        if self._past and self._length < self._past[0].size(0):
            return
        self._resize(max(16, 2 * self._length), torch.arange(rows))

    def _resize(self, room: int, rows: Tensor) -> None:
        """Take new buffers with room for so many steps, and have these rows of the old in them."""
        quick, now = self._quick, self._length
        if not self._past:
            widths = [quick.heads * w for w in (quick.d_head, quick.d_value)] * len(quick.layers)
            self._past = [torch.empty(0, len(rows), width) for width in widths]
            self._cells = torch.empty(0, len(rows), dtype=torch.long)
        self._past = [_refilled(old, room, rows, now) for old in self._past]
        self._cells = _refilled(self._cells, room, rows, now)

    def _look_back(self, index: int, x: Tensor) -> Tensor:
        """Attend to what was written, the newest word included."""
        quick, now = self._quick, self._length
        h, k, w = quick.heads, quick.d_head, quick.d_value
        rows, layer = x.size(0), quick.layers[index]
        keys, values = (past[: now + 1, :rows] for past in self._past[2 * index : 2 * index + 2])
        q, keys[now], values[now] = torch.split(layer.own(x), [h * k, h * k, h * w], 1)
        if now == 0:
            return values[0]
        past_keys, past_values = keys.view(-1, rows * h, k), values.view(-1, rows * h, w)
        q = q.reshape(rows * h, k)
        if now < SHORT:
            weights = (past_keys * q).sum(-1, keepdim=True).softmax(0)
            return (weights * past_values).sum(0).view(rows, h * w)
        weights = torch.bmm(q[:, None], past_keys.permute(1, 2, 0)).softmax(-1)
        return torch.bmm(weights, past_values.transpose(0, 1)).view(rows, h * w)

    def _look_across(self, index: int, x: Tensor) -> Tensor:
        """Attend to the source: all beams of a sentence look at one copy of it."""
        quick, sentences = self._quick, self._sources
        keys, values = self._seen[index]
        each = sentences * quick.heads
        q = quick.layers[index].query(x).view(sentences, -1, quick.heads, quick.d_head)
        q = q.transpose(1, 2).reshape(each, -1, quick.d_head)  # (B H) N K
        scores = torch.bmm(q, keys.flatten(0, 1).transpose(1, 2)).view(
            sentences, quick.heads, q.size(1), -1
        )
        if self._mask is not None:
            scores += self._mask
        found = torch.bmm(scores.softmax(-1).flatten(0, 1), values.flatten(0, 1))  # (B H) N W
        found = found.view(sentences, quick.heads, q.size(1), -1)
        return found.transpose(1, 2).reshape(x.size(0), -1)

    def bytes(self) -> int:
        """Memory that the past and the source take now, room for steps to come included."""
        seen = [t for pair in self._seen for t in pair]
        return sum(t.nbytes for t in (*self._past, *seen))

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        """Go on with these rows."""
        self._move(rows)
        if sources is not None:
            self._sources = len(sources)
            self._seen = [
                (_picked(keys, sources), _picked(values, sources)) for keys, values in self._seen
            ]
            if self._mask is not None:
                self._mask = _picked(self._mask, sources)

    def _move(self, rows: Tensor) -> None:
        """Have the past of these rows where they are to be.

        Beams of a sentence mostly differ in their last words: what was common to the row that
        leaves a place and the one that comes there, four fifths of it all, stays.
        """
        if not self._past:
            return
        now, width = self._length, self._past[0].size(1)
        if len(rows) <= width:
            old = self._cells[:now, : len(rows)]
            new = self._cells[:now].index_select(1, rows)
            steps, places = (new != old).nonzero().unbind(1)
            if 3 * len(steps) <= new.numel():
                old.copy_(new)
                goal, origin = steps * width + places, steps * width + rows[places]
                for past in self._past if len(steps) else ():
                    flat = past.flatten(0, 1)
                    flat.index_copy_(0, goal, flat.index_select(0, origin))
                return
        self._resize(self._past[0].size(0), rows)


def _refilled(old: Tensor, room: int, rows: Tensor, steps: int) -> Tensor:
    """Give a buffer with room for so many steps, its first ones those of the old, these rows."""
    new = old.new_empty(room, len(rows), *old.shape[2:])
    torch.index_select(old[:steps], 1, rows, out=new[:steps])
    return new


def _picked(old: Tensor, rows: Tensor) -> Tensor:
    """Give these rows, in the old memory where only few of them move."""
    moved = (rows != torch.arange(len(rows))).nonzero()[:, 0]
    if len(rows) <= len(old) and 2 * len(moved) <= len(rows):
        if len(moved):
            old.index_copy_(0, moved, old.index_select(0, rows[moved]))
        return old[: len(rows)]
    return old.index_select(0, rows)
