"""Whether a translation model is better than the nearest training sentence."""

from __future__ import annotations

from collections.abc import Sequence

from heedful.data.corpus import Pair, number_of
from heedful.data.text import normalise
from heedful.metrics import Verdict
from heedful.metrics.text import judged

__all__ = ["APART", "TEST", "apart", "verdict"]

TEST = "test set"
APART = "part of the development set that chose nothing"


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


def verdict(
    references: Sequence[str],
    translations: Sequence[str],
    nearest: Sequence[str],
    language: str,
    where: str,
    name: str,
    fit_seconds: float | None = None,
    answer_seconds: float | None = None,
    remedy: str = "",
) -> Verdict:
    """Judge a model's translations beside the simple thing's, by the language's leading score.

    `name` is `NearestSentence.name`, and `where` is `TEST` or `APART`.
    """
    wanted = [normalise(reference) for reference in references]
    model, simple = (next(judged(texts, wanted, language)) for texts in (translations, nearest))
    return Verdict.of(
        model,
        simple,
        simple_name=name,
        where=where,
        fit_seconds=fit_seconds,
        answer_seconds=answer_seconds,
        remedy=remedy,
    )
