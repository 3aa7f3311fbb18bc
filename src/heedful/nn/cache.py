"""What decoding remembers, so that a new word costs one step and not the whole sentence again.

A cache is an argument that travels with a search, never the state of a module: two searches
can run on one model at once, and a row can leave the batch by selecting the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.nn.shapes import BHSK, BHSW, Keep


class Growing:
    """Keys or values of the words so far, in a buffer that doubles when it is full.

    Appending with `torch.cat` would copy the whole past at every step. Time is the first axis of
    the buffer, so that what is written so far lies together: T B H K.
    """

    def __init__(self) -> None:
        self.buffer: Tensor | None = None
        self.length = 0
        self._spare: Tensor | None = None

    def append(self, new: BHSK) -> BHSK:
        """Add the newest steps and give everything so far."""
        end = self.length + new.size(2)
        rows, heads, _, width = new.shape
        if self.buffer is None or end > self.buffer.size(0):
            larger = new.new_empty(max(16, 2 * end), rows, heads, width)
            if self.buffer is not None:
                larger[: self.length] = self.buffer[: self.length]
            self.buffer, self._spare = larger, None
        self.buffer[self.length : end] = new.permute(2, 0, 1, 3)
        self.length = end
        return self.buffer[:end].permute(1, 2, 0, 3)

    def select(self, rows: Tensor) -> None:
        """Keep these rows, in this order, repeated where they are named twice."""
        if self.buffer is None:
            return
        capacity, _, heads, width = self.buffer.shape
        spare = self._spare
        if spare is None or spare.size(1) != len(rows):
            spare = self.buffer.new_empty(capacity, len(rows), heads, width)
        past = slice(self.length)
        torch.index_select(self.buffer[past], 1, rows, out=spare[past])
        # A spare of another number of rows would only be held: the next selection needs its own.
        same = self.buffer.size(1) == len(rows)
        self.buffer, self._spare = spare, self.buffer if same else None

    @property
    def bytes(self) -> int:
        """Memory of the buffer and of the one that takes turns with it."""
        return sum(table.nbytes for table in (self.buffer, self._spare) if table is not None)


@dataclass
class LayerCache:
    """What one decoder layer remembers: its own past, and its keys and values of the source."""

    keys: Growing = field(default_factory=Growing)
    values: Growing = field(default_factory=Growing)
    memory: tuple[BHSK, BHSW] | None = None
    """Keys and values of the encoder's output, a row a sentence: made once, at the first step."""


@dataclass
class Memory:
    """What the encoder hands to the decoder."""

    states: Tensor
    keep: Keep

    @classmethod
    def joined(cls, parts: Sequence[Memory]) -> Memory:
        """Put sentences that were read in several goes under each other, padded with zeros."""
        if len(parts) == 1:
            return parts[0]
        longest = max(part.keep.size(-1) for part in parts)
        missing = [longest - part.keep.size(-1) for part in parts]
        return cls(
            torch.cat([F.pad(p.states, (0, 0, 0, m)) for p, m in zip(parts, missing, strict=True)]),
            torch.cat([F.pad(p.keep, (0, m)) for p, m in zip(parts, missing, strict=True)]),
        )

    def select(self, rows: Tensor) -> Memory:
        """Keep these rows, in this order."""
        return Memory(self.states.index_select(0, rows), self.keep.index_select(0, rows))


class DecoderCache:
    """The caches of all decoder layers, and how many words they hold."""

    def __init__(self, n_layers: int) -> None:
        self.layers = [LayerCache() for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """Words decoded so far."""
        return self.layers[0].keys.length

    def select(self, rows: Tensor, sources: Tensor | None = None) -> None:
        """Keep these rows of the past, in this order, and these sources, where any have gone."""
        for layer in self.layers:
            layer.keys.select(rows)
            layer.values.select(rows)
            if layer.memory is not None and sources is not None:
                keys, values = layer.memory
                layer.memory = keys.index_select(0, sources), values.index_select(0, sources)

    def bytes(self) -> int:
        """Memory the cache takes now."""
        past = sum(layer.keys.bytes + layer.values.bytes for layer in self.layers)
        return past + sum(t.nbytes for layer in self.layers for t in layer.memory or ())
