"""Translated files, kept in memory for a limited time under names nobody can guess."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass

from heedful.serve.errors import RequestError, invalid


@dataclass(frozen=True)
class _Kept:
    data: bytes
    since: float


class Downloads:
    """Keeps files until they are too old or too many; a name is never looked up on a disk."""

    def __init__(
        self, count: int, size: int, age: float, clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._count, self._size, self._age, self._clock = count, size, age, clock
        self._kept: dict[str, _Kept] = {}

    def put(self, data: bytes, ending: str) -> str:
        """Keep a file and give its download name; the oldest are dropped to make room."""
        if len(data) > self._size:
            raise invalid(f"translated file ({len(data)} bytes) exceeds limit ({self._size} bytes)")
        self._forget_old()
        while self._kept and (
            len(self._kept) >= self._count
            or sum(len(kept.data) for kept in self._kept.values()) + len(data) > self._size
        ):
            del self._kept[next(iter(self._kept))]
        name = secrets.token_urlsafe(24) + ending
        self._kept[name] = _Kept(data, self._clock())
        return name

    def get(self, name: str) -> bytes:
        """Give a file by its name, while it is kept."""
        self._forget_old()
        kept = self._kept.get(name)
        if kept is None:
            raise RequestError(404, "Invalid filename")
        return kept.data

    def _forget_old(self) -> None:
        oldest = self._clock() - self._age
        for name in [name for name, kept in self._kept.items() if kept.since < oldest]:
            del self._kept[name]
