"""`heedful train`: from data to a model folder, the same for every task."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heedful import config, files
from heedful.data.languages import separate_columns
from heedful.errors import ModelFolderError
from heedful.machine import give_memory_back, keep_memory, workers_for
from heedful.models.folder import WEIGHTS, Folder, load_weights, state
from heedful.settings import TrainSettings
from heedful.tasks import registry
from heedful.tasks.contract import Prepared, Request, Result, Task
from heedful.train.checkpoint import States
from heedful.train.page import write_page
from heedful.train.precision import device_of
from heedful.train.report import Report
from heedful.train.state import Clock, Outcome, State
from heedful.train.world import World, from_lead, joined, share_machine
from heedful.verbs.ending import end
from heedful.verbs.plan import foreseen, measured_epoch, plan_lines
from heedful.verbs.request import (
    FREE,
    LIMITS,
    changes,
    clear,
    fingerprints,
    free,
    leaving_nothing_half_made,
    locked,
    read_request,
    same_request,
    write_request,
)

__all__ = ["Request", "Result", "task_of_request", "train"]


def train(request: Request, report: Report | None = None, started: float | None = None) -> Result:
    """Train a model, or go on with one whose training was stopped.

    `started` is when the command began, for `minutes` count from there.
    """
    report = report or Report()
    started = time.time() if started is None else started
    world = World.of_environment()
    if not world.lead:
        report = Report()
    task = task_of_request(request, report)
    with ExitStack() as held:
        if world.size > 1:
            held.enter_context(joined(world, device_of(request.device)))
        if not world.lead:
            request = request.but(settings=from_lead(request.settings))
            return _train(_open(task, request), report, started, world)
        # Every mistake in the settings and options, before any work.
        config.resolve(request.settings or {}, task.settings)
        if (options := task.options.get("train")) is not None:
            request.options(options)
        if request.device not in ("auto", "cpu"):
            device_of(request.device)
        if not Folder.exists(request.output):
            free(request.output)
        made = held.enter_context(locked(request.output))
        with leaving_nothing_half_made(made):
            begun = _begin(task, request, report)
        if world.size > 1:
            from_lead(begun.request.settings)
        return _train(begun, report, started, world)


def task_of_request(request: Request, report: Report) -> Task:
    """Find the task of a request: that of the folder it goes on with, or of its data."""
    if Folder.exists(request.output):
        task = registry.of_folder(request.output)
        if request.task not in (None, task.name):
            raise ModelFolderError(
                f"{request.output} holds a model for the task {task.name}, not {request.task}; "
                f"choose another folder with -o"
            )
        return task
    task, why = registry.recognise(request.files, request.columns, request.task)
    if why and len(registry.tasks()) > 1:
        report.note(f"{task.name}: {why} (--task says otherwise)")
    return task


def _train(begun: _Begun, report: Report, started: float, world: World) -> Result:
    request = begun.request
    done = begun.folder.path / "run" / "done.json"
    facts = files.read_sealed(done) if done.exists() else None
    if facts is not None and not _more(request, facts["limits"]):
        return Result(request.output, True, {}, facts["seconds"], facts["step"], already=True)
    if facts is None and (States(done.parent / "state").facts() or {}).get("finished"):
        report.note(f"{done} is missing: scoring again")
    return _run(begun, report, started, facts is not None, world)


def _more(request: Request, had: Mapping[str, float | None]) -> bool:
    """Whether the request sets a later end than the finished run had."""
    asked = (request.settings or {}).get("train", {})
    return any(asked.get(key, 0) > (had.get(key) or math.inf) for key in LIMITS)


# -- before the first step -------------------------------------------------------------------


@dataclass(frozen=True)
class _Begun:
    """What a training needs before its first step."""

    task: Task
    request: Request
    """The request as it is meant: what was not given again is as it was."""
    folder: Folder[Any]
    prepared: Prepared
    notes: Sequence[str] = ()
    """What differs from the request the training began with, in words."""
    remember: Callable[[], None] = lambda: None
    """Writes the new request to its file; called once a state holds the notes."""


def _open(task: Task, request: Request) -> _Begun:
    """Open what the lead has prepared, silently: for the other processes."""
    folder = Folder.open(request.output, task.settings)
    return _Begun(task, request, folder, task.reopen(folder, request.output / "run" / "data"))


def _go_on(task: Task, request: Request, report: Report) -> _Begun:
    """Open what an earlier start prepared; refuse it if its files have changed."""
    kept = request.output / "run" / "request.json"
    old = read_request(kept)
    begun = _open(task, request)
    meant, notes = changes(request, old, begun.folder.settings)
    files.read_sealed(request.output / "run" / "data" / "report.json")
    report.note(f"going on with the training in {request.output}")
    for note in notes:
        report.note(note)
    return replace(
        begun,
        request=meant,
        notes=notes,
        remember=lambda: write_request(meant, kept, old["fingerprints"]),
    )


def _begin(task: Task, request: Request, report: Report) -> _Begun:
    """Go on with what there is, or prepare the data and begin a folder."""
    if Folder.exists(request.output):
        return _go_on(task, request, report)
    made, kept = request.output / "run" / "data", request.output / "run" / "request.json"
    prints = _prints(request)
    if not same_request(request, kept, prints):  # else a preparation was killed, and goes on
        clear(request.output)
        files.make_folder(made.parent)
        write_request(request, kept, prints)
    prepared = task.prepare(request, made, report)
    if request.test:  # what is wrong with it is told before the first step
        task.rows(request.test, request.columns, request.encoding)
    for line in plan_lines(task, prepared, measured_epoch(task, prepared, request)):
        report.note(line)
    findings = prepared.findings.to_json() if prepared.findings else "{}"
    files.write_sealed(made / "report.json", json.loads(findings))
    folder = Folder.create(request.output, prepared.settings, prepared.tables, prepared.files)
    return _Begun(task, request, folder, prepared)


def _prints(request: Request) -> dict[str, Any]:
    """Remember what the files were, and those of the model this one comes from."""
    inherited: list[Path] = []
    if request.parent:
        parent = Folder.open(request.parent, registry.of_folder(request.parent).settings)
        inherited = [parent.path / name for name in (WEIGHTS, *parent.tokenizer)]
    there = [p for p in (*request.files, *request.dev) if separate_columns(p)[0].exists()]
    return fingerprints([*there, *inherited])  # the task says best what is wrong with the others


# -- training and scoring ----------------------------------------------------------------------


def _run(begun: _Begun, report: Report, started: float, more: bool, world: World) -> Result:
    """Train, free the memory of the training, and score the model."""
    request, task = begun.request, begun.task
    tests = task.rows(request.test, request.columns, request.encoding) if request.test else []
    outcome = _fit(begun, report, started, more, world, len(tests))
    give_memory_back()
    folder = begun.folder
    done = outcome.why != "interrupted"
    if not done or not world.lead:
        return Result(folder.path, done, {}, outcome.seconds, outcome.step)
    report.note(
        f"{outcome.why} after {outcome.step:,} steps, {outcome.epochs:.1f} epochs; "
        f"weights: {outcome.weights}"
    )
    training = _now(request, folder.settings.train)
    facts = {
        **begun.prepared.counts,
        "seed": training.seed,
        "minutes": round(outcome.seconds / 60, 1),
        "steps": outcome.step,
        "epochs": round(outcome.epochs, 1),
        "parameters": outcome.parameters,
        "weights": outcome.weights,
    }
    ended = end(task, folder, begun.prepared, tests, request, facts, report)
    last = States(folder.path / "run" / "state").facts()
    if last is not None:
        _draw(Folder.open(folder.path, task.settings), last, outcome.parameters, ended.facts)
    limits = {key: getattr(training, key) for key in LIMITS}
    files.write_sealed(
        folder.path / "run" / "done.json",
        {"seconds": outcome.seconds, "step": outcome.step, "limits": limits, **ended.facts},
    )
    seconds = time.time() - started
    return Result(folder.path, True, ended.scores, seconds, outcome.step, verdict=ended.verdict)


def _now(request: Request, settings: TrainSettings) -> TrainSettings:
    """Give the settings a training began with, changed where a change is allowed and asked for."""
    asked = (request.settings or {}).get("train", {})
    free = {name.removeprefix("train.") for name in FREE} & set(asked)
    update: dict[str, Any] = {key: asked[key] for key in free if asked[key] is not None}
    if set(update) & set(LIMITS):
        update |= {key: update.get(key) for key in LIMITS}
    return settings.model_copy(update=update)


def _fit(
    begun: _Begun, report: Report, started: float, more: bool, world: World, tests: int
) -> Outcome:
    """Train the model; give how it ended."""
    import torch

    from heedful.train.budget import Budget
    from heedful.train.events import tensorboard
    from heedful.train.interrupt import interruptible
    from heedful.train.journal import Journal
    from heedful.train.loop import Trainer
    from heedful.train.precision import choose_precision
    from heedful.train.ranks import Parallel, Ranks
    from heedful.train.replicas import Replicas
    from heedful.train.strategy import Strategy

    request, folder, task = begun.request, begun.folder, begun.task
    run = folder.path / "run"
    training = _now(request, folder.settings.train)
    give_memory_back()  # of the preparation
    keep_memory()
    device = device_of(request.device)
    if world.size > 1:
        workers = share_machine(world, device)
    else:
        workers = workers_for(
            int(foreseen(task, begun.prepared, 1).units_per_batch), device, request.threads
        )
    torch.manual_seed(training.seed)
    model = task.build(folder.settings, folder.tables).to(device)
    before = States(run / "state").facts()
    if request.parent and request.inherit == "weights" and not before:
        load_weights(model, Folder.open(request.parent, task.settings))
    learner = task.learner(model, begun.prepared, workers, tests)
    precision = choose_precision(training.precision, device, training.compile)
    if before and not training.compile:
        precision = precision.as_in(before.get("where", ""))
    report.note(
        f"{device}, {precision.told} ({precision.why})"
        + (", layers compiled" if training.compile else "")
    )
    strategy: Strategy[Any]
    if world.size > 1:
        how: Parallel = "fsdp" if request.parallel == "fsdp" else "ddp"
        strategy = Ranks(learner, training, how, precision)
        report.note(f"{world.size} processes share every batch ({request.parallel})")
    else:
        strategy = Replicas(learner, training, workers, precision)
    budget = Budget(
        training,
        peak=training.lr or learner.peak,
        clock=Clock(training.minutes, started),
        reserve=lambda seconds: learner.ending(seconds, tests),
        evaluation_seconds=learner.evaluation_seconds,
    )
    journal = Journal(
        run,
        report,
        where=f"{world.size} x {workers} workers, {device}, {precision.told}",
        listen=tensorboard(run / "tensorboard") if request.tensorboard else None,
        saved=lambda now: _saved(begun, now, sum(p.numel() for p in model.parameters())),
        lead=world.lead,
    )
    trainer = Trainer(
        learner,
        training,
        strategy,
        budget,
        journal,
        keep=lambda: folder.write_weights(state(model)),
        more=more,
        notes=begun.notes,
    )
    with interruptible(trainer):
        return trainer.train()


def _saved(begun: _Begun, now: State, parameters: int) -> None:
    """Draw the report page; a finished run that goes on is not finished any more."""
    folder, run = begun.folder, begun.folder.path / "run"
    if not now.finished:
        (run / "done.json").unlink(missing_ok=True)
    if begun.notes:
        begun.remember()
    _draw(folder, now.to_facts(), parameters, {})


def _draw(
    folder: Folder[Any], state: Mapping[str, Any], parameters: int, ended: Mapping[str, Any]
) -> None:
    """Draw the report page, at the end with the verdict and with what was chosen after training."""
    run = folder.path / "run"
    with suppress(OSError, ValueError, KeyError):  # the page must never stop a training
        write_page(
            run / "report.html",
            run / "log.jsonl",
            folder.path.absolute().name,
            state,
            folder.settings.model_dump(exclude_none=True),
            files.read_sealed(run / "data" / "report.json"),
            parameters,
            ended.get("verdict"),
        )
