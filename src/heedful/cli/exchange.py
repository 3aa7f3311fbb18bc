"""`export`, `import`: models for other tools and from them."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Model, Output
from heedful.cli.show import say

__all__ = ["export", "import_"]


def export(
    model: Model,
    to: Annotated[str, typer.Option(help="huggingface, ctranslate2, argos or onnx.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="What to make: a new folder.")],
) -> None:
    """Write a model so that another tool can load it."""
    from heedful.verbs.exchange import export_model

    export_model(model, to, output)
    say(f"{model} is now {output}, for {to}")


def import_(
    path: Annotated[Path, typer.Argument(help="A MarianMT or Pegasus folder of Hugging Face.")],
    output: Output,
) -> None:
    """Make a model folder of a Hugging Face model, such as one of OPUS-MT."""
    from heedful.verbs.exchange import import_model

    folder = import_model(path, output)
    settings = folder.settings
    say(
        f"{output}: {settings.source} to {settings.target}, {folder.ids.size:,} pieces; try it:\n"
        f'  heedful translate {shlex.quote(str(output))} "..."'
    )
