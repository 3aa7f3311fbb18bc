"""What decoding remembers, so that a new word costs one step and not the whole sentence again.

A cache is an argument that travels with a search, never the state of a module: two searches
can run on one model at once, and a row can leave the batch by selecting the others.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import torch
from torch import Tensor

from heedful.nn.shapes import BHSK, BHSW, B, Keep

__all__ = ["DecoderCache", "Growing", "LayerCache", "Memory"]


class Growing:
    """Keys or values of the words so far, in a buffer that doubles when it is full.

    Appending with `torch.cat` would copy the whole past at every step.
    """

    def __init__(self) -> None:
        self.buffer: Tensor | None = None
        self.length = 0

    def append(self, new: Tensor) -> Tensor:
        """Add the newest steps on axis 2 and give everything so far."""
        end = self.length + new.size(2)
        if self.buffer is None or end > self.buffer.size(2):
            rows, heads, _, width = new.shape
            larger = new.new_empty(rows, heads, max(16, 2 * end), width)
            if self.buffer is not None:
                larger[:, :, : self.length] = self.buffer[:, :, : self.length]
            self.buffer = larger
        self.buffer[:, :, self.length : end] = new
        self.length = end
        return self.buffer[:, :, :end]

    def select(self, rows: Tensor) -> None:
        """Keep these rows, in this order, repeated where they are named twice."""
        if self.buffer is not None:
            picked = self.buffer[:, :, : self.length].index_select(0, rows)
            capacity = self.buffer.size(2)
            self.buffer = picked.new_empty(*picked.shape[:2], capacity, picked.size(3))
            self.buffer[:, :, : self.length] = picked


@dataclass
class LayerCache:
    """What one decoder layer remembers: its own past, and the source seen through its eyes."""

    keys: Growing = field(default_factory=Growing)
    values: Growing = field(default_factory=Growing)
    memory: tuple[BHSK, BHSW] | None = None
    """Keys and values of the encoder's output: computed once a sentence, at the first step."""


@dataclass
class Memory:
    """What the encoder hands to the decoder."""

    states: Tensor
    lengths: B
    keep: Keep

    @classmethod
    def joined(cls, parts: Sequence[Memory]) -> Memory:
        """Put sentences that were read in several goes under each other, padded with zeros."""
        if len(parts) == 1:
            return parts[0]
        longest = max(part.keep.size(-1) for part in parts)

        def wide(table: Tensor, axis: int) -> Tensor:
            shape = list(table.shape)
            shape[axis] = longest - shape[axis]
            return torch.cat([table, table.new_zeros(shape)], axis)

        return cls(
            torch.cat([wide(part.states, 1) for part in parts]),
            torch.cat([part.lengths for part in parts]),
            torch.cat([wide(part.keep, -1) for part in parts]),
        )

    def select(self, rows: Tensor) -> Memory:
        """Keep these rows, in this order."""
        return Memory(
            self.states.index_select(0, rows),
            self.lengths.index_select(0, rows),
            self.keep.index_select(0, rows),
        )


class DecoderCache:
    """The caches of all decoder layers, and how many words they hold."""

    def __init__(self, n_layers: int) -> None:
        self.layers = [LayerCache() for _ in range(n_layers)]

    @property
    def length(self) -> int:
        """Words decoded so far."""
        return self.layers[0].keys.length

    def select(self, rows: Tensor, same_source: bool = False) -> None:
        """Keep these rows of the past, in this order.

        With `same_source` each row is replaced by one that reads the same sentence (a beam
        reordered within itself), so the source's keys and values need not move.
        """
        for layer in self.layers:
            layer.keys.select(rows)
            layer.values.select(rows)
            if layer.memory is not None and not same_source:
                keys, values = layer.memory
                layer.memory = (keys.index_select(0, rows), values.index_select(0, rows))

    def bytes(self) -> int:
        """Memory the cache takes now."""
        held: list[torch.Tensor] = []
        for layer in self.layers:
            held += [b for b in (layer.keys.buffer, layer.values.buffer) if b is not None]
            held += list(layer.memory or ())
        return sum(t.numel() * t.element_size() for t in held)
