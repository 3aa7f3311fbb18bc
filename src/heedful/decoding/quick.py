"""The decoder's step once more, laid out for speed: what `CachedStepper` computes, in less time.

A step of the ordinary modules spends much of its time on what is not arithmetic: small products
that could be one, heads split and joined, rows of the source repeated for every beam. Here the
weights are laid out once for a whole search: the division by sqrt(d_k) inside the weights, states
without an axis for time, matrices as (in, out) (a product of few rows is up to a fifth faster so)
or in blocks as the processor's own kernels read them (`maps.py`), the vocabulary filled up to a
width at which every row begins where a CPU likes to read, and keys and values in numbered cells,
which never move and are there once for all beams that share them (`cells.py`). A test proves the
logits equal. The step itself is in `step.py`, the encoder in `reader.py`.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence

import torch
from torch import Tensor

from heedful.decoding import cells, shortlist
from heedful.decoding.cells import Look, Pool, look
from heedful.decoding.first import First
from heedful.decoding.freed import freed
from heedful.decoding.maps import mapped
from heedful.decoding.reader import Reader
from heedful.decoding.search import most_likely
from heedful.decoding.shortlist import Shortlist
from heedful.decoding.step import Decoder, through
from heedful.models.transformer import Transformer
from heedful.nn.attention import Attention
from heedful.nn.cache import Memory

__all__ = ["Quick", "QuickStepper"]

ROOM = 32
"""Steps for which there are cells at first."""


class Quick:
    """A model's decoder, laid out for stepping; made once for a search, used by all its batches."""

    def __init__(self, model: Transformer) -> None:
        self.model = model
        attention: Attention = model.decoder.layers[0].attention  # type: ignore[assignment]
        self.heads, self.d_head, self.d_value = (
            attention.n_heads,
            attention.d_head,
            attention.d_value,
        )
        cells.make_ready()
        self.decoder = Decoder.of(model)
        self.first = First.of(model, model.target_embedding, model.decoder.layers[0])  # type: ignore[arg-type]
        self.through = freed(through)
        # Elsewhere it is never called, and may name operations that are not there.
        self.best = freed(shortlist.best) if shortlist.worth_it() else shortlist.best
        self._reader = Reader(model)

    @staticmethod
    def suits(model: Transformer) -> bool:
        """Say whether a model can be stepped here: float32 on a CPU, dot-product attention."""
        weight = model.output_weight
        on_cpu = weight.device.type == "cpu" and weight.dtype == torch.float32
        return on_cpu and model.settings.attention != "additive" and not model.training

    @functools.cached_property
    def shortlist(self) -> Shortlist:
        """What the best words are found with, where only they are wanted."""
        return Shortlist.of(self.model.output_weight, self.decoder.words.bias)

    def read(self, sources: Sequence[Sequence[int]]) -> Memory:
        """Read what is to be translated."""
        return self._reader.read(sources)

    def begin(self, memory: Memory) -> QuickStepper:
        """Start writing the translations of what was read."""
        return QuickStepper(self, memory)


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
        states, words = memory.states.flatten(0, 1), torch.arange(keep.numel())
        if not keep.all():
            self._mask = torch.zeros(keep.shape).masked_fill_(~keep, -math.inf)
            states = states[keep.flatten()]
            # Padding, which is masked, is the word before it again.
            words = (keep.flatten().cumsum(0) - 1).clamp_(min=0)
        heads = torch.arange(quick.heads)[:, None]
        order = (words.view(len(keep), 1, -1) * quick.heads + heads).flatten()

        def laid_out(table: Tensor) -> Tensor:
            cells = table.view(table.size(0) * quick.heads, -1).index_select(0, order)
            return cells.view(len(keep), quick.heads, keep.size(1), -1)

        self._source = [
            Pool.of(
                laid_out(mapped(states, layer.source_keys)),
                laid_out(mapped(states, layer.source_values)),
            )
            for layer in quick.decoder.layers
        ]
        sentences = torch.arange(len(keep))[:, None]
        self._seen = self._source[0].numbers(sentences.expand(keep.shape))
        """The cells of each sentence's words."""
        self._across: Look | None = None

    def step(self, words: Tensor) -> Tensor:
        """Give the logits after the newest words."""
        return mapped(self._states(words), self._quick.decoder.words)

    def best(self, words: Tensor) -> Tensor:
        """Give the most likely words after the newest."""
        states, found = self._states(words), None
        if states.size(0) >= shortlist.ROWS and shortlist.worth_it():
            found = self._quick.best(states, self._quick.shortlist)
        if found is None:
            return most_likely(mapped(states, self._quick.decoder.words))
        return found

    def _states(self, words: Tensor) -> Tensor:
        """Read the newest words."""
        quick, rows = self._quick, words.size(0)
        if not self._past or rows > self._own.size(0) or self._length == self._own.size(2):
            self._make_room(rows)
        if self._across is None:
            each = rows // self._seen.size(0)  # all beams of a sentence look at one copy of it
            seen = self._seen.repeat_interleave(each, 0)
            mask = None if self._mask is None else self._mask.repeat_interleave(each, 0)
            self._across = look(seen, self._source[0].rows.size(0), mask)
        time, self._length = self._length, self._length + 1
        position = quick.model.positions(time, 1, quick.model.output_weight)
        made = None if quick.first is None else quick.first.at(words, time, 1)
        return quick.through(
            quick.decoder,
            words,
            position,
            made,
            time,
            self._past,
            self._cells[:, :, : time + 1],
            self._source,
            self._across,
        )

    def _make_room(self, rows: int) -> None:
        """Have places for all rows and for more steps; what nobody sees is left behind."""
        quick, room = self._quick, max(ROOM, 2 * self._length)
        if self._past:
            past = self._cells[:, :, : self._length]
            self._past = [pool.kept(past, room) for pool in self._past]
        else:
            sizes = rows, quick.heads, room, quick.d_head, quick.d_value
            self._past = [Pool.empty(*sizes) for _ in quick.decoder.layers]
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
