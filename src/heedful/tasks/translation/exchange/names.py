"""Names of an encoder-decoder's weights in Hugging Face's Marian and Pegasus and in ours."""

from __future__ import annotations

from collections.abc import Iterator

from heedful.interchange.weights import Row
from heedful.settings import ModelSettings

ATTENTION = {"query": "q_proj", "key": "k_proj", "value": "v_proj", "output": "out_proj"}
INNER = {"attention": "self_attn", "cross": "encoder_attn"}
NORMS = {
    "attention_norm": "self_attn_layer_norm",
    "cross_norm": "encoder_attn_layer_norm",
    "feed_forward_norm": "final_layer_norm",
}
FEED_FORWARD = {"inner": "fc1", "outer": "fc2"}


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
