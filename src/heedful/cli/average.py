"""`average`: one model made of several."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Output
from heedful.cli.show import make_report

__all__ = ["average"]


def average(
    models: Annotated[
        list[Path],
        typer.Argument(help="Models alike but for their weights; or one, for its checkpoints."),
    ],
    output: Output,
) -> None:
    """Average the weights of several models, or of the best checkpoints of one training."""
    from heedful.verbs.average import average as verb

    verb(models, output)
    make_report().note(f"the model is in {output}")
