"""The commands that train: `train`, `plan` and `finetune`, for every task."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import Any

import typer

from heedful.cli.generate import flags_of
from heedful.cli.show import make_report
from heedful.errors import ConfigError
from heedful.settings import Table
from heedful.tasks import registry
from heedful.tasks.contract import Request, Result, Task
from heedful.tasks.options import Fitting, Making, Option, columns_of, laid_over
from heedful.train.report import Report


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
        flag = flags_of(wrong[0], type(options).model_fields[wrong[0]])[0]
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


class Planned(Fitting, Data):
    """Say what a training will take: parameters, arithmetic, memory, time."""

    preset: str | None = None
    """A size, such as tiny, small, base or big."""
    devices: int | None = Option(None, ge=1)
    """Plan for another machine too, of so many devices."""
    tflops: float = Option(9.5, ge=1e-6)
    """Peak of each of them, in 10^12 operations a second."""
    efficiency: float = Option(0.3, ge=1e-6, le=1)
    """Share of that which a training reaches."""


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
