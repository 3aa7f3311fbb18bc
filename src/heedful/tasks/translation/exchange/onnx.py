"""ONNX: the encoder, and the decoder's step with its cache, as two graphs for onnxruntime.

    encoder.onnx   source (B S), lengths (B)  ->  for each layer keys and values of the source
    decoder.onnx   words (B), position, lengths, past and source keys and values  ->  logits, past

The past is an input that is empty at the first step, and comes back one longer.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from heedful import files
from heedful.errors import InterchangeError
from heedful.models.folder import Folder
from heedful.models.transformer import Transformer
from heedful.nn import masks
from heedful.nn.cache import DecoderCache, Growing, LayerCache, Memory
from heedful.nn.layers import DecoderLayer
from heedful.nn.positions import Learned, sinusoid
from heedful.tasks.translation.model import load_model
from heedful.tasks.translation.settings import Settings

POSITIONS = 2048
"""Rows of the table of positions, which a graph cannot make longer."""


class _Graph(nn.Module):
    """A model with a table of positions, which becomes a constant of the graph."""

    table: Tensor

    def __init__(self, model: Transformer, table: Tensor) -> None:
        super().__init__()
        self.model = model
        self.register_buffer("table", table)


class _Encoder(_Graph):
    """Source ids in; the keys and values of the source for each decoder layer out."""

    def forward(self, source: Tensor, lengths: Tensor) -> tuple[Tensor, ...]:
        model = self.model
        keep = masks.padding(lengths, source.size(1))
        x = model.source_embedding(source) * model.settings.d_model**0.5
        states = model.encoder(x + self.table[: source.size(1)], keep)
        found: list[Tensor] = []
        for layer in model.decoder.layers:
            found += layer.cross.project(states)  # type: ignore[union-attr, operator]
        return tuple(found)


class _Step(_Graph):
    """One word a row in; the logits of the next, and the past with this word added, out."""

    def forward(
        self,
        words: Tensor,
        position: Tensor,
        lengths: Tensor,
        past: list[Tensor],
        seen: list[Tensor],
    ) -> tuple[Tensor, ...]:
        model = self.model
        x = model.target_embedding(words[:, None]) * model.settings.d_model**0.5
        x = x + self.table[position]
        keep = masks.padding(lengths, seen[0].size(2))
        own, source = [_Joined(table) for table in past], zip(seen[::2], seen[1::2], strict=True)
        cache = DecoderCache(0)
        cache.layers = [
            LayerCache(*tables) for tables in zip(own[::2], own[1::2], source, strict=True)
        ]
        states = model.decoder(x, None, Memory(x, keep), cache)
        logits = nn.functional.linear(states, model.output_weight, model.output_bias)
        return logits[:, 0], *(table.words for table in own)


class _Joined(Growing):
    """Keys or values of the words so far as one tensor: no graph can write into a buffer."""

    def __init__(self, words: Tensor) -> None:
        super().__init__()
        self.words = words

    def append(self, new: Tensor) -> Tensor:
        self.words = torch.cat([self.words, new], dim=2)
        return self.words


def write_onnx(folder: Folder[Settings], output: Path) -> None:
    """Write the two graphs, the pieces, and a JSON file of special ids, sizes and tensor names."""
    try:
        import onnx  # noqa: F401
        import onnxscript  # noqa: F401
    except ImportError as error:
        raise InterchangeError(
            f"{error.name} is not installed; pip install 'heedful[onnx]'"
        ) from error
    model = load_model(folder)
    s, ids = folder.settings.model, folder.ids
    if isinstance(model.positions, Learned):
        table = model.positions.weight.detach()
    else:
        table = sinusoid(POSITIONS, s.d_model, s.positions == "concatenated")
    first = model.decoder.layers[0]
    assert isinstance(first, DecoderLayer)
    head, value = first.attention.d_head, first.attention.d_value
    rows, size, before = 2, 5, 3
    widths = [head, value] * s.decoder_layers
    names = [f"{kind}_{i}" for i in range(s.decoder_layers) for kind in ("keys", "values")]
    seen_names, past_names, later_names = (
        [f"{what}_{name}" for name in names] for what in ("source", "past", "later")
    )
    lengths = torch.tensor([size, size - 2])
    source = torch.full((rows, size), ids.eos)
    past = [torch.zeros(rows, s.n_heads, before, w) for w in widths]
    seen = [torch.zeros(rows, s.n_heads, size, w) for w in widths]
    auto = torch.export.Dim.DYNAMIC
    with files.making(output) as made:
        _export(
            _Encoder(model, table),
            (source, lengths),
            made / "encoder.onnx",
            ["source", "lengths"],
            seen_names,
            ({0: auto, 1: auto}, {0: auto}),
        )
        _export(
            _Step(model, table),
            (torch.full((rows,), ids.start), torch.tensor(before), lengths, past, seen),
            made / "decoder.onnx",
            ["words", "position", "lengths", *past_names, *seen_names],
            ["logits", *later_names],
            (
                {0: auto},
                None,
                {0: auto},
                [{0: auto, 2: auto}] * len(past),
                [{0: auto, 2: auto}] * len(seen),
            ),
        )
        for name, data in folder.tokenizer.items():
            (made / name).write_bytes(data)
        description: dict[str, Any] = {
            "source": folder.settings.source,
            "target": folder.settings.target,
            "ids": ids.model_dump(),
            "layers": s.decoder_layers,
            "heads": s.n_heads,
            "d_head": head,
            "d_value": value,
            "positions": len(table),
            "past": past_names,
            "seen": seen_names,
        }
        (made / "heedful.json").write_text(
            json.dumps(description, indent=2) + "\n", encoding="utf-8"
        )


def _export(
    module: nn.Module,
    arguments: tuple[Any, ...],
    path: Path,
    inputs: list[str],
    outputs: list[str],
    shapes: tuple[Any, ...],
) -> None:
    torch.onnx.export(
        module.eval(),
        arguments,
        path,
        input_names=inputs,
        output_names=outputs,
        dynamic_shapes=shapes,
        dynamo=True,
        external_data=False,
        verbose=False,
    )
