"""A Ctrl-C that saves."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from heedful.train.loop import Trainer


@contextmanager
def interruptible(trainer: Trainer[Any]) -> Iterator[None]:
    """Let Ctrl-C or SIGTERM end the training after its step; a second one ends it at once."""
    if threading.current_thread() is not threading.main_thread():
        yield
        return

    def stop(number: int, frame: Any) -> None:
        if trainer.interrupted and number == signal.SIGINT:
            raise KeyboardInterrupt  # torchrun repeats SIGTERM, a person presses Ctrl-C twice
        trainer.interrupted = True

    before = {s: signal.signal(s, stop) for s in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
