"""What a training says while it runs: to a person, and to the log."""

from __future__ import annotations

import hashlib
import json
import os
import sys
import time
import zlib
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

from heedful import files


def clock(seconds: float) -> str:
    """Write a duration as people say it."""
    whole = max(0, round(seconds))
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60}:{whole % 60:02d}"


class Report:
    """Where the verbs tell what happens; they never print. This one says nothing.

    It is the default from Python, and the base of those that speak.
    """

    def note(self, text: str) -> None:
        """Say one line."""

    def progress(self, what: str, done: float, total: float, details: str = "") -> None:
        """Show how far something is; called often."""

    def evaluated(self, record: Mapping[str, Any]) -> None:
        """Show what an evaluation found."""

    def close(self) -> None:
        """Leave the terminal as it was."""


class PlainReport(Report):
    """Plain lines on standard error, a line of progress every few seconds."""

    def __init__(self, every: float = 10.0) -> None:
        self._every = every
        self._shown = 0.0
        self._what = ""

    def note(self, text: str) -> None:
        """Say one line."""
        print(text, file=sys.stderr, flush=True)

    def progress(self, what: str, done: float, total: float, details: str = "") -> None:
        """Say how far it is, now and then."""
        now = time.monotonic()
        if what == self._what and now - self._shown < self._every and done < total:
            return
        self._shown, self._what = now, what
        share = f"{100 * done / total:3.0f} %" if total else ""
        self.note(f"{what} {share} {details}".rstrip())

    def evaluated(self, record: Mapping[str, Any]) -> None:
        """Say what an evaluation found, with its samples."""
        for line in evaluation_lines(record):
            self.note(line)


def evaluation_lines(record: Mapping[str, Any]) -> list[str]:
    """Put an evaluation into lines."""
    figures = "  ".join(f"{name} {value:.2f}" for name, value in record["figures"].items())
    lines = [f"step {record['step']}: {figures}{'  (best so far)' if record['best'] else ''}"]
    for sample in record["samples"]:
        lines.append(f"    {sample['given']}")
        lines.append(f"  = {sample['wanted']}")
        lines.append(f"  > {sample['got']}")
    return lines


class LogFile:
    """`log.jsonl`: one JSON object a line, whatever the terminal shows.

    A state of the run remembers how many bytes the log had, and their sha256. A run that goes on
    cuts the log there, so no line is there twice and none is missing.
    """

    def __init__(
        self,
        path: Path,
        size: int = 0,
        digest: str = "",
        listen: Callable[[Mapping[str, Any]], None] | None = None,
    ) -> None:
        """Open for appending after the first `size` bytes, which have to have that sha256.

        `listen` hears every record that is written.
        """
        self._path, self._listen = path, listen
        data = path.read_bytes() if path.exists() else b""
        kept = data[:size]
        self.tail: Sequence[dict[str, Any]] = _records(data[size:])
        """What was written after the state: of a part that will be run again."""
        self.damaged = bool(digest) and hashlib.sha256(kept).hexdigest() != digest
        if self.damaged:
            path.touch()
            path.replace(path.with_name("log.damaged.jsonl"))
            kept = b"".join(line + b"\n" for line in kept.split(b"\n") if _records(line))
            files.write(path, kept)
        path.touch()
        self._file = path.open("r+b")
        self.cut(len(kept))

    def write(self, record: Mapping[str, Any]) -> None:
        """Add a record, with a checksum: a run that goes on believes only what is whole."""
        record = {**record, "crc": _checksum(record)}
        self._append((json.dumps(record, ensure_ascii=False) + "\n").encode())
        if self._listen is not None:
            self._listen(record)

    def _append(self, data: bytes) -> None:
        try:
            self._file.write(data)
            self._file.flush()
        except OSError as error:
            raise files.not_written(self._path, error, len(data)) from error
        self._digest.update(data)
        self._size += len(data)

    def mark(self) -> tuple[int, str]:
        """Force the log to the disk, and give its size and sha256 for a state to remember."""
        try:
            os.fsync(self._file.fileno())
        except OSError as error:
            raise files.not_written(self._path, error) from error
        return self._size, self._digest.hexdigest()

    def cut(self, size: int) -> None:
        """Forget what was written after so many bytes."""
        self._file.truncate(size)
        self._file.seek(size)
        self._size = size
        self._digest = hashlib.sha256(self._path.read_bytes())

    def close(self) -> None:
        """Close the file."""
        self._file.close()


def _records(data: bytes) -> list[dict[str, Any]]:
    """Take lines of JSON apart; what a kill cut off, or a disk spoilt, is left out."""
    found = []
    for line in data.splitlines():
        with suppress(ValueError):
            record = json.loads(line)
            if isinstance(record, dict) and record.pop("crc", None) == _checksum(record):
                found.append(record)
    return found


def _checksum(record: Mapping[str, Any]) -> int:
    return zlib.crc32(json.dumps(record, ensure_ascii=False).encode())
