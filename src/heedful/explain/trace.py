"""What happened in a pass, as data: the JSON that docs/trace.md describes.

A task tells of the pass (`passes`), `capture` records it, `writer` turns it into plain lists.
"""

from __future__ import annotations

from typing import Any

from heedful.explain.capture import record
from heedful.explain.passes import Pass
from heedful.explain.saliency import saliency
from heedful.explain.writer import Extent, Writer

SCHEMA = "heedful.trace/2"
SALIENT = 64
"""Items up to which the saliency is computed: each step costs a backward pass."""


def trace(one: Pass, extent: Extent | None = None) -> dict[str, Any]:
    """Run a pass and give everything that happened in it; `extent` bounds the size of that."""
    found, logits = record(one.model, one.run, {stream.embedding for stream in one.streams})
    writer = Writer(one, found, extent or Extent())
    salient = None
    if one.output.taken:
        if max(len(stream.items) for stream in one.streams) > SALIENT:
            writer.leave_out("saliency", SALIENT)
        else:
            salient = saliency(one)
    left_out = [*writer.left_out, *one.left_out]
    return {
        "schema": SCHEMA,
        "model": writer.model(),
        "stacks": writer.stacks(),
        "streams": writer.streams(),
        "chosen": {
            "layers": writer.layers,
            "heads": writer.heads,
            "values": writer.values,
            "left_out": [sentence for sentence, _ in left_out],
            "left_out_kinds": [list(kind) for _, kind in left_out],
        },
        "positions": writer.positions(),
        "embeddings": writer.embeddings(),
        "attentions": writer.attentions(),
        "sublayers": writer.sublayers(),
        "outputs": [writer.output(logits, salient)],
        **one.more(writer),
    }
