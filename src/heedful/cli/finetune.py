"""`finetune`: a model trained on with other text."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.model import end, laid_over, parse_columns
from heedful.cli.options import (
    Columns,
    Dev,
    Encoding,
    Minutes,
    Model,
    Output,
    Recipe,
    Seed,
    Set,
    Test,
    Threads,
)
from heedful.cli.show import make_report

__all__ = ["finetune"]


def finetune(
    model: Model,
    files: Annotated[
        list[Path],
        typer.Argument(help="New text: source and target file (two by two), TSV or JSONL files."),
    ],
    output: Output,
    mix: Annotated[
        list[Path] | None,
        typer.Option(help="Text of the kind it knows, some of which is mixed in: it forgets less."),
    ] = None,
    mix_share: Annotated[
        float, typer.Option(help="Share of old pairs in what it learns from.")
    ] = 0.5,
    old: Annotated[
        list[Path] | None,
        typer.Option(help="Pairs to see what it forgets; its own development set if not given."),
    ] = None,
    dev: Dev = None,
    test: Test = None,
    columns: Columns = None,
    recipe: Recipe = None,
    minutes: Minutes = None,
    seed: Seed = None,
    settings: Set = None,
    encoding: Encoding = "utf-8",
    threads: Threads = 0,
) -> None:
    """Train a model on with other text; run it again to go on after a stop."""
    from heedful.cli.main import process_start
    from heedful.verbs.finetune import finetune as verb
    from heedful.verbs.request import Request

    request = Request(
        files=tuple(files),
        output=output,
        dev=tuple(dev or ()),
        test=tuple(test or ()),
        columns=parse_columns(columns),
        encoding=encoding,
        settings=laid_over(None, recipe, minutes, seed, settings),
        threads=threads,
    )
    report = make_report()
    try:
        found = verb(model, request, mix or (), mix_share, old or (), report, process_start())
    finally:
        report.close()
    end(found.result, output, report)
