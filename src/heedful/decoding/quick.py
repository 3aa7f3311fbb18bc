"""The decoder's step once more, laid out for speed: what `CachedStepper` computes, in less time.

A step of the ordinary modules spends much of its time on what is not arithmetic: small products
that could be one, heads split and joined, rows of the source repeated for every beam. Here the
weights are laid out once for a whole search: the division by sqrt(d_k) inside the weights, states
without an axis for time, the past with time first (so that keys and values are computed right where
they stay, and reordering beams copies each number once), matrices as (in, out) (a product of few
rows is up to a fifth faster so), the vocabulary filled up to a width at which every row begins
where a CPU likes to read, and one copy of a sentence's keys and values for all its beams.

Keys and values need no bias. That of the keys adds the same number to all scores of a query, which
the softmax does not see; that of the values comes out of every average as it went in, and is
part of the output's here. A test proves the logits equal.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.models.transformer import Transformer
from heedful.nn.attention import Attention
from heedful.nn.cache import Memory
from heedful.nn.layers import ACTIVATIONS, DecoderLayer
from heedful.nn.loss import aligned

__all__ = ["Quick", "QuickStepper"]

SHORT = 6
"""Steps up to which sums of products are faster than many tiny matrix products."""
Linear = tuple[Tensor, Tensor]
"""A matrix, (in, out), and its bias."""


@dataclass(frozen=True)
class _Layer:
    """One decoder layer's weights, as a step wants them."""

    own_query: Linear
    """Of the self-attention; every query's map has the division by sqrt(d_k) in it."""
    own_key: Tensor
    own_value: Tensor
    own_output: Linear
    query: Linear
    """Of the attention to the source."""
    source: Tensor
    """Keys and values of the source."""
    output: Linear
    inner: Linear
    outer: Linear
    norms: tuple[nn.LayerNorm, nn.LayerNorm, nn.LayerNorm]


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
        self.bend = ACTIVATIONS[model.settings.activation]
        self.words = _words(model)
        self.biased = model.output_bias is not None

    def logits(self, x: Tensor) -> Tensor:
        """Compare each state with every word, as the model does, and with what fills them up."""
        if self.biased:
            return _apply(x, self.words)
        found = x @ self.words[0]
        found[:, self.model.ids.size :] = -math.inf
        found[:, self.model.ids.pad] = -math.inf
        return found

    @staticmethod
    def suits(model: Transformer) -> bool:
        """Say whether a model can be stepped here: float32 on a CPU, dot-product attention."""
        weight = model.output_weight
        on_cpu = weight.device.type == "cpu" and weight.dtype == torch.float32
        return on_cpu and model.settings.attention != "additive" and not model.training

    def begin(self, memory: Memory) -> QuickStepper:
        """Start writing the translations of what was read."""
        return QuickStepper(self, memory)


def _laid_out(layer: DecoderLayer) -> _Layer:
    own, cross = layer.attention, layer.cross
    return _Layer(
        own_query=_scaled(own),
        own_key=_matrix(own.key),
        own_value=_matrix(own.value),
        own_output=_output(own),
        query=_scaled(cross),
        source=torch.cat([_matrix(cross.key), _matrix(cross.value)], dim=1),
        output=_output(cross),
        inner=_linear(layer.feed_forward.inner),
        outer=_linear(layer.feed_forward.outer),
        norms=(layer.attention_norm, layer.cross_norm, layer.feed_forward_norm),
    )


def _words(model: Transformer) -> Linear:
    """Lay out the vocabulary, filled up with words that can no more be predicted than padding.

    With 4,001 words instead of 4,032 a product of 256 rows takes half as long again.
    """
    weight, bias, size = model.output_weight.detach(), model.output_bias, model.ids.size
    wide = aligned(size)
    words, shift = weight.new_zeros(weight.size(1), wide), weight.new_full((wide,), -math.inf)
    words[:, :size] = weight.t()
    shift[:size] = 0 if bias is None else bias.detach()
    shift[model.ids.pad] = -math.inf
    return words, shift


def _matrix(linear: nn.Linear) -> Tensor:
    return linear.weight.detach().t().contiguous()


def _linear(linear: nn.Linear) -> Linear:
    return _matrix(linear), linear.bias.detach()


def _apply(x: Tensor, linear: Linear) -> Tensor:
    return torch.addmm(linear[1], x, linear[0])


def _add(x: Tensor, change: Tensor, linear: Linear) -> Tensor:
    """Add a map of the change to x, in x's own memory: it is nobody else's."""
    return x.add_(linear[1]).addmm_(change, linear[0])


def _scaled(attention: Attention) -> Linear:
    weight, bias = _linear(attention.query)
    return weight * attention.scale, bias * attention.scale


def _output(attention: Attention) -> Linear:
    weight, bias = _linear(attention.output)
    return weight, bias + attention.value.bias.detach() @ weight


class QuickStepper:
    """Each step costs one word, and little else."""

    def __init__(self, quick: Quick, memory: Memory) -> None:
        self._quick = quick
        self._length = 0
        self._past: list[tuple[Tensor, Tensor]] = []
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
            both = states @ layer.source
            if places is not None:  # padding, which is masked, has the keys of the word before it
                both = both.index_select(0, places)
            both = both.view(*memory.states.shape[:2], -1)  # B S (H K + H W)
            keys, values = both[..., : h * k], both[..., h * k :]
            self._seen.append(
                (
                    keys.view(*keys.shape[:2], h, k).permute(0, 2, 3, 1).contiguous(),  # B H K S
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
            x = _add(x, seen, layer.own_output)
            x = x if quick.pre else first(x)
            found = self._look_across(index, second(x) if quick.pre else x)
            x = _add(x, found, layer.output)
            x = x if quick.pre else second(x)
            bent = quick.bend(_apply(third(x) if quick.pre else x, layer.inner))
            x = _add(x, bent, layer.outer)
            x = x if quick.pre else third(x)
        self._length += 1
        return quick.logits(model.decoder.norm(x))

    def _make_room(self, rows: int) -> None:
        """Have buffers for one more step: time, row, heads x width."""
        if self._past and self._length < self._past[0][0].size(0):
            return
        quick, room = self._quick, max(16, 2 * self._length)
        larger = []
        for index in range(len(quick.layers)):
            pair = []
            for side, width in enumerate((quick.d_head, quick.d_value)):
                new = torch.empty(room, rows, quick.heads * width)
                if self._past:
                    new[: self._length] = self._past[index][side][: self._length]
                pair.append(new)
            larger.append((pair[0], pair[1]))
        self._past = larger

    def _look_back(self, index: int, x: Tensor) -> Tensor:
        """Attend to what was written, the newest word included."""
        quick, now = self._quick, self._length
        h, k, w = quick.heads, quick.d_head, quick.d_value
        rows, layer = x.size(0), quick.layers[index]
        keys, values = self._past[index]
        torch.mm(x, layer.own_key, out=keys[now])
        torch.mm(x, layer.own_value, out=values[now])
        if now == 0:
            return values[0]
        past_keys = keys[: now + 1].view(now + 1, rows * h, k)
        past_values = values[: now + 1].view(now + 1, rows * h, w)
        q = _apply(x, layer.own_query).view(rows * h, k)
        if now < SHORT:
            weights = (past_keys * q).sum(-1, keepdim=True).softmax(0)
            return (weights * past_values).sum(0).view(rows, h * w)
        weights = torch.bmm(q[:, None], past_keys.permute(1, 2, 0)).softmax(-1)
        return torch.bmm(weights, past_values.transpose(0, 1)).view(rows, h * w)

    def _look_across(self, index: int, x: Tensor) -> Tensor:
        """Attend to the source: all beams of a sentence look at one copy of it."""
        quick, sentences = self._quick, self._sources
        keys, values = self._seen[index]
        q = _apply(x, quick.layers[index].query)
        q = q.view(sentences, -1, quick.heads, quick.d_head).transpose(1, 2)  # B H N K
        scores = q @ keys  # B H N S
        if self._mask is not None:
            scores += self._mask
        found = scores.softmax(-1) @ values  # B H N W
        return found.transpose(1, 2).reshape(x.size(0), -1)

    def bytes(self) -> int:
        """Memory that the past and the source take now, room for steps to come included."""
        return sum(t.nbytes for pair in (*self._past, *self._seen) for t in pair)

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        """Go on with these rows."""
        now = self._length
        self._past = [
            (_picked(keys, 1, rows, now), _picked(values, 1, rows, now))
            for keys, values in self._past
        ]
        if sources is not None:
            self._sources = len(sources)
            self._seen = [
                (_picked(keys, 0, sources), _picked(values, 0, sources))
                for keys, values in self._seen
            ]
            if self._mask is not None:
                self._mask = _picked(self._mask, 0, sources)


def _picked(old: Tensor, axis: int, rows: Tensor, steps: int | None = None) -> Tensor:
    """Give these rows of an axis, in the old memory where only few of them move.

    `steps` are how many of the first axis hold anything.
    """
    moved = (rows != torch.arange(len(rows))).nonzero()[:, 0]
    full = old if steps is None else old[:steps]
    if len(rows) <= old.size(axis) and 2 * len(moved) <= len(rows):
        if len(moved):
            full.index_copy_(axis, moved, full.index_select(axis, rows[moved]))
        return old.narrow(axis, 0, len(rows))
    shape = list(old.shape)
    shape[axis] = len(rows)
    new = old.new_empty(shape)
    torch.index_select(full, axis, rows, out=new if steps is None else new[:steps])
    return new
