"""`finetune`, `distill`, `backtranslate`, `average`: what becomes of a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.model import end, laid_over, parse_columns
from heedful.cli.options import (
    Columns,
    Dev,
    Encoding,
    Model,
    Output,
    Recipe,
    Seed,
    Set,
    Test,
    Threads,
)
from heedful.cli.show import make_report

__all__ = ["add_to", "average", "backtranslate", "distill", "finetune"]


def add_to(app: typer.Typer) -> None:
    """Register the commands."""
    for command in (finetune, distill, backtranslate, average):
        app.command()(command)


Minutes = Annotated[
    float | None, typer.Option(help="Time for the whole command, scoring included.")
]


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
    from heedful.verbs.life import finetune as verb
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
    from heedful.verbs.life import distill as verb
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
    from heedful.verbs.synthesise import backtranslate as verb

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


def average(
    models: Annotated[
        list[Path],
        typer.Argument(help="Models alike but for their weights; or one, for its moments."),
    ],
    output: Output,
) -> None:
    """Average the weights of several models, or of the best moments of one training."""
    from heedful.verbs.life import average as verb

    verb(models, output)
    make_report().note(f"the model is in {output}")
