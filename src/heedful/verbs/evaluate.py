"""`heedful evaluate`: how good a model is, and whether another one is better."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from heedful import config, metrics
from heedful.errors import ConfigError, DataError
from heedful.metrics import Comparison, Score, bootstrap
from heedful.models.folder import Folder
from heedful.settings import Table
from heedful.tasks import registry
from heedful.tasks.contract import Columns, How, Task

logger = logging.getLogger("heedful")


@dataclass(frozen=True)
class Measurement:
    """What was measured."""

    outputs: list[Any]
    """What the model said, row by row."""
    scores: list[Score]
    figures: dict[str, float]
    """Further figures by name, such as the perplexity."""
    notes: Sequence[str] = ()
    counted: Mapping[str, str] = field(default_factory=dict)
    """What those figures are counted by, in words."""
    comparisons: list[Comparison] = field(default_factory=list)

    @property
    def texts(self) -> list[Any]:
        """What the model said, as lines."""
        return self.outputs

    @property
    def perplexity(self) -> float:
        """Of what is right, a piece; infinite where the task has none."""
        return self.figures.get("perplexity", float("inf"))

    def lines(self) -> list[str]:
        """Put it into words."""
        out = [
            f"{s.name:<10} {s.value:6.2f}  [{s.low:.2f}, {s.high:.2f}]  {s.signature}"
            for s in self.scores
        ]
        out += [
            f"{name:<10} {value:6.2f}  {self.counted.get(name, '')}".rstrip()
            for name, value in self.figures.items()
        ]
        out += self.notes
        for c in self.comparisons:
            verdict = "significant" if c.p_value < 0.05 else "not significant"
            out.append(
                f"{c.name:<10} {c.system:6.2f} against {c.baseline:.2f}: {c.difference:+.2f}, "
                f"p = {c.p_value:.3f}, {verdict} (paired bootstrap)"
            )
        return out

    def facts(self) -> dict[str, Any]:
        """Give it as one JSON object: each score and figure by its name, intervals beside."""
        named = {one.name: one.value for one in self.scores} | self.figures
        return {
            **named,
            "interval": {one.name: [one.low, one.high] for one in self.scores},
            "signature": {one.name: one.signature for one in self.scores},
            "examples": len(self.outputs),
            "notes": list(self.notes),
            "comparisons": [asdict(one) for one in self.comparisons],
        }


def evaluate(
    model: Path,
    *data: Path,
    compare: Path | None = None,
    columns: Columns | None = None,
    encoding: str = "utf-8",
    threads: int = 0,
    engine: str = "auto",
    compute: str = "float32",
    simple: bool = False,
    note: Callable[[str], object] = logger.info,
    **options: Any,
) -> Measurement:
    """Have a model answer data as it would answer a person, and compare with what is right.

    With `compare` the other model answers the same, and a paired test says whether the difference
    could be chance. `simple` scores the simple thing beside the model in its place. Further options
    are the task's own.
    """
    task, how = registry.of_folder(model), How(engine, compute, threads, simple, note)
    checked = own_options(task, "evaluate", options)
    task.check_columns(columns)
    rows = (task.evaluated or task.rows)(data, columns, encoding)
    if not rows:
        raise DataError(f"{data[0]} has no lines; give examples to answer")
    used = task.open(model, how)
    settings = Folder.open(model, task.settings).settings
    answers = task.answer(used, rows, checked)
    judged = task.judge(answers, rows, settings, checked)
    comparisons: list[Comparison] = []
    if compare is not None:
        if (name := registry.of_folder(compare).name) != task.name:
            raise DataError(f"{compare} is a model for the task {name}, {model} for {task.name}")
        other = task.open(compare, how)
        others = task.judge(task.answer(other, rows, checked), rows, settings, checked)
        comparisons = [bootstrap.compare(a, b) for a, b in zip(judged, others, strict=True)]
    return Measurement(
        answers.outputs,
        [metrics.scored(one) for one in judged],
        {} if simple else task.measure(used, rows),
        answers.notes,
        task.figures,
        comparisons,
    )


def own_options(task: Task, command: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """Check the options of a task for a generic command; what is not given is left out."""
    kind = task.options.get(command, Table)
    given = {name: value for name, value in given.items() if value is not None}
    if wrong := sorted(set(given) - set(kind.model_fields)):
        raise ConfigError(
            f"{command} has no option {wrong[0]} for the task {task.name}; expected "
            f"{', '.join(kind.model_fields) or 'none'}; files are given by place"
        )
    return config.part(kind, given, "--").model_dump(exclude_none=True)
