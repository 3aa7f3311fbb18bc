"""`heedful explain`: what happens inside a model when it translates, as a page or as data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from heedful import files
from heedful.errors import ConfigError, DataError
from heedful.explain.document import as_page
from heedful.tasks.translation.using import Translator

__all__ = ["explain"]


def explain(
    model: Path,
    text: str,
    output: Path,
    translation: str | None = None,
    layers: Sequence[int] | None = None,
    heads: Sequence[int] | None = None,
    decimals: int = 4,
    values: bool = True,
    positions: int = 50,
) -> dict[str, Any]:
    """Write the trace of a sentence: a page that works offline, or JSON if the name says so."""
    if output.suffix not in (".html", ".json"):
        raise ConfigError(f"{output}: expected a name that ends in .html or .json")
    if not text.strip():
        raise DataError("there is no text to explain; give a sentence")
    translator = Translator.load(model, engine="torch", workers=1)
    data = translator.trace(text, translation, layers, heads, decimals, values, positions)
    if output.suffix == ".json":
        files.write(output, json.dumps(data, ensure_ascii=False) + "\n")
    else:
        files.write(output, as_page(data, f"{data['streams'][0]['text']} · Heedful"))
    return data
