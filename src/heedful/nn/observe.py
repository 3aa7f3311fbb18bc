"""The one place where a pass is watched, or changed, while it is computed.

The layers ask for the observer of the thread they run in, and nearly always there is none. What an
observer hands back is what the layers go on with. A thread that is started while somebody observes
has no observer: it is to be given one explicitly, so a search in other threads is never touched.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from heedful.nn.attention import Attention
    from heedful.nn.layers import Layer

__all__ = ["Observer", "observer", "observing", "passing"]


class Observer:
    """Sees everything and changes nothing: what a subclass does not say stays as it is."""

    def value(self, module: nn.Module, x: Tensor) -> Tensor:
        """See an embedding, a layer's result or what the inner map of a feed-forward gives."""
        return x

    def heads(
        self, module: Attention, q: Tensor, k: Tensor, v: Tensor, keep: Tensor | None
    ) -> Tensor:
        """See what every head compares; give what each brings back."""
        return module.mixed(q, k, v, keep)

    def change(self, module: Layer, before: Tensor, change: Tensor, norm: nn.LayerNorm) -> Tensor:
        """See what a sublayer adds to the residual, and the norm that belongs to it."""
        return change


_observer: ContextVar[Observer | None] = ContextVar("heedful_observer", default=None)


def observer() -> Observer | None:
    """Give who observes this thread; nobody while a graph is compiled or exported."""
    return None if torch.compiler.is_compiling() else _observer.get()


@contextmanager
def observing(one: Observer) -> Iterator[None]:
    """Let somebody observe this thread inside a `with`."""
    token = _observer.set(one)
    try:
        yield
    finally:
        _observer.reset(token)


def passing(module: nn.Module, x: Tensor) -> Tensor:
    """Show a value of a module to the observer, and give what goes on in its place."""
    watching = observer()
    return x if watching is None else watching.value(module, x)
