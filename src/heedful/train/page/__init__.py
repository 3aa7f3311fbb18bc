"""`report.html`: a training as one page that needs nothing else, kept beside its log."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from importlib import resources
from pathlib import Path
from typing import Any

from heedful import files
from heedful.data.findings import KINDS, KOREAN, told_places

POINTS = 1500
"""Lines of the log drawn at most; of a longer one every n-th."""

NOTED = ("kind", "step", "from", "found", "loss", "usual", "text")
"""What the page reads of a record it tells in words."""


def write_page(
    path: Path,
    log: Path,
    name: str,
    state: Mapping[str, Any],
    settings: Mapping[str, Any],
    findings: Mapping[str, Any] | None,
    parameters: int,
    verdict: Mapping[str, Any] | None = None,
) -> None:
    """Write the page of a run from its log, its state, its settings and the data report.

    `verdict` are the facts of the verdict, once it has been reached.
    """
    records = [json.loads(line) for line in log.read_text(encoding="utf-8").split("\n") if line]
    steps = [r for r in records if r["kind"] == "step"]
    evaluations = [r for r in records if r["kind"] == "look"]
    every = -(-len(steps) // POINTS) or 1
    score = next(iter(evaluations[0]["figures"]), "") if evaluations else ""
    speed = next((key for key in (steps or [{}])[0] if key.endswith("s_per_second")), "")
    notes = [r for r in records if r["kind"] in ("rollback", "spike", "note")]
    facts = {
        "name": name,
        "status": state["why"] or "running",
        "step": state["step"],
        "best": state["best"] if evaluations else None,
        "score": score,
        "seconds": state["spent"],
        "count": state["count"],
        "unit": speed.removesuffix("_per_second"),
        "parameters": parameters,
        "notes": [{key: r[key] for key in NOTED if key in r} for r in notes[-20:]],
        "rollbacks": [r["from"] for r in records if r["kind"] == "rollback"],
        "steps": [{k: v for k, v in s.items() if k not in ("kind", "at")} for s in steps[::every]],
        "evaluations": evaluations,
        "settings": settings,
        "findings": _findings(findings) if findings and "problems" in findings else None,
        "verdict": verdict,
    }
    # In a script element nothing but "<" can end it, or begin a comment.
    data = json.dumps(_finite(facts), ensure_ascii=False).replace("<", "\\u003c")
    page = resources.files(__package__).joinpath("report.html").read_text(encoding="utf-8")
    start, end = page.split('type="application/json">{}<')
    files.write(path, f'{start}type="application/json">{data}<{end}')


def _finite(value: Any) -> Any:
    """Put null where JSON has no number: NaN and the infinities."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {key: _finite(inner) for key, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value


def _findings(findings: Mapping[str, Any]) -> dict[str, Any]:
    """Give what the doctor found, in both languages of the page."""
    problems = findings["problems"]
    places = told_places([(problem["lines"], problem["count"]) for problem in problems])
    told = [
        {
            "what": {"en": KINDS[problem["kind"]][0], "ko": KOREAN[problem["kind"]]},
            "count": problem["count"],
            "where": where,
        }
        for problem, where in zip(problems, places, strict=True)
    ]
    return {"pairs": findings["pairs"], "kept": findings["kept"], "problems": told}
