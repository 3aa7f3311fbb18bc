"""`heedful translate`: a stream of lines through a model folder."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.settings import SamplingSettings
from heedful.tasks.translation.using import (
    LINES_AT_ONCE,
    EngineName,
    Note,
    Translation,
    Translator,
    logger,
)

if TYPE_CHECKING:
    from heedful.interchange.ctranslate2 import Compute

__all__ = ["translate"]


def translate(
    model: Path,
    lines: Iterable[str],
    changes: Mapping[str, Any] | None = None,
    n_best: int = 1,
    sampling: SamplingSettings | None = None,
    prefix: str = "",
    threads: int = 0,
    at_once: int = LINES_AT_ONCE,
    engine: EngineName = "auto",
    compute: Compute = "float32",
    note: Note = logger.info,
    scored: bool = True,
) -> Iterator[Translation]:
    """Translate lines as they come; `changes` are decoding settings other than the model's."""
    translator = Translator.load(model, workers=threads, engine=engine, compute=compute, note=note)
    decode = translator.decoding(**(changes or {}))
    return translator.lines(lines, decode, n_best, sampling, prefix, at_once, scored)
