"""`heedful train`: from text files to a model folder."""

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
from heedful.data.corpus import Corpus, pairs_of
from heedful.data.tokenizer import Tokenizer
from heedful.machine import give_memory_back, keep_memory, workers_for
from heedful.metrics import Score
from heedful.models.folder import WEIGHTS, Folder, card, load_model, state
from heedful.settings import TrainSettings
from heedful.train.checkpoint import States
from heedful.train.page import write_page
from heedful.train.report import Report, SilentReport
from heedful.train.state import Clock, Outcome, State
from heedful.train.world import World, from_lead, joined, share_machine
from heedful.verbs.plan import measured_epoch
from heedful.verbs.prepare import device_of, plan_lines, prepare_text, read
from heedful.verbs.request import (
    FREE,
    LIMITS,
    Request,
    changes,
    clear,
    fingerprints,
    free,
    leaving_nothing_half_made,
    locked,
    make_folder,
    read_request,
    write_request,
)
from heedful.verbs.scoring import score_all

__all__ = ["Request", "Result", "train"]


@dataclass(frozen=True)
class Result:
    """What came of a training."""

    folder: Path
    finished: bool
    scores: dict[str, list[Score]]
    """By the set scored on: "dev", "test"."""
    seconds: float
    step: int
    already: bool = False
    """Nothing was left to do: the folder held the finished model."""


def train(request: Request, report: Report | None = None, started: float | None = None) -> Result:
    """Train a translation model, or go on with one whose training was stopped.

    `started` is when the command began, for `minutes` count from there.
    """
    report = report or SilentReport()
    started = time.time() if started is None else started
    world = World.of_environment()
    if not world.lead:
        report = SilentReport()
    with ExitStack() as held:
        if world.size > 1:
            held.enter_context(joined(world, device_of(request.device)))
        if not world.lead:
            request = replace(request, settings=from_lead(request.settings))
            return _train(_open(request), report, started, world)
        config.resolve(request.settings or {})  # every mistake in the settings, before any work
        if request.device not in ("auto", "cpu"):
            device_of(request.device)
        if not Folder.exists(request.output):
            free(request.output)
        made = held.enter_context(locked(request.output))
        with leaving_nothing_half_made(made):
            begun = _begin(request, report)
        if world.size > 1:
            from_lead(begun.request.settings)
        return _train(begun, report, started, world)


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

    request: Request
    """The request as it is meant: what was not given again is as it was."""
    folder: Folder
    corpus: Corpus
    tokenizer: Tokenizer
    notes: Sequence[str] = ()
    """What differs from the request the training began with, in words."""
    remember: Callable[[], None] = lambda: None
    """Writes the new request to its file; called once a state holds the notes."""


def _open(request: Request) -> _Begun:
    """Open what the lead has prepared, silently: for the other processes."""
    folder = Folder.open(request.output)
    corpus = Corpus.open(request.output / "run" / "data")
    return _Begun(request, folder, corpus, Tokenizer(folder.tokenizer, folder.ids))


def _go_on(request: Request, report: Report) -> _Begun:
    """Open the corpus an earlier start prepared; refuse it if its files have changed."""
    kept = request.output / "run" / "request.json"
    old = read_request(kept)
    begun = _open(request)
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


def _begin(request: Request, report: Report) -> _Begun:
    """Go on with what there is, or prepare the corpus and begin a folder."""
    if Folder.exists(request.output):
        return _go_on(request, report)
    clear(request.output)
    for paths in (request.files, request.dev, request.test):
        read(paths, request)  # a missing file is an error before any work is done
    made = request.output / "run" / "data"
    make_folder(made.parent)
    parent = Folder.open(request.parent) if request.parent else None
    from_parent = [parent.path / name for name in (WEIGHTS, *parent.tokenizer)] if parent else []
    prints = fingerprints([*request.files, *request.dev, *from_parent])
    write_request(request, request.output / "run" / "request.json", prints)
    pieces = Tokenizer(parent.tokenizer, parent.ids) if parent else None
    prepared = prepare_text(request, made, report, pieces)
    settings, corpus, tokenizer = prepared.settings, prepared.corpus, prepared.tokenizer
    from heedful.data.batching import Batches

    # Refuses a sentence that does not fit into a batch.
    Batches(corpus, settings.data.batch_tokens, tokenizer.ids.eos, tokenizer.ids.pad)
    for line in plan_lines(prepared, *measured_epoch(prepared, request)):
        report.note(line)
    files.write_sealed(made / "report.json", json.loads(prepared.findings.to_json()))
    folder = Folder.create(request.output, settings, tokenizer.ids, tokenizer.files)
    return _Begun(request, folder, corpus, tokenizer)


# -- training and scoring ----------------------------------------------------------------------


def _run(begun: _Begun, report: Report, started: float, more: bool, world: World) -> Result:
    """Train, free the memory of the training, and score the model."""
    request = begun.request
    tests = list(pairs_of(read(request.test, request))) if request.test else []
    outcome = _fit(begun, report, started, more, world, len(tests))
    begun.corpus.forget()
    give_memory_back()
    folder = begun.folder
    done = outcome.why != "interrupted"
    if not done or not world.lead:
        return Result(folder.path, done, {}, outcome.seconds, outcome.step)
    report.note(
        f"{outcome.why} after {outcome.step:,} steps, {outcome.epochs:.1f} epochs; "
        f"weights: {outcome.weights}"
    )
    sets = {"dev": begun.corpus.dev, "test": tests}
    chosen = config.chosen(request.settings or {}, "decode.length_penalty")
    folder, scored = score_all(folder, begun.tokenizer, sets, chosen, report, request.threads)
    training = _now(request, folder.settings.train)
    facts = {
        "pairs": len(begun.corpus),
        "dev_pairs": len(begun.corpus.dev),
        "scores": {name: [vars(s) for s in scores] for name, scores in scored.items()},
        "seed": training.seed,
        "minutes": round(outcome.seconds / 60, 1),
        "steps": outcome.step,
        "epochs": round(outcome.epochs, 1),
        "parameters": outcome.parameters,
        "weights": outcome.weights,
    }
    folder.write_card(card(folder.settings, facts))
    limits = {key: getattr(training, key) for key in LIMITS}
    files.write_sealed(
        folder.path / "run" / "done.json",
        {"seconds": outcome.seconds, "step": outcome.step, "limits": limits},
    )
    return Result(folder.path, True, scored, time.time() - started, outcome.step)


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

    from heedful.data.batching import Batch
    from heedful.models.transformer import Transformer
    from heedful.tasks.translation.learning import TranslationLearner
    from heedful.train.budget import Budget
    from heedful.train.events import tensorboard
    from heedful.train.interrupt import interruptible
    from heedful.train.journal import Journal
    from heedful.train.loop import Trainer
    from heedful.train.precision import choose_precision
    from heedful.train.ranks import Parallel, Ranks
    from heedful.train.replicas import Replicas
    from heedful.train.strategy import Strategy

    request, folder = begun.request, begun.folder
    corpus, tokenizer = begun.corpus, begun.tokenizer
    settings, run = folder.settings, folder.path / "run"
    training = _now(request, settings.train)
    give_memory_back()  # of the preparation
    keep_memory()
    device = device_of(request.device)
    if world.size > 1:
        workers = share_machine(world, device)
    else:
        workers = workers_for(settings.data.batch_tokens, device, request.threads)
    torch.manual_seed(training.seed)
    model = Transformer(settings.model, folder.ids).to(device)
    before = States(run / "state").facts()
    if request.parent and request.inherit == "weights" and not before:
        model.load_state_dict(load_model(Folder.open(request.parent)).state_dict())
    learner = TranslationLearner(model, tokenizer, corpus, settings, workers)
    precision = choose_precision(training.precision, device, training.compile)
    if before and not training.compile:
        precision = precision.as_in(before.get("where", ""))
    report.note(
        f"{device}, {precision.told} ({precision.why})"
        + (", layers compiled" if training.compile else "")
    )
    strategy: Strategy[Batch]
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
        saved=lambda now: _saved(begun, now, model.parameters_total),
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
    with suppress(OSError, ValueError, KeyError):  # the page must never stop a training
        write_page(
            run / "report.html",
            run / "log.jsonl",
            folder.path.absolute().name,
            now.to_facts(),
            folder.settings.model_dump(exclude_none=True),
            files.read_sealed(run / "data" / "report.json"),
            parameters,
        )
