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
from heedful.errors import ConfigError
from heedful.settings import Table
from heedful.tasks import registry
from heedful.tasks.contract import Request, Result, Task
from heedful.tasks.options import Decoding, Making, Option, Reading, columns_of, laid_over
from heedful.train.report import Report

__all__ = ["COMMANDS", "Shared", "ended"]


class Data(Table):
    """What says which task data is for."""

    files: tuple[Path, ...] = Option(..., argument=True)
    """The data: files or a folder, such as two files of aligned lines, or a TSV; .gz too."""
    task: str | None = None
    """What to learn; recognised from the data if not given."""

    def task_of(self, columns: str | None) -> Task:
        """Find the task."""
        return registry.recognise(self.files, columns_of(columns), self.task)[0]


class Train(Making, Data):
    """Train a model on your own data; run it again to go on after a stop."""

    preset: str | None = None
    """A size, such as tiny, small, base or big; chosen from the data if not given."""
    device: str = "auto"
    """auto, cpu, cuda or mps."""
    parallel: str = "ddp"
    """Under torchrun: ddp, or fsdp to spread the model too."""
    compile: bool = False
    """Fuse each layer with torch.compile."""
    tensorboard: bool = False
    """Also write events for TensorBoard."""


def train(options: Any) -> None:
    """Train, and say what to type next."""
    from heedful.cli.main import process_start
    from heedful.models.folder import Folder
    from heedful.verbs.train import train as verb

    for name, choices in (
        ("device", ("auto", "cpu", "cuda", "mps")),
        ("parallel", ("ddp", "fsdp")),
    ):
        if getattr(options, name) not in choices:
            expected = f"{', '.join(choices[:-1])} or {choices[-1]}"
            raise ConfigError(f"--{name} {getattr(options, name)}: expected {expected}")
    started = process_start()
    if Folder.exists(options.output) and options.task is None:
        task = registry.of_folder(options.output)
    else:
        task = options.task_of(options.columns)
    more = {name: getattr(options, name) for name in ("device", "parallel", "tensorboard")}
    request = options.request(
        task, options.files, preset=options.preset, **more, **own(task, "train", options)
    )
    request = request.but(task=options.task)
    if options.compile:
        compiled = {**(request.settings or {}).get("train", {}), "compile": True}
        request = request.but(settings={**(request.settings or {}), "train": compiled})
    report = make_report()
    try:
        result = verb(request, report, started)
    finally:
        report.close()
    ended(result, report)


def own(task: Task, command: str, options: Table) -> dict[str, Any]:
    """Give the options of a task that were given; those of other tasks are refused."""
    mine = set(task.options.get(command, Table).model_fields)
    every = {
        name
        for other in registry.tasks().values()
        for name in other.options.get(command, Table).model_fields
    }
    given = {name: getattr(options, name) for name in every}
    given = {name: value for name, value in given.items() if value is not None}
    if wrong := sorted(set(given) - mine):
        flag = f"--{wrong[0].replace('_', '-')}"
        raise ConfigError(f"{flag} is no option of the task {task.name}; leave it out")
    return given


def ended(result: Result, report: Report) -> None:
    """Say how a training ended, and what to type next."""
    if result.already:
        report.note(f"{result.folder} is finished: {result.step:,} steps; nothing to do")
    elif result.finished:
        task = registry.of_folder(result.folder)
        command = task.try_it.format(shlex.quote(str(result.folder)))
        report.note(f"the model is in {result.folder}; try it:\n  {command}")
    else:
        report.note(
            f"stopped at step {result.step:,}; everything is saved, go on with:\n"
            f"  {' '.join(map(shlex.quote, ['heedful', *sys.argv[1:]]))}"
        )
        raise typer.Exit(130)


class Planned(Reading, Data):
    """Say what a training will take: parameters, arithmetic, memory, time."""

    dev: tuple[Path, ...] = ()
    """Development data, as the files of the training."""
    preset: str | None = None
    """A size, such as tiny, small, base or big."""
    recipe: Path | None = None
    """A TOML file of settings, laid over the preset."""
    minutes: float | None = None
    """Time for the whole training."""
    settings: tuple[str, ...] = Option((), "--set")
    """One setting, such as train.steps=200."""
    threads: int = Option(0, ge=0)
    """CPU threads; 0 takes all."""
    devices: int | None = Option(None, ge=1)
    """Plan for so many devices ..."""
    tflops: float = Option(9.5, ge=1e-6)
    """... of so many TFLOP/s each ..."""
    efficiency: float = Option(0.3, ge=1e-6, le=1)
    """... of which a training reaches this share."""


def plan(options: Any) -> None:
    """Plan a training."""
    from heedful.verbs.plan import Hardware
    from heedful.verbs.plan import plan as verb

    task = options.task_of(options.columns)
    hardware = None
    if options.devices is not None:
        hardware = Hardware(options.devices, options.tflops, options.efficiency)
    flags = (options.preset, options.recipe, options.minutes, None, options.settings)
    request = Request(
        files=options.files,
        output=Path(),
        task=task.name,
        dev=options.dev,
        columns=columns_of(options.columns),
        encoding=options.encoding,
        settings=laid_over(task, *flags),
        threads=options.threads,
        **own(task, "plan", options),
    )
    report = make_report()
    try:
        lines = verb(request, hardware, report)
    finally:
        report.close()
    typer.echo("\n".join(lines))


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


class Finetuned(Making):
    """Train a model on with other data; run it again to go on after a stop."""

    model: Path = Option(..., argument=True)
    """The model folder."""
    files: tuple[Path, ...] = Option(..., argument=True)
    """New data, as the files of a training."""
    old: tuple[Path, ...] = ()
    """Data to see what it forgets; its own development set if not given."""


def finetune(options: Any) -> None:
    """Fine-tune a model."""
    from heedful.cli.main import process_start
    from heedful.verbs.finetune import finetune as verb

    task = registry.of_folder(options.model)
    request, report = options.request(task, options.files), make_report()
    chosen = own(task, "finetune", options)
    try:
        found = verb(options.model, request, options.old, report, process_start(), **chosen)
    finally:
        report.close()
    ended(found.result, report)


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
