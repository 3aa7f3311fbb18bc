"""`heedful check`: the data doctor."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from heedful.data.doctor import Findings, examine
from heedful.data.reading import sources
from heedful.settings import DataSettings

__all__ = ["check"]


def check(
    files: Sequence[Path],
    dev: Sequence[Path] = (),
    test: Sequence[Path] = (),
    columns: tuple[str, str] | None = None,
    encoding: str = "utf-8",
    settings: DataSettings | None = None,
    progress: Callable[[str, int, int], None] | None = None,
) -> Findings:
    """Examine the text a training would read, and say what is wrong with it, worst first."""
    parts = [sources(paths, columns, encoding) if paths else [] for paths in (files, dev, test)]
    return examine(parts[0], settings or DataSettings(), parts[1], parts[2], progress=progress)
