"""Fitting the process to the machine: threads, and a Ctrl-C that saves."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

import torch

__all__ = ["decoding_workers", "interruptible", "workers_for"]


def workers_for(batch_tokens: int, device: str, threads: int = 0) -> int:
    """Say how many workers share a batch: one a core, as long as each has enough to do.

    The cores that are left over split the operations of each worker among them.
    """
    if device != "cpu":
        return 1
    cores = threads or os.cpu_count() or 1
    workers = max(1, min(cores, batch_tokens // 512))
    torch.set_num_threads(max(1, cores // workers))
    return workers


def decoding_workers(threads: int = 0) -> int:
    """Give decoding a worker a core, each with one thread: faster than one with all of them."""
    cores = threads or os.cpu_count() or 1
    torch.set_num_threads(1)
    return cores


class Interruptible(Protocol):
    """Something that looks now and then whether it should stop."""

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
