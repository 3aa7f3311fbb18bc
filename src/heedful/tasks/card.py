"""The model card: the README.md of a model folder, for whoever is handed the folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from heedful import __version__
from heedful.tasks.contract import Task

SETS = {"dev": "the development set", "test": "the test set"}


def card(task: Task, settings: Any, facts: Mapping[str, Any]) -> str:
    """Write the model card: what the model is, what it was made from, and how far to trust it.

    `facts` are what only the training knows: `name` of the folder, `parameters`; `scores`, for each
    set of examples a list of scores, each the fields of `metrics.Score`; the `verdict` in words;
    anything else, such as `pairs` or `minutes`, is a row of the training table, in its order.
    """
    facts = {"seed": settings.train.seed, **facts}
    name, scores = facts.pop("name", None), facts.pop("scores", {})
    verdict, parameters = facts.pop("verdict", ""), facts.pop("parameters", None)
    words = task.words(settings)
    folder = name or "FOLDER"
    lines = [
        f"# {name or f'A {task.name} model'}",
        "",
        f"{words.sentence or f'A model for {task.name}'}, trained with Heedful {__version__}.",
        "",
        "```",
        task.try_it.format(shlex.quote(folder)),
        "```",
        "",
        "```python",
        "import heedful",
        f"model = heedful.load({json.dumps(folder, ensure_ascii=False)})",
        *([words.python] if words.python else []),
        "```",
        "",
        "## Training",
        "",
        *_table((words.labels.get(k, k.replace("_", " ")), v) for k, v in facts.items()),
        "",
        "## Sizes",
        "",
        *_table({"parameters": parameters, **words.sizes}.items()),
        "",
        "## Scores",
        "",
    ]
    for where, found in scores.items():
        lines += [f"On {SETS.get(where, where)}:", "", *_scores(found), ""]
    if not scores:
        lines += ["None yet.", ""]
    if verdict:
        lines += ["## Is something simpler as good?", "", verdict, ""]
    return "\n".join([*lines, *(["## Limits", "", words.limits, ""] if words.limits else [])])


def _scores(scores: Iterable[Mapping[str, Any]]) -> list[str]:
    rows = ["| score | value | 95 % interval | how it was counted |", "| - | - | - | - |"]
    for score in scores:
        low, high = score["low"], score["high"]
        interval = "not computed" if low is None or high is None else f"{low:.1f} to {high:.1f}"
        signature = score["signature"].replace("|", "\\|")  # a bare one would end the cell
        rows.append(f"| {score['name']} | {score['value']:.1f} | {interval} | {signature} |")
    return rows


def _table(rows: Iterable[tuple[str, Any]]) -> list[str]:
    """Show what is known; a seed is a name more than a number."""
    shown = ["| | |", "| - | - |"]
    for name, value in rows:
        if isinstance(value, float):
            value = f"{value:,.1f}"
        elif isinstance(value, int) and name != "seed":
            value = f"{value:,}"
        if value is not None:
            shown.append(f"| {name} | {value} |")
    return shown
