"""The verdict: whether a model is better than the simple thing fitted on the same data.

It is a plain sentence with an interval, and the simple thing may win. It claims no more than was
measured, so with too few examples it says just that.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any, Literal

from heedful.metrics import bootstrap
from heedful.metrics.bootstrap import Judged

FEWEST = 6
"""If neither were better, five examples would all go the same way once in sixteen times: more often
than an interval of 95 % may be wrong. Six would, once in 32."""


@dataclass(frozen=True)
class Verdict:
    """A model and the simple thing on the same examples."""

    simple_name: str
    """What the simple thing is, in the words of the field."""
    metric: str
    model: float
    simple: float
    difference: float
    """The model's figure less the simple thing's."""
    low: float | None
    """Lower end of the 95 % interval of the difference; None with too few examples for one."""
    high: float | None
    higher_is_better: bool
    examples: int
    where: str
    """The examples both were judged on, such as "test set"; they must have chosen nothing."""
    signature: str
    fit_seconds: float | None = None
    """What fitting the simple thing took, where that is known."""
    answer_seconds: float | None = None
    """What its answers to these examples took."""
    remedy: str = ""
    """The command that uses the simple thing."""

    @classmethod
    def of(
        cls,
        model: Judged,
        simple: Judged,
        *,
        simple_name: str,
        where: str,
        fit_seconds: float | None = None,
        answer_seconds: float | None = None,
        remedy: str = "",
    ) -> Verdict:
        """Compare the answers of both to the same examples, by the paired bootstrap."""
        found = bootstrap.compare(model, simple)
        examples = len(model.rows)
        enough = examples >= FEWEST
        return cls(
            simple_name=simple_name,
            metric=found.name,
            model=found.system,
            simple=found.baseline,
            difference=found.difference,
            low=found.low if enough else None,
            high=found.high if enough else None,
            higher_is_better=model.higher_is_better,
            examples=examples,
            where=where,
            signature=model.signature,
            fit_seconds=fit_seconds,
            answer_seconds=answer_seconds,
            remedy=remedy,
        )

    @property
    def better(self) -> Literal["model", "simple", "neither", "unknown"]:
        """Which of them is better: "neither" if chance may have made the difference."""
        if self.low is None or self.high is None:
            return "unknown"
        if self.low <= 0 <= self.high:
            return "neither"
        return "model" if (self.low > 0) == self.higher_is_better else "simple"

    def sentence(self) -> str:
        """Say it in one plain sentence."""
        digits = 1 if max(abs(self.model), abs(self.simple)) >= 10 else 3
        difference = f"{self.difference:+.{digits}f}"
        if self.low is not None and self.high is not None:
            ends = f"{self.low:+.{digits}f} to {self.high:+.{digits}f}"
            difference += f", 95 % interval {ends}"
        use = f"use it ({self.remedy})" if self.remedy else "use it"
        judgement = {
            "model": "the Transformer is better",
            "simple": f"the simpler one is better; {use}",
            "neither": (
                "the simpler one is as good, as far as these tell: the difference may be chance; "
                f"{use}"
            ),
            "unknown": "too few to tell which is better",
        }[self.better]
        return (
            f"{self.simple_name}: {self.metric} {self.simple:.{digits}f} against the model's "
            f"{self.model:.{digits}f} ({difference}) on the {self.examples:,} "
            f"example{'s' * (self.examples != 1)} of the {self.where}: {judgement}"
        )

    def facts(self) -> dict[str, Any]:
        """Give all of it for JSON: for the run's files, the card and the report."""
        return {**asdict(self), "better": self.better, "sentence": self.sentence()}
