"""What a training says while it runs: to a person, and to the log."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Protocol

__all__ = ["LogFile", "PlainReport", "Report", "SilentReport", "clock"]


def clock(seconds: float) -> str:
    """Write a duration as people say it."""
    whole = max(0, round(seconds))
    if whole >= 3600:
        return f"{whole // 3600} h {whole % 3600 // 60:02d} min"
    return f"{whole // 60}:{whole % 60:02d}"


class Report(Protocol):
    """Where the verbs tell what happens; they never print."""

    def note(self, text: str) -> None:
        """Say one line."""
        ...

    def progress(self, what: str, done: float, total: float, details: str = "") -> None:
        """Show how far something is; called often."""
        ...

    def look(self, record: Mapping[str, Any]) -> None:
        """Show a look at the development set."""
        ...

    def close(self) -> None:
        """Leave the terminal as it was."""
        ...


class SilentReport:
    """Says nothing: the default from Python."""

    def note(self, text: str) -> None:
        """Say nothing."""

    def progress(self, what: str, done: float, total: float, details: str = "") -> None:
        """Show nothing."""

    def look(self, record: Mapping[str, Any]) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Do nothing."""


class PlainReport:
    """Plain lines on standard error, a line of progress every few seconds."""

    def __init__(self, stream: IO[str] | None = None, every: float = 10.0) -> None:
        self._stream = stream or sys.stderr
        self._every = every
        self._shown = 0.0
        self._what = ""

    def note(self, text: str) -> None:
        """Say one line."""
        print(text, file=self._stream, flush=True)

    def progress(self, what: str, done: float, total: float, details: str = "") -> None:
        """Say how far it is, now and then."""
        now = time.monotonic()
        if what == self._what and now - self._shown < self._every and done < total:
            return
        self._shown, self._what = now, what
        share = f"{100 * done / total:3.0f} %" if total else ""
        self.note(f"{what} {share} {details}".rstrip())

    def look(self, record: Mapping[str, Any]) -> None:
        """Say what a look showed, with its samples."""
        for line in look_lines(record):
            self.note(line)

    def close(self) -> None:
        """Nothing to leave."""


def look_lines(record: Mapping[str, Any]) -> list[str]:
    """Put a look at the development set into lines."""
    figures = "  ".join(f"{name} {value:.2f}" for name, value in record["figures"].items())
    lines = [f"step {record['step']}: {figures}{'  (best so far)' if record['best'] else ''}"]
    for sample in record["samples"]:
        lines.append(f"    {sample['given']}")
        lines.append(f"  = {sample['wanted']}")
        lines.append(f"  > {sample['got']}")
    return lines


class LogFile:
    """`log.jsonl`: one JSON object a line, whatever the terminal shows."""

    def __init__(self, path: Path, step: int) -> None:
        """Open for appending; lines after `step`, of a part that is run again, are dropped."""
        lines = []
        if path.exists():
            for line in path.read_text(encoding="utf-8").splitlines():
                try:
                    record = json.loads(line)
                except ValueError:
                    continue  # cut off by a kill
                if record.get("step", 0) <= step:
                    lines.append(line)
            path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
        self._file = path.open("a", encoding="utf-8")

    def write(self, record: Mapping[str, Any]) -> None:
        """Add a record."""
        self._file.write(json.dumps(record, ensure_ascii=False) + "\n")
        self._file.flush()

    def close(self) -> None:
        """Close the file."""
        self._file.close()
