"""Functions taken out of the interpreter.

Workers are threads, and a step of a search is some hundred calls of torch. Each call gives up the
interpreter and wants it back, and two workers that want it at once wait for each other: with 64
rows a twentieth of the time, with one row a third. `torch.jit.script` makes of a function a program
that torch runs by itself. The arithmetic is the same, to the last bit; a test proves it.

Torch calls it outdated and offers `torch.compile` instead, which needs a compiler on the user's
machine and minutes. Where it is gone, or Python is newer than it knows, or there is no source to
translate (a program frozen into one file), a function runs as it is.
"""

from __future__ import annotations

import functools
import sys
import threading
import warnings
from collections.abc import Callable
from typing import TypeVar

import torch

__all__ = ["can_free", "freed"]

Function = TypeVar("Function", bound=Callable[..., object])
_one_at_a_time = threading.Lock()
"""Warnings are silenced for the whole process, so not by two threads at once."""


def can_free() -> bool:
    """Say whether this torch and this Python can run a function without the interpreter."""
    known = hasattr(torch.jit, "script") and sys.version_info < (3, 14)
    return known and hasattr(torch.ops.mkldnn, "_linear_pointwise")  # which `maps.py` names


def freed(function: Function) -> Function:
    """Give a function that computes the same and leaves the interpreter to others meanwhile.

    It may use torch, plain numbers, lists and named tuples, and functions that do the same.
    """
    if not can_free():
        return function
    with _one_at_a_time:
        found: Function = _scripted(function)
    return found


@functools.lru_cache
def _scripted(function: Function) -> Function:
    """Translate a function, once a process: it takes some hundredths of a second."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        try:
            return torch.jit.script(function)  # type: ignore[no-any-return]
        except OSError:  # there is no source
            return function
