"""What becomes of a trained model: more training on other text, a smaller student, an average."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from heedful import config, files
from heedful.data.corpus import Corpus, Pair, development_size, number_of, pairs_of
from heedful.errors import ConfigError, DataError, ModelFolderError
from heedful.metrics import Score
from heedful.models.folder import Folder, card
from heedful.settings import ModelSettings, Settings
from heedful.train import plan
from heedful.train.report import Report, SilentReport
from heedful.translator import Translator
from heedful.verbs.prepare import read
from heedful.verbs.request import Request, make_folder
from heedful.verbs.scoring import score
from heedful.verbs.synthesise import alone, synthesise
from heedful.verbs.train import Result, train

__all__ = ["Compared", "average", "distill", "finetune"]

STUDENT = 1 / 3
"""A student has at most this share of its teacher's parameters."""


DROPOUTS = {"dropout", "attention_dropout", "ff_dropout"}
"""What may be chosen anew of a model whose weights are there already."""


@dataclass(frozen=True)
class Compared:
    """Two models on the same sentences."""

    result: Result
    scores: dict[str, tuple[Score, Score]]
    """By the set: of the model it came from, and of the new one."""
    speed: tuple[float, float] = (0.0, 0.0)
    """Sentences a second of both, where they were measured."""
    parameters: tuple[int, int] = (0, 0)


def text_folder(output: Path) -> Path:
    """Where text made for a training is kept: beside the model, for a person to look at."""
    return output.with_name(output.name + ".text")


def development_of(model: Path) -> list[Pair]:
    """Give the pairs a model was checked on while it was trained, if they are still there."""
    data = model / "run" / "data"
    return Corpus.open(data).dev if (data / "corpus.json").exists() else []


# -- more training on other text -----------------------------------------------------------------


def finetune(
    parent: Path,
    request: Request,
    mix: Sequence[Path] = (),
    share: float = 0.5,
    old: Sequence[Path] = (),
    report: Report | None = None,
    started: float | None = None,
) -> Compared:
    """Train a model on, with its own pieces, on other text than it was made from.

    `mix` is text of the kind it knows, of which so much is drawn that it is `share` of all: what is
    not practised is forgotten. `old` are pairs to see that on; without them the model's own
    development pairs are taken. `request` says the new text, and where the new model goes.
    """
    alone("finetune")
    report = report or SilentReport()
    folder = Folder.open(parent)
    _check_kept(folder, request.settings or {})
    known = list(pairs_of(read(old, request))) if old else development_of(parent)
    if mix:
        request = _mixed(request, mix, share, known, report)
    settings = config.merge(_kept(folder.settings), request.settings or {})
    request = replace(request, parent=parent, inherit="weights", settings=settings)
    result = train(request, report, started)
    if not result.finished:
        return Compared(result, {})
    new = Corpus.open(request.output / "run" / "data").dev
    sets = {"new text": new} | ({"old text": known} if known else {})
    return _compare(parent, request.output, sets, result, report, request.threads)


def _check_kept(folder: Folder, asked: Mapping[str, Any]) -> None:
    """Refuse to change what weights and pieces that are carried over were made for."""
    for table, free in (("model", DROPOUTS), ("tokenizer", {"regularisation"})):
        old = folder.settings.model_dump()[table]
        for key, value in asked.get(table, {}).items():
            if key in old and key not in free and value != old[key]:
                raise ConfigError(
                    f"{table}.{key} = {value}: {folder.path} has {old[key]}, which fine-tuning "
                    f"keeps; leave it out, or train a new model with `heedful train`"
                )


def _kept(settings: Settings) -> dict[str, Any]:
    """Give the settings a fine-tuned model has from its parent, and those gentler than usual."""
    old = settings.model_dump(exclude_none=True)
    peak = settings.train.lr or (settings.model.d_model * settings.train.warmup) ** -0.5
    return {
        "source": old["source"],
        "target": old["target"],
        "model": old["model"],
        "tokenizer": old["tokenizer"],
        "data": {"max_length": settings.data.max_length},
        "decode": old["decode"],
        "train": {
            "lr": 0.2 * peak,
            "warmup": 20,
            "schedule": "linear",
            "label_smoothing": settings.train.label_smoothing,
        },
    }


def _mixed(
    request: Request, mix: Sequence[Path], share: float, known: Sequence[Pair], report: Report
) -> Request:
    """Draw old pairs, the same ones each time, so many that they are `share` of all.

    What the models are scored on stays apart: no pair of `known` is drawn, and where no development
    set is given, one is held out of the new text before anything is mixed in.
    """
    if not 0 < share < 1:
        raise ConfigError(f"--mix-share {share:g}: expected a number above 0 and below 1")
    new = [pair for pair in pairs_of(read(request.files, request)) if all(pair)]
    dev = [pair for pair in pairs_of(read(request.dev, request)) if all(pair)]
    if not request.dev:
        part = development_size(len(new)) / max(1, len(new))
        dev = [pair for pair in new if number_of(pair[0], 0) < part] or new[:1]
        held = {source for source, _ in dev}
        new = [pair for pair in new if pair[0] not in held]
    apart = {source for source, _ in (*known, *dev)}
    wanted = round(len(new) * share / (1 - share))
    pairs = (p for p in pairs_of(read(mix, request)) if all(p) and p[0] not in apart)
    drawn = heapq.nsmallest(wanted, pairs, key=lambda pair: number_of("\t".join(pair), 0))
    made = text_folder(request.output)
    make_folder(made)
    report.note(f"{len(drawn):,} pairs of the old kind are mixed in: {made / 'mixed.tsv'}")
    return replace(
        request,
        files=(_write(made / "new.tsv", new), _write(made / "mixed.tsv", drawn)),
        dev=(_write(made / "dev.tsv", dev),),
        test=_rewritten(request.test, request, made / "test.tsv"),
        columns=None,
        encoding="utf-8",
    )


def _write(path: Path, pairs: Sequence[Pair]) -> Path:
    """Write pairs as a TSV, and name it as a training reads it."""
    files.write(path, "".join(f"{source}\t{target}\n" for source, target in pairs))
    return Path(f"{path}:1,2")


def _rewritten(paths: Sequence[Path], request: Request, path: Path) -> tuple[Path, ...]:
    """Write a person's pairs anew, in UTF-8, to be read beside what a model wrote."""
    return (_write(path, list(pairs_of(read(paths, request)))),) if paths else ()


# -- a smaller student ----------------------------------------------------------------------


def distill(
    teacher: Path,
    text: Path,
    request: Request,
    report: Report | None = None,
    started: float | None = None,
) -> Compared:
    """Teach a smaller model what a larger one says: sequence-level knowledge distillation.

    The teacher translates text of its source language, and the student learns from that: it is
    more regular than what people write, so a third of the parameters is enough.
    """
    from heedful.machine import decoding_workers

    alone("distill")
    report = report or SilentReport()
    folder = Folder.open(teacher)
    made = text_folder(request.output)
    make_folder(made)
    said = made / "teacher.tsv"
    translator = Translator.load(teacher, workers=decoding_workers(request.threads), engine="torch")
    count = synthesise(translator, text, said, encoding=request.encoding, report=report)
    report.note(f"the teacher has translated {count:,} lines: {said}")
    dev = _rewritten(request.dev, request, made / "dev.tsv")
    if not dev and (known := development_of(teacher)):
        dev = (_write(made / "dev.tsv", known),)
    settings = config.merge(_student(folder), request.settings or {})
    request = replace(
        request,
        files=(Path(f"{said}:1,2"),),
        dev=dev,
        test=_rewritten(request.test, request, made / "test.tsv"),
        columns=None,
        encoding="utf-8",
        parent=teacher,
        inherit="pieces",
        settings=settings,
    )
    result = train(request, report, started)
    if not result.finished:
        return Compared(result, {})
    sets = {"development set": Corpus.open(request.output / "run" / "data").dev}
    return _compare(teacher, request.output, sets, result, report, request.threads)


def _student(folder: Folder) -> dict[str, Any]:
    """Give a student's settings: half as wide, then narrower, until it is a third."""
    teacher, m = folder.settings, folder.settings.model
    facts = plan.Facts(1, 1, 1, 1, folder.ids.size)
    most = STUDENT * plan.estimate(m, facts, 1.0).parameters
    model = m.model_dump(exclude_none=True, exclude={"d_head", "d_value"}) | {"dropout": 0.1}
    grain = 2 * m.n_heads  # every head has as much, and a sinusoid needs an even width
    for width in range(max(grain, m.d_model // 2 // grain * grain), 0, -grain):
        model |= {"d_model": width, "d_ff": max(1, m.d_ff * width // m.d_model)}
        small = config.part(ModelSettings, model, "model.")
        if plan.estimate(small, facts, 1.0).parameters <= most:
            break
    return {
        "source": teacher.source,
        "target": teacher.target,
        "model": model,
        "tokenizer": teacher.tokenizer.model_dump() | {"regularisation": 0.0},
        "decode": teacher.decode.model_dump(exclude_none=True),
    }


# -- side by side ---------------------------------------------------------------------------


def _compare(
    one: Path,
    other: Path,
    sets: dict[str, list[Pair]],
    result: Result,
    report: Report,
    threads: int,
) -> Compared:
    """Score two models on the same sets, and say so in a small table."""
    found: dict[str, list[Score]] = {name: [] for name in sets}
    speeds, sizes = [], []
    for path in (one, other):
        translator = Translator.load(path, workers=threads, note=report.note)
        sizes.append(translator.model.parameters_total)
        scored = {name: score(translator, pairs) for name, pairs in sets.items()}
        for name, one_set in scored.items():
            found[name].append(one_set.scores[0])
        seconds = sum(one_set.seconds for one_set in scored.values())
        speeds.append(sum(map(len, sets.values())) / seconds)
    report.note(f"{'':<18}{one.name:>16}{other.name:>16}")
    report.note(f"{'parameters':<18}{sizes[0]:>16,}{sizes[1]:>16,}")
    for name, (before, after) in found.items():
        report.note(f"{before.name + ', ' + name:<24}{before.value:>10.2f}{after.value:>16.2f}")
    report.note(f"{'sentences/s':<18}{speeds[0]:>16.1f}{speeds[1]:>16.1f}")
    scores = {name: (pair[0], pair[1]) for name, pair in found.items()}
    return Compared(result, scores, (speeds[0], speeds[1]), (sizes[0], sizes[1]))


# -- an average ---------------------------------------------------------------------------------


def average(models: Sequence[Path], output: Path) -> Folder:
    """Average the weights of models that are alike, or of the best moments of one training."""
    from heedful.train.checkpoint import States, read_weights
    from heedful.train.checkpoint import average as mean

    folders = [Folder.open(model) for model in models]
    first = folders[0]
    for other in folders[1:]:
        if other.settings.model != first.settings.model or other.tokenizer != first.tokenizer:
            raise ModelFolderError(
                f"{other.path} has another shape or other pieces than {first.path}; "
                f"only models that differ in nothing but their weights can be averaged"
            )
    if len(folders) == 1:
        run = first.path / "run"
        said = (States(run / "state").facts() or {}).get("kept", [])
        kept = {run / "kept" / f"step-{k[0]:08d}.safetensors": k[2] for k in said if k[2]}
        if len(kept) < 2:
            raise DataError(
                f"{first.path} has kept {len(kept)} moments of its training, and an average needs "
                f"two; give several models"
            )
        weights = _as_stored(mean(read_weights(*item) for item in kept.items()), first)
        what = f"the average of {len(kept)} moments of {first.path.name}"
    else:
        weights = mean(folder.weights() for folder in folders)
        what = "the average of " + ", ".join(folder.path.name for folder in folders)
    made = Folder.create(output, first.settings, first.ids, first.tokenizer)
    made.write_weights(weights)
    made.write_card(card(first.settings, {"name": output.name, "weights": what}))
    return made


def _as_stored(weights: dict[str, Any], folder: Folder) -> dict[str, Any]:
    """Name weights kept by a training as a model folder names them."""
    import torch

    from heedful.models.folder import state
    from heedful.models.transformer import Transformer

    with torch.random.fork_rng(devices=[]), torch.no_grad():
        model = Transformer(folder.settings.model, folder.ids)
        for name, parameter in model.named_parameters():
            parameter.copy_(weights[name])
    return state(model)
