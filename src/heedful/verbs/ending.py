"""What follows a training: choosing how the model is used, its scores, the verdict, its card."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from heedful import metrics
from heedful.metrics import Score, Verdict
from heedful.models.folder import Folder
from heedful.tasks.card import card
from heedful.tasks.contract import How, Prepared, Request, Task
from heedful.train.report import Report

__all__ = ["Ended", "end"]

TITLES = {"dev": "development set", "test": "test set"}


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
    apart = set() if tests else set(task.judged_apart(prepared.dev))
    choosing = [row for index, row in enumerate(prepared.dev) if index not in apart]
    folder = task.tune(folder, choosing, request.settings or {}, request.threads, report)
    used = task.open(folder.path, How(threads=request.threads, note=report.note))
    sets = {"dev": prepared.dev, "test": tests}
    scores, judged = {}, {}
    for name, rows in sets.items():
        if not rows:
            continue
        report.progress(f"scoring the {TITLES[name]}", 0, len(rows))
        answers = task.answer(used, rows, {})
        judged[name] = task.judge(answers, rows, folder.settings, {})
        scores[name] = [metrics.scored(one) for one in judged[name]]
        for one in scores[name]:
            report.note(
                f"{TITLES[name]}: {one.name} {one.value:.2f} "
                f"[{one.low:.2f}, {one.high:.2f}]  {one.signature}"
            )
    verdict = None
    kept = {name: [vars(score) for score in found] for name, found in scores.items()}
    folder.write_card(card(task, folder.settings, {**facts, "scores": kept}))
    return Ended(scores, verdict, {"scores": kept})
