"""The model card: the README.md of a model folder, for whoever is handed the folder."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterable, Mapping
from typing import Any

from heedful import __version__
from heedful.tasks.translation.settings import Settings

__all__ = ["card"]

LABELS = {
    "pairs": "sentence pairs",
    "dropped_pairs": "pairs left out by the data check",
    "dev_pairs": "development pairs",
    "perplexity": "development perplexity",
}
SETS = {"dev": "the development set", "test": "the test set"}

LIMITS = """\
It knows only what its training pairs showed it: text of another kind, names and numbers it has not
seen, and sentences longer than those it was trained on come out worse than the scores say. It
translates sentence by sentence and sees nothing of the sentences around. Fluent output can be
wrong, and biases of the data are biases of the model. Have a person check what matters."""


def card(settings: Settings, facts: Mapping[str, Any]) -> str:
    """Write the model card: what the model is, what it was made from, and how far to trust it.

    `facts` are what only the training knows: `name` of the folder, `parameters`, `vocabulary`;
    `scores`, for each set of sentences a list of scores, each the fields of `metrics.Score`;
    anything else, such as `pairs` or `minutes`, is a row of the training table, in its order.
    """
    facts = {"seed": settings.train.seed, **facts}
    name, scores = facts.pop("name", None), facts.pop("scores", {})
    source, target = (
        "a language not named" if code == "und" else f"`{code}`"
        for code in (settings.source, settings.target)
    )
    s = settings.model
    sizes = {
        "parameters": facts.pop("parameters", None),
        "vocabulary": facts.pop("vocabulary", None),
        "layers": f"{s.encoder_layers} + {s.decoder_layers}, {s.norm}-norm",
        "d_model, d_ff, heads": f"{s.d_model}, {s.d_ff}, {s.n_heads}",
    }
    lines = [
        f"# {name or 'A translation model'}",
        "",
        f"A Transformer for {settings.task}, from {source} into {target}, trained with "
        f"Heedful {__version__}.",
        "",
        "```",
        f'heedful translate {shlex.quote(name or "FOLDER")} "..."',
        "```",
        "",
        "```python",
        "from heedful import Translator",
        f"translator = Translator.load({json.dumps(name or 'FOLDER', ensure_ascii=False)})",
        'print(translator.translate(["..."]))',
        "```",
        "",
        "## Training",
        "",
        *_table((LABELS.get(k, k.replace("_", " ")), v) for k, v in facts.items()),
        "",
        "## Sizes",
        "",
        *_table(sizes.items()),
        "",
        "## Scores",
        "",
    ]
    for where, found in scores.items():
        lines += [f"On {SETS.get(where, where)}:", "", *_scores(found), ""]
    if not scores:
        lines += ["None yet.", ""]
    return "\n".join([*lines, "## Limits", "", LIMITS, ""])


def _scores(scores: Iterable[Mapping[str, Any]]) -> list[str]:
    rows = ["| score | value | 95 % interval | sacreBLEU signature |", "| - | - | - | - |"]
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
