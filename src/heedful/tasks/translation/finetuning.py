"""What a fine-tuned model keeps of its parent, and old pairs mixed into its new ones."""

from __future__ import annotations

import heapq
from collections.abc import Mapping, Sequence
from typing import Any

from heedful.config import Raw
from heedful.errors import ConfigError
from heedful.models.folder import Folder
from heedful.tasks.contract import Request
from heedful.tasks.translation.corpus import Pair, development_size, number_of, pairs_of
from heedful.tasks.translation.pairs import rewrite_pairs, text_folder, write_pairs
from heedful.tasks.translation.preparing import read
from heedful.tasks.translation.settings import FinetuneOptions, Settings
from heedful.train.report import Report

DROPOUTS = {"dropout", "attention_dropout", "ff_dropout"}
"""Settings of a model that may change though its weights are kept."""


def inherit(folder: Folder[Settings], asked: Raw) -> Raw:
    """Give the settings inherited from the parent, with a lower learning rate than usual.

    Settings that the inherited weights and pieces do not fit are refused.
    """
    settings = folder.settings
    old = settings.model_dump(exclude_none=True)
    for table, free in (("model", DROPOUTS), ("tokenizer", {"regularisation"})):
        wanted = asked.get(table, {})
        # What is no table is refused with everything else that is wrong, in `config.resolve`.
        for key, value in wanted.items() if isinstance(wanted, Mapping) else ():
            had = settings.model_dump()[table]
            if key in had and key not in free and value != had[key]:
                raise ConfigError(
                    f"{table}.{key} = {value}: {folder.path} has {had[key]}, which fine-tuning "
                    f"keeps; leave it out, or train a new model with `heedful train`"
                )
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


def mix(
    request: Request,
    folder: Folder[Settings],
    known: Sequence[Pair],
    options: Mapping[str, Any],
    report: Report,
) -> Request:
    """Draw old pairs, the same ones each time, so many that they are a given share of all.

    What the models are scored on stays apart: no pair of `known` is drawn, and where no development
    set is given, one is held out of the new text before anything is mixed in.
    """
    chosen = FinetuneOptions(**options)
    share = chosen.share
    if not chosen.mix:
        return request
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
    pairs = (p for p in pairs_of(read(chosen.mix, request)) if all(p) and p[0] not in apart)
    drawn = heapq.nsmallest(wanted, pairs, key=lambda pair: number_of("\t".join(pair), 0))
    made = text_folder(request.output)
    report.note(f"{len(drawn):,} pairs of the old kind are mixed in: {made / 'mixed.tsv'}")
    return request.but(
        files=(write_pairs(made / "new.tsv", new), write_pairs(made / "mixed.tsv", drawn)),
        dev=(write_pairs(made / "dev.tsv", dev),),
        test=rewrite_pairs(request.test, request, made / "test.tsv"),
        columns=None,
        encoding="utf-8",
    )
