"""The command called in this process: another one would import torch anew each time."""

from __future__ import annotations

import contextlib
import io
import itertools
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from heedful.cli.main import run
from heedful.data import grammar

SMALL = [
    *("model.d_model=16", "model.d_ff=24", "model.n_heads=2"),
    *("model.encoder_layers=1", "model.decoder_layers=1"),
]


@dataclass(frozen=True)
class Called:
    code: int
    out: str
    err: str

    @property
    def mistake(self) -> str:
        """The one line that says what was wrong, after what was told of the progress before."""
        told = self.err.splitlines()
        mistakes = [line for line in told if line.startswith("heedful: ")]
        assert len(mistakes) == 1, self.err
        assert told[-1] == mistakes[0], self.err
        return mistakes[0].removeprefix("heedful: ")


@dataclass(frozen=True)
class Trained:
    model: Path
    command: list[object]
    called: Called


@contextlib.contextmanager
def _arguments(*arguments: str) -> Iterator[None]:
    before = sys.argv
    sys.argv = ["heedful", *arguments]
    try:
        yield
    finally:
        sys.argv = before


def call(*arguments: object, given: str | bytes = b"") -> Called:
    """Type a command, and give what came of it."""
    out, err = io.StringIO(), io.StringIO()
    data = given.encode() if isinstance(given, str) else given
    keyboard: Any = SimpleNamespace(buffer=io.BytesIO(data), isatty=lambda: False)
    before, code = sys.stdin, 0
    sys.stdin = keyboard
    try:
        with (
            _arguments(*map(str, arguments)),
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
        ):
            run()
    except SystemExit as end:
        code = int(end.code or 0)
    finally:
        sys.stdin = before
    return Called(code, out.getvalue(), err.getvalue())


def pairs(count: int, to: str = "fr", seed: int = 1) -> list[tuple[str, str]]:
    """Different sentences of the built-in corpus."""
    stream = ((s.en, s.text(to)) for s in grammar.generate(seed))
    seen: set[str] = set()
    return list(
        itertools.islice((p for p in stream if p[0] not in seen and not seen.add(p[0])), count)  # type: ignore[func-returns-value]
    )


def write(path: Path, lines: object) -> Path:
    """Write lines, a text or bytes."""
    if isinstance(lines, bytes):
        path.write_bytes(lines)
    elif isinstance(lines, str):
        path.write_text(lines, encoding="utf-8")
    else:
        path.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")  # type: ignore[attr-defined]
    return path


def two_files(folder: Path, count: int = 40, name: str = "a") -> tuple[Path, Path]:
    """Write a little English and French."""
    both = pairs(count)
    one = write(folder / f"{name}.en", [s for s, _ in both])
    return one, write(folder / f"{name}.fr", [t for _, t in both])


def training(*settings: str, steps: int = 2) -> list[str]:
    """Options that make a training tiny."""
    chosen = [*SMALL, f"train.steps={steps}", *settings]
    return ["--threads", "1", *(part for s in chosen for part in ("--set", s))]


def everything(folder: Path) -> dict[str, bytes | None]:
    """What a folder holds, to see later that nothing has changed."""
    return {str(p): p.read_bytes() if p.is_file() else None for p in sorted(folder.rglob("*"))}
