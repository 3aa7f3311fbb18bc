"""What happened in a pass, as data: the JSON that docs/trace.md describes.

`capture` records the pass, `beams` the search; here and in `writer` both become plain lists.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from heedful.explain.alignment import Alignment, align, word_spans
from heedful.explain.beams import Tree
from heedful.explain.capture import Captured, pass_over
from heedful.explain.saliency import saliency
from heedful.explain.writer import Extent, Names, Writer, leave_out
from heedful.models.transformer import Transformer

__all__ = ["SCHEMA", "Attended", "attended", "trace"]

SCHEMA = "heedful.trace/1"
SALIENT = 64
"""Pieces up to which the saliency is computed: each step costs a backward pass."""


@dataclass(frozen=True)
class Attended:
    """The weights of all heads for one sentence and its translation; layer, head, query, key."""

    source: list[str]
    """Source pieces, the end symbol included."""
    target: list[str]
    """Target pieces as the decoder read them: the start symbol first."""
    encoder: Tensor
    decoder: Tensor
    cross: Tensor

    @property
    def alignment(self) -> Alignment:
        """The words of the target, each with the source word it looked most at."""
        return align(self.cross, self.source, [*self.target[1:], "</s>"])


def attended(
    model: Transformer, source: list[int], target: list[int], pieces: list[list[str]]
) -> Attended:
    """Run one pass over a source and its target, and give all its attention weights.

    `source` is without the end symbol, `target` without start and end; `pieces` are the names of
    both, in the same way.
    """
    found, _ = pass_over(model, source, target)
    s = model.settings
    return Attended(
        [*pieces[0], "</s>"],
        ["<s>", *pieces[1]],
        _weights(found, "encoder", "attention", s.encoder_layers),
        _weights(found, "decoder", "attention", s.decoder_layers),
        _weights(found, "decoder", "cross", s.decoder_layers),
    )


def _weights(found: Captured, part: str, name: str, layers: int) -> Tensor:
    names = [f"{part}.layers.{i}.{name}" for i in range(layers)]
    return torch.stack([found.attentions[n].weights[0].cpu() for n in names])


def trace(
    model: Transformer,
    source: list[int],
    target: list[int],
    names: tuple[Names, Names],
    texts: tuple[str, str],
    about: dict[str, Any],
    extent: Extent,
    tree: Tree | None,
) -> dict[str, Any]:
    """Run a pass over a source and its target and give everything that happened in it.

    `names` turn the ids of each side into pieces; `about` is what the caller knows of the model
    (its name and languages); `tree` is the search that found the target, if there was one.
    """
    found, logits = pass_over(model, source, target)
    ids = model.ids
    sizes = (len(source) + 1, len(target) + 1)
    writer = Writer(model, found, extent, sizes)
    name_source, name_target = names
    read = [*map(name_source, source), "</s>"]
    written = ["<s>", *map(name_target, target)]
    following = [*written[1:], "</s>"]
    cross = _weights(found, "decoder", "cross", model.settings.decoder_layers)
    s, t = writer.shown["encoder"], writer.shown["decoder"]
    data: dict[str, Any] = {
        "schema": SCHEMA,
        "model": about | _sizes(model),
        "source": {"text": texts[0], "pieces": read[:s], "words": word_spans(read[:s])},
        "target": {
            "text": texts[1],
            "pieces": written[:t],
            "next": following[:t],
            "words": word_spans(following[:t]),
            "given": tree is None,
        },
        "positions": writer.positions(),
        "embeddings": writer.embeddings(),
        "attentions": writer.attentions(),
        "sublayers": writer.sublayers(),
        "steps": writer.steps(logits, [*target, ids.eos], name_target),
        "beam": None if tree is None else tree.as_data(name_target, ids.eos),
        "lens": writer.lens(name_target),
        "saliency": _saliency(model, source, target, writer),
        "alignment": _alignment(
            align(cross[:, :, :t, :s], read[:s], following[:t]), writer.numbers
        ),
        "best_head": None,
    }
    data["chosen"] = {
        "encoder_layers": writer.encoder_layers,
        "decoder_layers": writer.decoder_layers,
        "heads": writer.heads,
        "values": writer.values,
        **writer.chosen,
    }
    return data


def _sizes(model: Transformer) -> dict[str, Any]:
    s, attention = model.settings, model.encoder.layers[0].attention
    return {
        "d_model": s.d_model,
        "d_ff": s.d_ff,
        "n_heads": s.n_heads,
        "d_head": attention.d_head,  # type: ignore[union-attr]
        "d_value": attention.d_value,  # type: ignore[union-attr]
        "encoder_layers": s.encoder_layers,
        "decoder_layers": s.decoder_layers,
        "norm": s.norm,
        "attention": s.attention,
        "positions": s.positions,
        "scale": attention.scale,  # type: ignore[union-attr]
        "vocabulary": model.ids.size,
        "parameters": model.parameters_total,
    }


def _saliency(
    model: Transformer, source: list[int], target: list[int], writer: Writer
) -> dict[str, Any] | None:
    if max(len(source), len(target)) > SALIENT:
        leave_out(writer.chosen, "saliency", SALIENT)
        return None
    of_source, of_target = saliency(model, source, target)
    return {"source": writer.numbers(of_source), "target": writer.numbers(of_target)}


def _alignment(found: Alignment, numbers: Callable[[Tensor], Any]) -> dict[str, Any]:
    matrix = numbers(found.matrix)
    words = []
    for index, row in enumerate(matrix):
        best = max(range(len(row)), key=row.__getitem__) if row else None
        words.append(
            {
                "target": index,
                "source": best,
                "confidence": 0.0 if best is None else row[best],
            }
        )
    return {"layer": found.layer, "words": words, "matrix": matrix}
