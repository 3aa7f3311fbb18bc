"""A new model beside the one it came from, on the same sentences."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from heedful.data.corpus import Pair
from heedful.metrics import Score
from heedful.tasks.translation.using import Translator
from heedful.train.report import Report
from heedful.verbs.scoring import score
from heedful.verbs.train import Result

__all__ = ["Compared", "compare"]


@dataclass(frozen=True)
class Compared:
    """Two models on the same sentences."""

    result: Result
    scores: dict[str, tuple[Score, Score]]
    """By the set: the score of the parent and that of the new model."""
    speed: tuple[float, float] = (0.0, 0.0)
    """Sentences a second of both, where they were measured."""
    parameters: tuple[int, int] = (0, 0)


def compare(
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
