"""`heedful backtranslate`: training pairs from text in the target language alone."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from heedful.machine import decoding_workers
from heedful.settings import SamplingSettings
from heedful.tasks.translation.pairs import translate_to_pairs
from heedful.tasks.translation.using import Translator
from heedful.train.report import Report
from heedful.train.world import in_one_process

__all__ = ["backtranslate"]


def backtranslate(
    model: Path,
    text: Path,
    output: Path,
    changes: Mapping[str, Any] | None = None,
    sampling: SamplingSettings | None = None,
    encoding: str = "utf-8",
    threads: int = 0,
    report: Report | None = None,
) -> int:
    """Make training pairs for a model from text in its target language alone.

    `model` translates the other way, from that language back: its text becomes the source, and what
    people wrote stays the target. Give the result to `heedful train` beside real pairs.
    """
    in_one_process("backtranslate")
    translator = Translator.load(model, workers=decoding_workers(threads), engine="torch")
    return translate_to_pairs(translator, text, output, True, changes, sampling, encoding, report)
