"""The one place where a pass is watched, or changed, while it is computed.

The layers ask for the observer of the thread they run in, and nearly always there is none. What an
observer hands back is what the layers go on with. A thread that is started while somebody observes
has no observer, so a search in other threads is never touched; `carried` gives it one explicitly.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import torch
from torch import Tensor, nn

if TYPE_CHECKING:
    from heedful.nn.attention import Attention
    from heedful.nn.layers import Layer

P = ParamSpec("P")
R = TypeVar("R")


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
def observing(one: Observer | None) -> Iterator[None]:
    """Let somebody, or nobody, observe this thread inside a `with`."""
    token = _observer.set(one)
    try:
        yield
    finally:
        _observer.reset(token)


def carried(work: Callable[P, R]) -> Callable[P, R]:
    """Give work that is observed by whoever observes now, whatever thread it will run in.

    `pool.map(carried(work), batches)`: several threads may then ask the observer at once.
    """
    one = _observer.get()

    def observed(*args: P.args, **kwargs: P.kwargs) -> R:
        with observing(one):
            return work(*args, **kwargs)

    return observed


def passing(module: nn.Module, x: Tensor) -> Tensor:
    """Show a value of a module to the observer, and give what goes on in its place."""
    watching = observer()
    return x if watching is None else watching.value(module, x)
