"""Made traces of models of one stack: what the rest of the family will show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from made_trace import (
    LAYERS,
    SOURCE,
    D,
    Small,
    items,
    lengths,
    lens_of,
    rounded,
    sinusoid,
    spans,
    steps_of,
    text,
)

Made = dict[str, Any]
CLASSES = ["cat", "dog", "boat"]
TAGS = ["O", "B-animal", "B-place"]


def one_stack(stack: str, reads: str, many: list[Made], causal: bool, kind: str) -> Made:
    """A trace with one stream and no positions, of which the rest is said by the functions below.

    The choices of its output are among `CLASSES`, `TAGS`, or the pieces that are read.
    """
    name = {"text": "text", "picture": "picture", "series": "series"}[reads]
    small = Small("pre", "scaled", True, {stack: (stack, name, name, causal)})
    plain = np.array([small.draw(D) * 3 for _ in many])
    states = small.stack(stack, plain, None)
    output: Made = {"kind": kind, "stream": name, "stack": stack}
    if kind == "forecast":
        ahead = [f"2026-11-{day:02d}" for day in (21, 22, 23)]
        output |= {"times": ahead, "values": [1.5, 2.5, 2.0]}
        output |= {"quantiles": {"0.1": [1.0, 1.5, 1.0], "0.9": [2.0, 3.5, 4.0]}}
    else:
        pieces = sorted({*SOURCE, "</s>"})
        names = {"class": CLASSES, "tag": TAGS}.get(kind, pieces)
        places = {"class": [0], "tag": [0, 1, 4], "masked-piece": [2, 6]}
        at = places.get(kind, list(range(len(many))))
        table = small.draw(D, len(names)) * 2
        ones = np.eye(len(names))[[i % len(names) for i in range(len(at))]]
        taken = [names[int(row.argmax())] for row in ones]
        output["steps"] = steps_of(states[-1][at] @ table + 5 * ones, taken, names, at)
        output["lens"] = lens_of([each[at] for each in states], table, names, ones)
    return {
        "schema": "heedful.trace/2",
        "model": small.model(),
        "stacks": [{"name": stack, "stream": name, "layers": LAYERS}],
        "streams": [{"name": name, "reads": reads, "text": "what it is called", "items": many}],
        "chosen": {"layers": {stack: [0, 1]}, "heads": [0, 1], "values": True}
        | {"left_out": [], "left_out_kinds": []},
        "positions": [],
        "embeddings": {name: lengths(plain, plain)},
        "attentions": small.attentions,
        "sublayers": small.sublayers,
        "outputs": [output],
    }


def of_text(stack: str, causal: bool, kind: str) -> Made:
    made = one_stack(stack, "text", items(["<s>", *SOURCE]), causal, kind)
    made["streams"][0] |= {"text": text(SOURCE), "lang": "en", "words": spans(["<s>", *SOURCE])}
    rows = rounded(sinusoid(50))
    made["positions"] = [{"streams": ["text"], "kind": "interleaved", "rows": rows}]
    return made


def of_picture() -> Made:
    patches = [{"kind": "patch", "box": [8 * x, 8 * y, 8, 8]} for y in range(2) for x in range(3)]
    made = one_stack("encoder", "picture", [*items(["<cls>"]), *patches], False, "class")
    made["streams"][0]["picture"] = {"width": 24, "height": 16}
    made["positions"] = [{"streams": ["picture"], "kind": "learned", "rows": rounded(sinusoid(7))}]
    return made


def of_series() -> Made:
    steps = [{"kind": "step", "time": f"2026-11-{day:02d}", "values": [day]} for day in range(1, 9)]
    return one_stack("encoder", "series", steps, False, "forecast")


FAMILY: dict[str, Callable[[], Made]] = {
    "language-model": lambda: of_text("decoder", True, "next-piece"),
    "masked-language-model": lambda: of_text("encoder", False, "masked-piece"),
    "classification": lambda: of_text("encoder", False, "class"),
    "tagging": lambda: of_text("encoder", False, "tag"),
    "image-classification": of_picture,
    "forecasting": of_series,
}
