"""The commands every task shares: their options, and which verb does the work.

What a task adds to them, and the commands only one task has, come from the tasks (`main.py`).
"""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from heedful.cli.show import make_report, say
from heedful.cli.training import Data, Finetuned, Planned, Train, finetune, own, plan, train
from heedful.errors import ConfigError
from heedful.settings import Table
from heedful.tasks import registry
from heedful.tasks.contract import Request
from heedful.tasks.options import Decoding, Option, Reading, columns_of


class Checked(Reading, Data):
    """Examine training data: what is wrong with it, where, worst first."""

    dev: tuple[Path, ...] = ()
    """Development data, as the files of the training."""
    test: tuple[Path, ...] = ()
    """Test data."""
    json_: bool = Option(False, "--json")
    """Print the report as JSON."""


def check(options: Any) -> None:
    """Examine data; exit 1 where training on it makes no sense."""
    from heedful.verbs.check import check as verb

    request = Request(
        files=options.files,
        output=Path(),
        task=options.task,
        dev=options.dev,
        test=options.test,
        columns=columns_of(options.columns),
        encoding=options.encoding,
    )
    report = make_report()
    found = verb(request, report)
    report.close()
    typer.echo(found.to_json() if options.json_ else "\n".join(found.lines()))
    if found.wrong:
        sys.exit(1)


class Evaluated(Reading, Decoding):
    """Score a model on data it has not seen; compare two."""

    model: Path = Option(..., argument=True)
    """The model folder."""
    data: tuple[Path, ...] = Option(..., argument=True)
    """What to answer and what is right: files as those of a training."""
    compare: Path | None = None
    """Another model: is the difference significant?"""
    output: Path | None = Option(None, "--output", "-o")
    """Write what the model answers here, a line each."""
    json_: bool = Option(False, "--json")
    """Print one JSON object instead of lines."""


def evaluate(options: Any) -> None:
    """Score a model."""
    from heedful import files
    from heedful.verbs.evaluate import evaluate as verb

    task = registry.of_folder(options.model)
    result = verb(
        options.model,
        *options.data,
        compare=options.compare,
        columns=columns_of(options.columns),
        encoding=options.encoding,
        threads=options.threads,
        engine=options.engine,
        compute=options.compute,
        simple=options.simple,
        note=say,
        **own(task, "evaluate", options),
    )
    if options.output is not None:
        files.write(options.output, "".join(f"{text}\n" for text in result.outputs))
    if options.json_:
        typer.echo(json.dumps(result.facts(), ensure_ascii=False))
    else:
        typer.echo("\n".join(result.lines()))


class Averaged(Table):
    """Average the weights of several models, or of the best checkpoints of one training."""

    models: tuple[Path, ...] = Option(..., argument=True)
    """Models alike but for their weights; or one, for its checkpoints."""
    output: Path = Option(..., "--output", "-o")
    """The model folder to make."""


def average(options: Any) -> None:
    """Average models."""
    from heedful.verbs.average import average as verb

    verb(options.models, options.output)
    make_report().note(f"the model is in {options.output}")


class Described(Table):
    """Show what a model folder holds, or what can be set."""

    model: Path | None = Option(None, argument=True)
    """The model folder."""
    settings: bool = False
    """Explain every setting there is, with its default."""
    task: str | None = None
    """With --settings: those of one task only."""
    json_: bool = Option(False, "--json")
    """Print one JSON object instead of lines."""


def info(options: Any) -> None:
    """Describe a model, or the settings."""
    from heedful.verbs import info as verb

    if options.settings == (options.model is not None):
        raise ConfigError("info: give a model folder, or --settings for what can be set")
    if options.settings:
        there = registry.tasks() if options.task is None else {"": registry.find(options.task)}
        for name, task in there.items():
            heading = [f"# {name}"] if len(there) > 1 else []
            typer.echo("\n".join(heading + verb.settings_lines(task.settings)))
    elif options.json_:
        typer.echo(json.dumps(verb.info(options.model), ensure_ascii=False))
    else:
        typer.echo("\n".join(verb.info_lines(options.model)))


class Explained(Table):
    """See inside: write one page, which works offline, of what every layer and head did."""

    model: Path = Option(..., argument=True)
    """The model folder."""
    text: str = Option(..., argument=True)
    """What to explain, such as a sentence."""
    output: Path = Option(Path("explain.html"), "--output", "-o")
    """A page (.html) or the bare numbers (.json)."""
    layers: str | None = None
    """Only these layers, such as 0,2."""
    heads: str | None = None
    """Only these heads, such as 0,3."""
    decimals: int = 4
    """Places behind the point."""
    positions: int = 50
    """Positions to draw at least, whatever the input's length."""
    values: bool = True
    """With the vectors, or weights alone."""


def explain(options: Any) -> None:
    """Explain an input."""
    from heedful.explain.writer import Extent
    from heedful.verbs.explain import explain as verb

    data = verb(
        options.model,
        options.text,
        options.output,
        Extent(
            _numbers("--layers", options.layers),
            _numbers("--heads", options.heads),
            options.values,
            options.decimals,
            options.positions,
        ),
        **own(registry.of_folder(options.model), "explain", options),
    )
    for line in data["chosen"]["left_out"]:
        say(f"left out: {line}")
    say("  >  ".join(stream["text"] for stream in data["streams"]))
    page = options.output.suffix == ".html"
    say(f"open {options.output} in a browser" if page else f"the trace is in {options.output}")


def _numbers(option: str, text: str | None) -> list[int] | None:
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise ConfigError(f"{option} {text}: expected numbers such as 0,2") from None


class Exported(Table):
    """Write a model so that another tool can load it."""

    model: Path = Option(..., argument=True)
    """The model folder."""
    to: str = Option(..., "--to")
    """The format, such as huggingface, ctranslate2 or onnx."""
    output: Path = Option(..., "--output", "-o")
    """What to make: a new folder."""


def export(options: Any) -> None:
    """Export a model."""
    from heedful.verbs.exchange import export_model

    export_model(options.model, options.to, options.output)
    say(f"{options.model} is now {options.output}, for {options.to}")


class Imported(Table):
    """Make a model folder of a model of another tool, such as one of OPUS-MT."""

    path: Path = Option(..., argument=True)
    """The model, such as a MarianMT or Pegasus folder of Hugging Face."""
    output: Path = Option(..., "--output", "-o")
    """The model folder to make."""


def import_(options: Any) -> None:
    """Import a model."""
    from heedful.verbs.exchange import import_model
    from heedful.verbs.info import info_lines

    folder = import_model(options.path, options.output)
    command = registry.of_folder(folder.path).try_it.format(shlex.quote(str(options.output)))
    say("\n".join([*info_lines(folder.path)[:2], f"try it:\n  {command}"]))


Shared = tuple[type[Table], Callable[[Any], None]]

COMMANDS: dict[str, Shared] = {
    "train": (Train, train),
    "plan": (Planned, plan),
    "evaluate": (Evaluated, evaluate),
    "info": (Described, info),
    "explain": (Explained, explain),
    "finetune": (Finetuned, finetune),
    "average": (Averaged, average),
    "export": (Exported, export),
    "import": (Imported, import_),
    "check": (Checked, check),
}
