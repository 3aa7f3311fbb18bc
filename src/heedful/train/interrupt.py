"""A Ctrl-C that saves."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

__all__ = ["interruptible"]


class Interruptible(Protocol):
    """Something that asks now and then whether it should stop."""

    interrupted: bool


@contextmanager
def interruptible(work: Interruptible) -> Iterator[None]:
    """Let Ctrl-C or SIGTERM end the work after the current step; a second one ends it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        if work.interrupted and number == signal.SIGINT:
            raise KeyboardInterrupt  # torchrun repeats SIGTERM, a person presses Ctrl-C twice
        work.interrupted = True

    before = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
