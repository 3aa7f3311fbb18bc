"""What follows a training: choosing how the model is used, its scores, the verdict, its card."""

from __future__ import annotations

import shlex
import time
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from heedful import metrics
from heedful.metrics import Score, Verdict
from heedful.models.folder import Folder
from heedful.tasks.card import card
from heedful.tasks.contract import Answers, How, Prepared, Request, Task
from heedful.train.report import Report

TITLES = {"dev": "development set", "test": "test set"}
APART = "part of the development set that chose nothing"


@dataclass(frozen=True)
class Ended:
    """What was found after a training."""

    scores: dict[str, list[Score]]
    """By the set scored on: "dev", "test"."""
    verdict: Verdict | None = None
    facts: dict[str, Any] = field(default_factory=dict)
    """What is kept of it beside the model."""


def end(
    task: Task,
    folder: Folder[Any],
    prepared: Prepared,
    tests: Sequence[Any],
    request: Request,
    facts: dict[str, Any],
    report: Report,
) -> Ended:
    """Choose how the trained model is used, score it, judge it beside the simple thing.

    Where there is no test set, a part of the development set is kept out of every choice, and the
    verdict is reached on that.
    """
    apart = [False] * len(prepared.dev) if tests else task.apart(prepared.dev)
    choosing = [row for row, out in zip(prepared.dev, apart, strict=True) if not out]
    folder = task.tune(folder, choosing, request.settings or {}, request.threads, report)
    how = How(threads=request.threads, note=report.note)
    used = task.open(folder.path, how)
    scores: dict[str, list[Score]] = {}
    outputs: list[Any] = []
    for name, rows in {"dev": prepared.dev, "test": tests}.items():
        if not rows:
            continue
        report.progress(f"scoring the {TITLES[name]}", 0, len(rows))
        answers = task.answer(used, rows, {})
        outputs = answers.outputs
        judged = task.judge(answers, rows, folder.settings, {})
        scores[name] = [metrics.scored(one) for one in judged]
        for one in scores[name]:
            report.note(
                f"{TITLES[name]}: {one.name} {one.value:.2f} "
                f"[{one.low:.2f}, {one.high:.2f}]  {one.signature}"
            )
    rows, where = tests, TITLES["test"]
    if not tests:
        outputs = [said for said, out in zip(outputs, apart, strict=True) if out]
        rows, where = [row for row, out in zip(prepared.dev, apart, strict=True) if out], APART
    verdict = None
    if task.simple is not None:
        verdict = _verdict(task, folder, prepared, choosing, (rows, outputs, where), how, report)
    kept = {name: [vars(score) for score in found] for name, found in scores.items()}
    facts |= {"scores": kept, "verdict": verdict.sentence() if verdict else ""}
    folder.write_card(card(task, folder.settings, facts))
    return Ended(scores, verdict, {"verdict": verdict.facts() if verdict else None})


def _verdict(
    task: Task,
    folder: Folder[Any],
    prepared: Prepared,
    choosing: Sequence[Any],
    judged_on: tuple[Sequence[Any], list[Any], str],
    how: How,
    report: Report,
) -> Verdict | None:
    """Fit the simple thing, have it answer what the model answered, and compare the two."""
    assert task.simple is not None
    rows, outputs, where = judged_on
    begun = time.perf_counter()
    name = task.simple.fit(prepared, choosing, folder.path, report)
    fitted = time.perf_counter() - begun
    if not rows:
        report.note(f"{name}: no verdict, for no example could be kept apart; give a test set")
        return None
    simple = task.answer(task.open(folder.path, replace(how, simple=True)), rows, {})
    both = (Answers(outputs, 0.0), simple)
    ours, theirs = (task.judge(answers, rows, folder.settings, {})[0] for answers in both)
    verdict = Verdict.of(
        ours,
        theirs,
        simple_name=name,
        where=where,
        fit_seconds=fitted,
        answer_seconds=simple.seconds,
        remedy=task.simple.remedy.format(shlex.quote(str(folder.path))),
    )
    report.note(verdict.sentence())
    return verdict
