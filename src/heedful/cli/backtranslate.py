"""`backtranslate`: training pairs made by a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Encoding, Threads
from heedful.cli.show import make_report

__all__ = ["backtranslate"]


def backtranslate(
    model: Annotated[Path, typer.Argument(help="A model that translates the other way.")],
    text: Annotated[Path, typer.Argument(help="Text in the target language, a sentence a line.")],
    output: Annotated[Path, typer.Option("--output", "-o", help="The TSV of pairs to write.")],
    beam: Annotated[int | None, typer.Option(min=1, help="Hypotheses kept; 1 is greedy.")] = None,
    sample: Annotated[
        bool,
        typer.Option("--sample", help="Draw words: more varied text, often better to learn from."),
    ] = False,
    seed: Annotated[int, typer.Option(help="Of sampling.")] = 1,
    encoding: Encoding = "utf-8",
    threads: Threads = 0,
) -> None:
    """Make training pairs from text in the target language alone."""
    from heedful.settings import SamplingSettings
    from heedful.verbs.backtranslate import backtranslate as verb

    sampling = SamplingSettings(seed=seed) if sample else None
    changes = {} if beam is None else {"beam": beam}
    report = make_report()
    try:
        count = verb(model, text, output, changes, sampling, encoding, threads, report)
    finally:
        report.close()
    report.note(
        f"{count:,} pairs are in {output}; train with them beside real ones:\n"
        f"  heedful train real.src real.tgt {output}:1,2 -o model"
    )
