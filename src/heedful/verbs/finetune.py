"""`heedful finetune`: more training of a model, on other text than it was made from."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from heedful import config
from heedful.data.corpus import Corpus, Pair, development_size, number_of, pairs_of
from heedful.errors import ConfigError
from heedful.models.folder import Folder
from heedful.settings import Settings
from heedful.train.report import Report, SilentReport
from heedful.verbs.comparison import Compared, compare
from heedful.verbs.pairs import development_pairs, rewrite_pairs, text_folder, write_pairs
from heedful.verbs.prepare import read
from heedful.verbs.request import Request, in_one_process, make_folder
from heedful.verbs.train import train

__all__ = ["finetune"]

DROPOUTS = {"dropout", "attention_dropout", "ff_dropout"}
"""Settings of a model that may change though its weights are kept."""


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
    in_one_process("finetune")
    report = report or SilentReport()
    folder = Folder.open(parent)
    _check_kept(folder, request.settings or {})
    known = list(pairs_of(read(old, request))) if old else development_pairs(parent)
    if mix:
        request = _mixed(request, mix, share, known, report)
    settings = config.merge(_kept(folder.settings), request.settings or {})
    request = replace(request, parent=parent, inherit="weights", settings=settings)
    result = train(request, report, started)
    if not result.finished:
        return Compared(result, {})
    new = Corpus.open(request.output / "run" / "data").dev
    sets = {"new text": new} | ({"old text": known} if known else {})
    return compare(parent, request.output, sets, result, report, request.threads)


def _check_kept(folder: Folder, asked: Mapping[str, Any]) -> None:
    """Refuse settings that the inherited weights and pieces do not fit."""
    for table, free in (("model", DROPOUTS), ("tokenizer", {"regularisation"})):
        old = folder.settings.model_dump()[table]
        wanted = asked.get(table, {})
        # What is no table is refused with everything else that is wrong, in `config.resolve`.
        for key, value in wanted.items() if isinstance(wanted, Mapping) else ():
            if key in old and key not in free and value != old[key]:
                raise ConfigError(
                    f"{table}.{key} = {value}: {folder.path} has {old[key]}, which fine-tuning "
                    f"keeps; leave it out, or train a new model with `heedful train`"
                )


def _kept(settings: Settings) -> dict[str, Any]:
    """Give the settings inherited from the parent, with a lower learning rate than usual."""
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
        files=(write_pairs(made / "new.tsv", new), write_pairs(made / "mixed.tsv", drawn)),
        dev=(write_pairs(made / "dev.tsv", dev),),
        test=rewrite_pairs(request.test, request, made / "test.tsv"),
        columns=None,
        encoding="utf-8",
    )
