"""`heedful train`: from text files to a model folder."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from heedful import config, metrics
from heedful.data import doctor
from heedful.data.corpus import Corpus, pairs_of, prepare
from heedful.data.languages import check_language, guess_languages
from heedful.data.reading import Source, sources
from heedful.data.tokenizer import Tokenizer
from heedful.errors import ConfigError
from heedful.metrics import Score
from heedful.models.folder import Folder, card, load_model, state
from heedful.settings import Settings
from heedful.train import plan
from heedful.train.report import Report, SilentReport, clock
from heedful.verbs.request import (
    LIMITS,
    Request,
    free,
    leaving_nothing_half_made,
    make_folder,
    same_request,
)

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
    with leaving_nothing_half_made(request.output):
        folder, corpus, tokenizer = _begin(request, report)
    done = folder.path / "run" / "done.json"
    facts = json.loads(done.read_text(encoding="utf-8")) if done.exists() else None
    if facts is not None and not _more(request, facts.get("limits", {})):
        return Result(folder.path, True, {}, facts["seconds"], facts["step"], already=True)
    return _run(request, folder, corpus, tokenizer, report, started, more=facts is not None)


def _more(request: Request, had: Mapping[str, float | None]) -> bool:
    """Whether a later end is asked for than the finished run had."""
    asked = (request.settings or {}).get("train", {})
    return any(asked.get(key, 0) > (had.get(key) or math.inf) for key in LIMITS)


# -- before the first step -------------------------------------------------------------------


def _begin(request: Request, report: Report) -> tuple[Folder, Corpus, Tokenizer]:
    """Find the prepared corpus of an earlier start, or prepare it."""
    kept = request.output / "run" / "request.json"
    config.resolve(request.settings or {})  # every mistake in the settings, before any work
    if request.device not in ("auto", "cpu"):
        _device(request.device)
    if Folder.exists(request.output):
        same_request(request, kept)
        folder = Folder.open(request.output)
        corpus = Corpus.open(request.output / "run" / "data")
        report.note(f"going on with the training in {request.output}")
        return folder, corpus, Tokenizer(folder.tokenizer)
    free(request.output)
    raw = dict(request.settings or {})
    guessed = guess_languages(request.files, request.columns)
    given = [
        check_language(code) if code else guess
        for code, guess in zip((request.source, request.target), guessed, strict=True)
    ]
    raw = config.merge({"source": given[0], "target": given[1]}, raw)
    settings = config.resolve(raw)
    if "und" in given:
        report.note(
            f"languages: {given[0]} to {given[1]} (not told by the file names; "
            f"--from and --to name them)"
        )
    else:
        report.note(f"languages: {given[0]} to {given[1]}")

    def read(paths: Sequence[Path]) -> list[Source]:
        return sources(paths, request.columns, request.encoding) if paths else []

    training, dev, test = read(request.files), read(request.dev), read(request.test)
    health = doctor.examine(training, settings.data, dev, test, progress=_progress(report))
    health.raise_errors()
    for line in health.lines():
        report.note(line)
    raw = plan.choose_vocabulary(raw, health.kept)
    settings = config.resolve(raw)
    made = request.output / "run" / "data"
    make_folder(made)
    kept.write_text(json.dumps(request.key(), ensure_ascii=False), encoding="utf-8")
    corpus, tokenizer = prepare(
        training, health.keep, settings, made, dev, progress=_progress(report)
    )
    if corpus.too_long:
        report.note(
            f"{corpus.too_long} pairs have more than {settings.data.max_length} pieces on a side "
            f"and are left out"
        )
    settings = _plan(request, raw, corpus, tokenizer, report)
    from heedful.data.batching import Batches

    Batches(corpus, settings.data.batch_tokens, tokenizer.ids.eos, tokenizer.ids.pad)  # all fit
    (made / "report.json").write_text(health.to_json(), encoding="utf-8")
    folder = Folder.create(request.output, settings, tokenizer.ids, tokenizer.model)
    return folder, corpus, tokenizer


def _progress(report: Report) -> Callable[[str, int, int], None]:
    return lambda what, done, total: report.progress(what, done, total)


def _plan(
    request: Request, raw: dict[str, Any], corpus: Corpus, tokenizer: Tokenizer, report: Report
) -> Settings:
    lengths = corpus.source.lengths()
    facts = plan.Facts(
        pairs=len(corpus),
        source_tokens=int(lengths.sum()) + len(corpus),
        target_tokens=int(corpus.target.lengths().sum()) + len(corpus),
        longest=int(np.quantile(lengths, 0.999)),
        vocabulary=tokenizer.ids.size,
    )
    rate = plan.machine_rate()
    minutes = raw.get("train", {}).get("minutes")
    settings = plan.choose_model(raw, facts, minutes, rate, fast=_device(request.device) != "cpu")
    foreseen = plan.estimate(settings.model, facts, rate)
    m = settings.model
    report.note(
        f"{len(corpus):,} pairs to learn from, {len(corpus.dev):,} to check on; "
        f"{tokenizer.ids.size:,} pieces"
    )
    report.note(
        f"model: {m.encoder_layers} + {m.decoder_layers} layers, d_model {m.d_model}, "
        f"d_ff {m.d_ff}, {m.n_heads} heads, {foreseen.parameters / 1e6:.1f} M parameters, "
        f"dropout {m.dropout}"
    )
    epochs = settings.train.epochs
    if settings.train.minutes:
        report.note(
            f"about {clock(foreseen.seconds_per_epoch)} an epoch here; "
            f"{settings.train.minutes:g} minutes in all"
        )
    elif epochs:
        report.note(
            f"about {clock(foreseen.seconds_per_epoch)} an epoch here, at most {epochs:g} epochs: "
            f"{clock(foreseen.seconds_per_epoch * epochs)}"
        )
    return settings


# -- training and scoring ----------------------------------------------------------------------


def _device(name: str) -> str:
    import torch

    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    found = [device for device, is_there in there.items() if is_there]
    if name != "auto" and name not in found:
        raise ConfigError(
            f"--device {name} is not on this machine; expected auto or {' or '.join(found)}"
        )
    return found[0] if name == "auto" else name


def _run(
    request: Request,
    folder: Folder,
    corpus: Corpus,
    tokenizer: Tokenizer,
    report: Report,
    started: float,
    more: bool,
) -> Result:
    import torch

    from heedful.data.batching import Batch
    from heedful.models.transformer import Transformer
    from heedful.tasks.translation import LOOKED_AT, Translation
    from heedful.train.loop import Trainer
    from heedful.train.machine import interruptible, prepare_machine, workers_for
    from heedful.train.state import Clock

    settings = folder.settings
    asked = dict((request.settings or {}).get("train", {}).items())
    longer = {k: asked[k] for k in LIMITS if asked.get(k) is not None}
    training = settings.train.model_copy(update=longer)
    prepare_machine()
    device = _device(request.device)
    workers = workers_for(settings.data.batch_tokens, device, request.threads)
    torch.manual_seed(training.seed)
    model = Transformer(settings.model, folder.ids).to(device)
    task = Translation(model, tokenizer, corpus, settings, workers)
    tests = (
        list(pairs_of(sources(request.test, request.columns, request.encoding)))
        if request.test
        else []
    )
    to_score = len(corpus.dev) + len(tests)
    trainer: Trainer[Batch] = Trainer(
        task,
        training,
        folder.path / "run",
        peak=training.lr or (settings.model.d_model * training.warmup) ** -0.5,
        report=report,
        keep=lambda: folder.write_weights(state(model)),
        clock=Clock(training.minutes, started),
        workers=workers,
        more=more,
        look_seconds=0.01 * min(LOOKED_AT, len(corpus.dev)),
        # two averages are tried, then everything is translated with a beam, dev twice
        reserve=lambda look: 2 * look + 4.0 * look * to_score / min(LOOKED_AT, len(corpus.dev)) + 2,
    )
    with interruptible(trainer):
        outcome = trainer.train()
    if outcome.why == "interrupted":
        return Result(folder.path, False, {}, outcome.seconds, outcome.step)
    report.note(
        f"{outcome.why} after {outcome.step:,} steps, {outcome.epochs:.1f} epochs; "
        f"weights: {outcome.weights}"
    )
    if not config.chosen(request.settings or {}, "decode.length_penalty"):
        folder = choose_penalty(folder, tokenizer, corpus.dev, report, workers)
    scored = {
        name: score(folder, tokenizer, pairs, report, title, workers)
        for name, title, pairs in (
            ("dev", "development set", corpus.dev),
            ("test", "test set", tests),
        )
        if pairs
    }
    seconds = time.time() - started
    facts = {
        "pairs": len(corpus),
        "dev_pairs": len(corpus.dev),
        "scores": {name: [vars(s) for s in scores] for name, scores in scored.items()},
        "seed": training.seed,
        "minutes": round(outcome.seconds / 60, 1),
        "steps": outcome.step,
        "epochs": round(outcome.epochs, 1),
        "parameters": model.parameters_total,
        "weights": outcome.weights,
    }
    folder.write_card(card(folder.settings, facts))
    limits = {key: getattr(training, key) for key in LIMITS}
    done = {"seconds": outcome.seconds, "step": outcome.step, "limits": limits}
    (folder.path / "run" / "done.json").write_text(json.dumps(done), encoding="utf-8")
    return Result(folder.path, True, scored, seconds, outcome.step)


PENALTIES = (0.6, 1.0, 1.4, 1.8, 2.2)
ENOUGH_TO_CHOOSE = 200
"""Development pairs below which a choice by their score would be chance."""


def choose_penalty(
    folder: Folder,
    tokenizer: Tokenizer,
    dev: Sequence[tuple[str, str]],
    report: Report,
    workers: int = 1,
) -> Folder:
    """Choose the length penalty on the development set, and write it into the folder.

    How short a model's likeliest translations are differs from model to model. The beam finds the
    same hypotheses whatever the penalty, so trying several costs one search.
    """
    from heedful.decoding.batch import search
    from heedful.decoding.search import rerank

    decode, wanted = folder.settings.decode, [t for _, t in dev]
    if decode.beam == 1 or len(dev) < ENOUGH_TO_CHOOSE:
        return folder
    report.progress("choosing the length penalty", 0, 1)
    found = search(
        load_model(folder),
        [tokenizer.encode(s) for s, _ in dev],
        decode,
        n_best=decode.beam,
        workers=workers,
    )
    values = {}
    for alpha in PENALTIES:
        texts = [tokenizer.decode(rerank(f, alpha)[0].ids) for f in found]
        values[alpha] = metrics.scores(texts, wanted, folder.settings.target)[0].value
    best = max(PENALTIES, key=lambda alpha: values[alpha])
    if values[best] < values[PENALTIES[0]] + 0.1:  # nothing to gain: keep the usual one
        return folder
    report.note(
        f"length penalty {best:g}: {values[best] - values[PENALTIES[0]]:+.2f} on the dev set"
    )
    changed = decode.model_copy(update={"length_penalty": best})
    return folder.write_settings(folder.settings.model_copy(update={"decode": changed}))


def score(
    folder: Folder,
    tokenizer: Tokenizer,
    pairs: Sequence[tuple[str, str]],
    report: Report,
    name: str,
    workers: int,
) -> list[Score]:
    """Translate with the folder's weights and settings, as a person would, and score."""
    from heedful.decoding.batch import search

    model = load_model(folder)
    report.progress(f"scoring the {name}", 0, len(pairs))
    sources = [tokenizer.encode(s) for s, _ in pairs]
    found = search(model, sources, folder.settings.decode, workers=workers)
    texts = [tokenizer.decode(h[0].ids) for h in found]
    scores = metrics.scores(texts, [t for _, t in pairs], folder.settings.target, interval=True)
    for score in scores:
        report.note(
            f"{name}: {score.name} {score.value:.2f} "
            f"[{score.low:.2f}, {score.high:.2f}]  {score.signature}"
        )
    return scores
