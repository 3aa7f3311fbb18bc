"""When a training has ended: the length penalty chosen, everything scored as a person would."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from heedful import metrics
from heedful.data.tokenizer import Tokenizer
from heedful.metrics import Score
from heedful.models.folder import Folder, load_model
from heedful.train.report import Report

__all__ = ["choose_penalty", "score", "score_all"]

TITLES = {"dev": "development set", "test": "test set"}
PENALTIES = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75)
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

    How short a model's likeliest translations are differs from model to model. The beam finds
    nearly the same hypotheses whatever the penalty, so trying several costs one search.
    """
    from heedful.decoding.batch import search
    from heedful.decoding.hypothesis import LengthPenalty, rerank

    decode, wanted = folder.settings.decode, [t for _, t in dev]
    usual = decode.length_penalty
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
    for alpha in dict.fromkeys((usual, *PENALTIES)):
        penalty = LengthPenalty(alpha, decode.length_offset)
        texts = [tokenizer.decode(rerank(f, penalty)[0].ids) for f in found]
        values[alpha] = metrics.scores(texts, wanted, folder.settings.target)[0].value
    best = max(values, key=lambda alpha: values[alpha])
    if values[best] < values[usual] + 0.1:  # nothing to gain: keep the usual one
        return folder
    report.note(f"length penalty {best:g}: {values[best] - values[usual]:+.2f} on the dev set")
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


def score_all(
    folder: Folder,
    tokenizer: Tokenizer,
    sets: Mapping[str, Sequence[tuple[str, str]]],
    penalty_given: bool,
    report: Report,
    workers: int,
) -> tuple[Folder, dict[str, list[Score]]]:
    """Choose the penalty unless one was given, and score the sets that are there."""
    if not penalty_given:
        folder = choose_penalty(folder, tokenizer, sets["dev"], report, workers)
    return folder, {
        name: score(folder, tokenizer, pairs, report, TITLES[name], workers)
        for name, pairs in sets.items()
        if pairs
    }
