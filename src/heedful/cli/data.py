"""`check` and `demo`: the commands about text."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Columns, Dev, Encoding, Files, Threads
from heedful.cli.show import make_report

__all__ = ["check", "demo"]


def check(
    files: Files,
    dev: Dev = None,
    test: Annotated[
        list[Path] | None, typer.Option(help="Test text: two files, or a TSV or JSONL.")
    ] = None,
    columns: Columns = None,
    encoding: Encoding = "utf-8",
    as_json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Examine training text: what is wrong with it, where, worst first."""
    from heedful.cli.model import parse_columns
    from heedful.verbs.check import check as verb

    report = make_report()
    found = verb(
        files, dev or (), test or (), parse_columns(columns), encoding, progress=report.progress
    )
    report.close()
    if as_json:
        typer.echo(found.to_json())
    else:
        for line in found.lines():
            typer.echo(line)
    if any(problem.severity == "error" for problem in found.problems):
        sys.exit(1)


def demo(
    to: Annotated[str, typer.Option(help="fr or ko.")] = "fr",
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The model folder to make.")
    ] = Path("demo"),
    minutes: Annotated[float, typer.Option(help="Time for the whole demo.")] = 4.8,
    seed: Annotated[int, typer.Option(help="Everything random follows from it.")] = 1,
    threads: Threads = 0,
) -> None:
    """Train on the built-in corpus, translate what everybody knows, show the attention."""
    from heedful.cli.main import process_start
    from heedful.verbs.demo import demo as verb

    report = make_report()
    try:
        verb(to, output, minutes, seed, threads, report, process_start())
    finally:
        report.close()
