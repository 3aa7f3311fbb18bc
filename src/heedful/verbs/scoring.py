"""How good a model is: its translations scored, and its length penalty chosen by their score."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from heedful import metrics
from heedful.data.text import normalise
from heedful.data.tokenizer import Tokenizer
from heedful.machine import decoding_workers
from heedful.metrics import Score
from heedful.models.folder import Folder, load_model
from heedful.settings import DecodeSettings
from heedful.tasks.translation.using import Translator
from heedful.train.report import Report

__all__ = ["Scored", "choose_penalty", "score", "score_all"]

TITLES = {"dev": "development set", "test": "test set"}
PENALTIES = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75)
ENOUGH_TO_CHOOSE = 200
"""With fewer development pairs than this, a choice by their score would be chance."""


@dataclass(frozen=True)
class Scored:
    """A model's translations of a set, and their scores."""

    texts: list[str]
    scores: list[Score]
    guarded: int
    """Lines a guard had to stop."""
    seconds: float
    """What translating took, without the scoring."""


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
    translator: Translator,
    pairs: Sequence[tuple[str, str]],
    decode: DecodeSettings | None = None,
    tokenize: str | None = None,
) -> Scored:
    """Translate exactly as `heedful translate` does, and score what comes out.

    Every score a command reports goes through here, so it is the score of what a person gets.
    """
    begun = time.perf_counter()
    found = list(translator.lines([source for source, _ in pairs], decode, scored=False))
    seconds = time.perf_counter() - begun
    texts, wanted = [t.text for t in found], [normalise(target) for _, target in pairs]
    language = translator.settings.target
    scores = metrics.scores(texts, wanted, language, interval=True, tokenize=tokenize)
    return Scored(texts, scores, sum(bool(t.guards) for t in found), seconds)


def score_all(
    folder: Folder,
    tokenizer: Tokenizer,
    sets: Mapping[str, Sequence[tuple[str, str]]],
    penalty_given: bool,
    report: Report,
    threads: int = 0,
) -> tuple[Folder, dict[str, list[Score]]]:
    """Choose the penalty unless one was given, and score the sets that are there."""
    if not penalty_given:
        folder = choose_penalty(folder, tokenizer, sets["dev"], report, decoding_workers(threads))
    translator = Translator.load(folder.path, workers=threads, note=report.note)
    found = {}
    for name, pairs in sets.items():
        if not pairs:
            continue
        report.progress(f"scoring the {TITLES[name]}", 0, len(pairs))
        found[name] = score(translator, pairs).scores
        for one in found[name]:
            report.note(
                f"{TITLES[name]}: {one.name} {one.value:.2f} "
                f"[{one.low:.2f}, {one.high:.2f}]  {one.signature}"
            )
    return folder, found
