"""`distill`: a small model taught by a large one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.model import end, laid_over
from heedful.cli.options import (
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

__all__ = ["distill"]


def distill(
    teacher: Model,
    text: Annotated[Path, typer.Argument(help="Text in its source language, a sentence a line.")],
    output: Output,
    dev: Dev = None,
    test: Test = None,
    preset: Annotated[
        str | None,
        typer.Option(help="The student's size; half as wide as the teacher if not given."),
    ] = None,
    recipe: Recipe = None,
    minutes: Minutes = None,
    seed: Seed = None,
    settings: Set = None,
    encoding: Encoding = "utf-8",
    threads: Threads = 0,
) -> None:
    """Teach a smaller, faster model what a larger one says."""
    from heedful.cli.main import process_start
    from heedful.verbs.distill import distill as verb
    from heedful.verbs.request import Request

    request = Request(
        files=(),
        output=output,
        dev=tuple(dev or ()),
        test=tuple(test or ()),
        encoding=encoding,
        settings=laid_over(preset, recipe, minutes, seed, settings),
        threads=threads,
    )
    report = make_report()
    try:
        found = verb(teacher, text, request, report, process_start())
    finally:
        report.close()
    end(found.result, output, report)
