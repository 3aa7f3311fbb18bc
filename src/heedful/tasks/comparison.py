"""A new model beside the one it came from, on the same examples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from heedful import metrics
from heedful.metrics import Score
from heedful.models.folder import Folder
from heedful.tasks import registry
from heedful.tasks.contract import How, Result
from heedful.train.report import Report


@dataclass(frozen=True)
class Compared:
    """Two models on the same examples."""

    result: Result
    scores: dict[str, tuple[Score, Score]] = field(default_factory=dict)
    """By the set: the score of the parent and that of the new model."""
    speed: tuple[float, float] = (0.0, 0.0)
    """Examples a second of both, where they were measured."""
    parameters: tuple[int, int] = (0, 0)


def compare(
    one: Path,
    other: Path,
    sets: Mapping[str, Sequence[Any]],
    result: Result,
    report: Report,
    threads: int,
) -> Compared:
    """Score two models on the same sets, and say so in a small table."""
    found: dict[str, list[Score]] = {name: [] for name in sets}
    speeds, sizes = [], []
    for path in (one, other):
        task = registry.of_folder(path)
        folder = Folder.open(path, task.settings)
        used = task.open(path, How(threads=threads, note=report.note))
        sizes.append(sum(tensor.numel() for tensor in folder.weights().values()))
        seconds = 0.0
        for name, rows in sets.items():
            answers = task.answer(used, rows, {})
            judged = task.judge(answers, rows, folder.settings, {})
            found[name].append(metrics.scored(judged[0]))
            seconds += answers.seconds
        speeds.append(sum(map(len, sets.values())) / max(seconds, 1e-9))
    report.note(f"{'':<18}{one.name:>16}{other.name:>16}")
    report.note(f"{'parameters':<18}{sizes[0]:>16,}{sizes[1]:>16,}")
    for name, (before, after) in found.items():
        report.note(f"{before.name + ', ' + name:<24}{before.value:>10.2f}{after.value:>16.2f}")
    report.note(f"{'examples/s':<18}{speeds[0]:>16.1f}{speeds[1]:>16.1f}")
    scores = {name: (pair[0], pair[1]) for name, pair in found.items()}
    return Compared(result, scores, (speeds[0], speeds[1]), (sizes[0], sizes[1]))
