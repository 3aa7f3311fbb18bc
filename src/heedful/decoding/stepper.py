"""The Transformer as a search sees it."""

from __future__ import annotations

import torch
from torch import Tensor

from heedful.models.transformer import Transformer
from heedful.nn.cache import Memory


class CachedStepper:
    """Each step costs one word: the past is in the cache, the source was read once."""

    def __init__(self, model: Transformer, memory: Memory) -> None:
        self._model, self._memory, self._cache = model, memory, model.cache()
        self._device = memory.states.device

    def step(self, words: Tensor) -> Tensor:
        """Give the logits after the newest words."""
        return self._model.step(words.to(self._device), self._memory, self._cache).cpu()

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        """Go on with these rows."""
        if sources is not None:
            sources = sources.to(self._device)
            # The states themselves are needed no more: every layer has its keys and values.
            keep = self._memory.keep.index_select(0, sources)
            self._memory = Memory(self._memory.states[:0], keep)
        self._cache.select(rows.to(self._device), sources)

    def bytes(self) -> int:
        """Memory of the cache."""
        return self._cache.bytes()


class PlainStepper:
    """Reads everything written so far anew at each step: what the cache must agree with."""

    def __init__(self, model: Transformer, memory: Memory) -> None:
        self._model, self._memory = model, memory
        self._written = torch.empty(memory.states.size(0), 0, dtype=torch.long)

    def step(self, words: Tensor) -> Tensor:
        """Give the logits after the newest words."""
        self._written = torch.cat([self._written, words[:, None]], dim=1)
        return self._model.logits(self._model.decode(self._written, self._memory)[:, -1:])[:, 0]

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        """Go on with these rows."""
        self._written = self._written.index_select(0, rows)
        self._memory = self._memory.select(rows)
