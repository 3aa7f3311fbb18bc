"""`heedful evaluate`: how good a model is, and whether another one is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful import metrics
from heedful.data.reading import Source
from heedful.data.text import normalise
from heedful.errors import DataError
from heedful.metrics import Comparison, Score
from heedful.tasks.translation.using import EngineName, Note, Translator, logger
from heedful.verbs.scoring import score

if TYPE_CHECKING:
    from heedful.interchange.ctranslate2 import Compute

__all__ = ["Measurement", "evaluate"]


@dataclass(frozen=True)
class Measurement:
    """What was measured."""

    texts: list[str]
    scores: list[Score]
    perplexity: float
    """Of the references, a piece."""
    guarded: int
    """Lines a guard had to stop."""
    comparisons: list[Comparison] = field(default_factory=list)

    def lines(self) -> list[str]:
        """Put it into words."""
        out = [
            f"{s.name:<10} {s.value:6.2f}  [{s.low:.2f}, {s.high:.2f}]  {s.signature}"
            for s in self.scores
        ]
        out.append(f"perplexity {self.perplexity:6.2f}  a piece of the reference")
        if self.guarded:
            out.append(f"{self.guarded} of {len(self.texts)} lines were stopped by a guard")
        for c in self.comparisons:
            verdict = "significant" if c.p_value < 0.05 else "not significant"
            out.append(
                f"{c.name:<10} {c.system:6.2f} against {c.baseline:.2f}: {c.difference:+.2f}, "
                f"p = {c.p_value:.3f}, {verdict} (paired bootstrap)"
            )
        return out


def evaluate(
    model: Path,
    source: Path,
    reference: Path,
    compare: Path | None = None,
    changes: Mapping[str, Any] | None = None,
    tokenize: str | None = None,
    encoding: str = "utf-8",
    threads: int = 0,
    engine: EngineName = "auto",
    compute: Compute = "float32",
    note: Note = logger.info,
) -> Measurement:
    """Translate a file as a person would, and score it against the reference.

    With `compare` the other model translates the same lines, and a paired test says whether the
    difference could be chance.
    """
    # Two files line by line, whatever their names end in.
    both = Source("files", (source, reference), None, encoding)
    pairs = [(s, t) for _, s, t in both.pairs()]
    if not pairs:
        raise DataError(f"{source} has no lines; give the text to translate")
    how: dict[str, Any] = {"workers": threads, "engine": engine, "compute": compute, "note": note}
    translator = Translator.load(model, **how)
    decode = translator.decoding(**(changes or {}))
    scored = score(translator, pairs, decode, tokenize)
    given, wanted = [s for s, _ in pairs], [normalise(t) for _, t in pairs]
    logp = translator.score(given, wanted)
    comparisons: list[Comparison] = []
    if compare is not None:
        other = Translator.load(compare, **how)
        others = score(other, pairs, other.decoding(**(changes or {})), tokenize)
        language = translator.settings.target
        comparisons = metrics.compare(
            scored.texts, others.texts, wanted, language, tokenize=tokenize
        )
    return Measurement(
        scored.texts,
        scored.scores,
        metrics.perplexity(-sum(p for p, _ in logp), sum(n for _, n in logp)),
        scored.guarded,
        comparisons,
    )
