"""Names of weights in Hugging Face's encoder-decoders and in ours: one table, read both ways.

Every tensor has to be in the table and the table has to find every tensor: one that is missing or
left over is an error that names it. The table also says which axes of a tensor run along the
residual stream: those are permuted where the sinusoids are in another order.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import torch
from torch import Tensor

from heedful.errors import InterchangeError
from heedful.settings import ModelSettings

__all__ = ["Row", "from_theirs", "permutation", "table", "to_theirs"]

ATTENTION = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
INNER = {"attention": "self_attn", "cross": "encoder_attn"}
NORMS = {
    "attention_norm": "self_attn_layer_norm",
    "cross_norm": "encoder_attn_layer_norm",
    "feed_forward_norm": "final_layer_norm",
}
FEED_FORWARD = {"inner": "fc1", "outer": "fc2"}


@dataclass(frozen=True)
class Row:
    """One tensor: its name here, its name there, its axes that are d_model wide."""

    ours: str
    theirs: str
    axes: tuple[int, ...]


def table(s: ModelSettings) -> list[Row]:
    """Name every weight of a model of these sizes."""
    shared = "model.shared.weight" if s.share_embeddings else "model.decoder.embed_tokens.weight"
    rows = [Row("target_embedding.weight", shared, (1,))]
    if not s.share_embeddings:
        rows.append(Row("source_embedding.weight", "model.encoder.embed_tokens.weight", (1,)))
    if not s.share_output:
        rows.append(Row("output_weight", "lm_head.weight", (1,)))
    if s.output_bias:
        rows.append(Row("output_bias", "final_logits_bias", ()))
    for side, count in (("encoder", s.encoder_layers), ("decoder", s.decoder_layers)):
        for index in range(count):
            here, there = f"{side}.layers.{index}", f"model.{side}.layers.{index}"
            rows += [
                Row(f"{here}.{ours}", f"{there}.{theirs}", axes)
                for ours, theirs, axes in _layer(side == "decoder")
            ]
        if s.norm == "pre":
            rows += [
                Row(f"{side}.norm.{kind}", f"model.{side}.layer_norm.{kind}", (0,))
                for kind in ("weight", "bias")
            ]
    return rows


def _layer(decoder: bool) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    for own, foreign in INNER.items():
        if own == "cross" and not decoder:
            continue
        for ours, theirs in ATTENTION.items():
            out = ours == "output"  # it writes to the residual stream, the others read from it
            yield f"{own}.{ours}.weight", f"{foreign}.{theirs}.weight", (0,) if out else (1,)
            yield f"{own}.{ours}.bias", f"{foreign}.{theirs}.bias", (0,) if out else ()
    for ours, theirs in FEED_FORWARD.items():
        out = ours == "outer"
        yield f"feed_forward.{ours}.weight", f"{theirs}.weight", (0,) if out else (1,)
        yield f"feed_forward.{ours}.bias", f"{theirs}.bias", (0,) if out else ()
    for ours, theirs in NORMS.items():
        if ours == "cross_norm" and not decoder:
            continue
        for kind in ("weight", "bias"):
            yield f"{ours}.{kind}", f"{theirs}.{kind}", (0,)


def permutation(d_model: int) -> Tensor:
    """Give the order that turns sin, cos, sin, cos, ... into all sines, then all cosines."""
    return torch.cat([torch.arange(0, d_model, 2), torch.arange(1, d_model, 2)])


def to_theirs(
    weights: Mapping[str, Tensor], s: ModelSettings, order: Tensor | None = None
) -> dict[str, Tensor]:
    """Rename our weights; `order` permutes the residual stream."""
    rows = table(s)
    _complete(weights, [row.ours for row in rows], "this model", "Hugging Face")
    return {row.theirs: _permuted(weights[row.ours], row.axes, order) for row in rows}


def from_theirs(
    weights: Mapping[str, Tensor], s: ModelSettings, order: Tensor | None = None
) -> dict[str, Tensor]:
    """Rename weights of theirs; `order` is the permutation to undo."""
    rows = table(s)
    _complete(weights, [row.theirs for row in rows], "the file", "config.json")
    back = None if order is None else torch.argsort(order)
    return {row.ours: _permuted(weights[row.theirs], row.axes, back) for row in rows}


def _permuted(tensor: Tensor, axes: tuple[int, ...], order: Tensor | None) -> Tensor:
    if order is not None:
        for axis in axes:
            tensor = tensor.index_select(axis, order)
    return tensor.contiguous()


def _complete(weights: Mapping[str, Tensor], names: list[str], what: str, whose: str) -> None:
    missing = [name for name in names if name not in weights]
    unused = [name for name in weights if name not in names]
    for says, odd in (("lacks", missing), ("has, and nothing uses,", unused)):
        if odd:
            more = f" and {len(odd) - 1} more" if len(odd) > 1 else ""
            raise InterchangeError(
                f"{what} {says} {odd[0]}{more}, going by {whose}; nothing was made"
            )
