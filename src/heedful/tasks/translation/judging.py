"""How good a model is: its translations judged, and its length penalty chosen by their score."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any

from heedful import config, metrics
from heedful.config import Raw
from heedful.data.text import normalise
from heedful.data.tokenizer import Tokenizer
from heedful.machine import decoding_workers
from heedful.metrics import Judged
from heedful.models.folder import Folder
from heedful.tasks.contract import Answers
from heedful.tasks.translation.corpus import Pair, number_of
from heedful.tasks.translation.model import load_model
from heedful.tasks.translation.settings import Settings
from heedful.tasks.translation.using import Translator
from heedful.train.report import Report

PENALTIES = (0.5, 0.75, 1.0, 1.25, 1.5, 1.75)
ENOUGH_TO_CHOOSE = 200
"""With fewer development pairs than this, a choice by their score would be chance."""


def answer(translator: Translator, pairs: Sequence[Pair], options: Mapping[str, Any]) -> Answers:
    """Translate exactly as `heedful translate` does.

    Every score a command reports goes through here, so it is the score of what a person gets.
    """
    changes = {"beam": options["beam"]} if "beam" in options else {}
    begun = time.perf_counter()
    sources = [source for source, _ in pairs]
    found = list(translator.lines(sources, translator.decoding(**changes), scored=False))
    seconds = time.perf_counter() - begun
    guarded = sum(bool(one.guards) for one in found)
    notes = [f"{guarded} of {len(found)} lines were stopped by a guard"] if guarded else []
    return Answers([one.text for one in found], seconds, notes)


def judge(
    answers: Answers, pairs: Sequence[Pair], settings: Settings, options: Mapping[str, Any]
) -> list[Judged]:
    """Judge translations by BLEU and chrF, the one to trust in the target language first."""
    wanted = [normalise(target) for _, target in pairs]
    tokenize = options.get("tokenize")
    return list(metrics.judged(answers.outputs, wanted, settings.target, tokenize))


def measure(translator: Translator, pairs: Sequence[Pair]) -> dict[str, float]:
    """Give the perplexity of the references, a piece."""
    found = translator.score([s for s, _ in pairs], [normalise(t) for _, t in pairs])
    nll, pieces = -sum(logp for logp, _ in found), sum(count for _, count in found)
    return {"perplexity": metrics.perplexity(nll, pieces)}


def apart(dev: Sequence[Pair]) -> list[bool]:
    """Say which development pairs are kept apart to judge on, where there is no test set: a third.

    The pairs that choose a checkpoint, a length penalty or the simple thing's settings flatter
    what they chose, so nothing can be judged on them. Which ones are apart follows from the
    sources alone, whatever their order: going on with a training never moves a pair from one
    part to the other, and a sentence with two translations is wholly in one. It is at least one
    sentence and never all; with one sentence only, nothing can be kept apart.
    """
    sources = sorted({source for source, _ in dev}, key=lambda s: (number_of(s, 0), s))
    third = max(1, len(sources) // 3) if len(sources) > 1 else 0
    chosen = set(sources[:third])
    return [source in chosen for source, _ in dev]


def tune(
    folder: Folder[Settings], dev: Sequence[Pair], asked: Raw, threads: int, report: Report
) -> Folder[Settings]:
    """Choose the length penalty on the development set, and write it into the folder.

    How short a model's likeliest translations are differs from model to model. The beam finds
    nearly the same hypotheses whatever the penalty, so trying several costs one search.
    """
    from heedful.decoding.batch import search
    from heedful.decoding.hypothesis import LengthPenalty, rerank

    decode, wanted = folder.settings.decode, [t for _, t in dev]
    usual = decode.length_penalty
    given = config.chosen(asked, "decode.length_penalty")
    if given or decode.beam == 1 or len(dev) < ENOUGH_TO_CHOOSE:
        return folder
    report.progress("choosing the length penalty", 0, 1)
    tokenizer = Tokenizer(folder.tokenizer, folder.ids)
    found = search(
        load_model(folder),
        [tokenizer.encode(s) for s, _ in dev],
        decode,
        n_best=decode.beam,
        workers=decoding_workers(threads),
    )
    values = {}
    for alpha in dict.fromkeys((usual, *PENALTIES)):
        penalty = LengthPenalty(alpha, decode.length_offset)
        texts = [tokenizer.decode(rerank(f, penalty)[0].ids) for f in found]
        values[alpha] = next(metrics.judged(texts, wanted, folder.settings.target)).value
    best = max(values, key=lambda alpha: values[alpha])
    if values[best] < values[usual] + 0.1:  # nothing to gain: keep the usual one
        return folder
    report.note(f"length penalty {best:g}: {values[best] - values[usual]:+.2f} on the dev set")
    changed = decode.model_copy(update={"length_penalty": best})
    return folder.write_settings(folder.settings.model_copy(update={"decode": changed}))
