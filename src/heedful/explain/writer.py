"""The tensors of one pass as lists: rounded, and bounded in number."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor

from heedful.errors import ConfigError
from heedful.explain.capture import AttentionPass, Captured, Sublayer
from heedful.models.transformer import Transformer
from heedful.nn.positions import Learned

__all__ = ["Extent", "Names", "Writer", "leave_out"]

TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
TOP, LENS = 10, 3
PIECES = 200
"""Pieces of each side that are shown: nobody reads a page of more."""
NUMBERS = 1_500_000
"""Numbers of vectors in one trace, about ten megabytes of JSON."""
POSITIONS = 1000
"""The most rows of the position encoding one may ask for: ten megabytes for a wide model."""

LEFT_OUT = {
    "pieces": "of {0} source and {1} target pieces the first {2} and {3} are shown",
    "vectors": "the vectors (queries, keys, values and what became of them): too many for one "
    "trace; choose fewer layers or a shorter sentence",
    "saliency": "the saliency: it is worked out for at most {0} pieces",
    "parts": "the text has {0} parts that are translated by themselves; the first is shown",
}
"""What may be left out of a trace; the page says the same in each of its languages."""


def leave_out(chosen: dict[str, Any], kind: str, *values: int) -> None:
    """Note that something is left out of a trace: as a sentence, and as its kind and numbers."""
    chosen["left_out"].append(LEFT_OUT[kind].format(*values))
    chosen["left_out_kinds"].append([kind, *values])


Names = Callable[[int], str]
"""From an id to its piece."""


@dataclass(frozen=True)
class Extent:
    """What of a pass is wanted; it bounds the size of the result."""

    layers: Sequence[int] | None = None
    """Of both stacks; each takes those it has."""
    heads: Sequence[int] | None = None
    values: bool = True
    """Whether vectors (queries, keys, values, residuals) are wanted, and not only weights."""
    decimals: int = 4
    positions: int = 50
    """Rows of the position encoding, or as many as the sentence is long where that is more."""

    def within(self, model: Transformer) -> tuple[list[int], list[int], list[int]]:
        """Give the layers of encoder and decoder and the heads; one that is not there is an error.

        So is a number out of range.
        """
        counts = (model.settings.encoder_layers, model.settings.decoder_layers)
        layers = _numbers("layer", self.layers, max(counts))
        heads = _numbers("head", self.heads, model.settings.n_heads)
        encoder, decoder = ([one for one in layers if one < count] for count in counts)
        if not 0 <= self.decimals <= 8:
            raise ConfigError(f"decimals = {self.decimals}; expected 0 to 8")
        if not 1 <= self.positions <= POSITIONS:
            raise ConfigError(f"positions = {self.positions}; expected 1 to {POSITIONS}")
        return encoder, decoder, heads


def _numbers(what: str, wanted: Sequence[int] | None, count: int) -> list[int]:
    chosen = range(count) if wanted is None else sorted(set(wanted))
    for one in chosen:
        if not 0 <= one < count:
            raise ConfigError(f"{what} {one} is not in this model; choose from 0 to {count - 1}")
    return list(chosen)


class Writer:
    """Turns the tensors of one pass into lists, rounded, cut where they are too many."""

    def __init__(self, model: Transformer, found: Captured, extent: Extent, sizes: tuple[int, int]):
        self.model, self.found, self.decimals = model, found, extent.decimals
        self.encoder_layers, self.decoder_layers, self.heads = extent.within(model)
        self.source, self.target = sizes
        self.chosen: dict[str, Any] = {"left_out": [], "left_out_kinds": []}
        s, t = min(self.source, PIECES), min(self.target, PIECES)
        if (s, t) != sizes:
            leave_out(self.chosen, "pieces", *sizes, s, t)
        self.values = extent.values and self._affordable((s, t) == sizes)
        self.shown = {"encoder": s, "decoder": t}
        self.rows = max(extent.positions, s, t)

    def _affordable(self, whole: bool) -> bool:
        m = self.model.settings
        wide = 5 * m.d_model + 3 * m.n_heads * (m.d_head or m.d_model // m.n_heads)
        rows = len(self.encoder_layers) * self.source
        rows += 2 * len(self.decoder_layers) * max(self.source, self.target)
        if whole and rows * wide <= NUMBERS:
            return True
        leave_out(self.chosen, "vectors")
        return False

    def numbers(self, tensor: Tensor) -> Any:
        """Round; -0.0 would only puzzle a reader."""
        rounded = tensor.detach().double().cpu().mul(10**self.decimals).round()
        return rounded.div(10**self.decimals).add(0.0).tolist()

    def number(self, value: float) -> float:
        """Round one number the same way."""
        return round(float(value), self.decimals) + 0.0

    def attentions(self) -> list[dict[str, Any]]:
        """Give every chosen attention: weights, and where they are wanted the vectors."""
        kinds = [("encoder", "encoder", "attention", i, 0) for i in self.encoder_layers]
        kinds += [("decoder", "decoder", "attention", i, 0) for i in self.decoder_layers]
        kinds += [("cross", "decoder", "cross", i, 1) for i in self.decoder_layers]
        return [self._attention(*kind) for kind in kinds]

    def _attention(self, kind: str, part: str, name: str, layer: int, order: int) -> dict[str, Any]:
        seen = self.found.attentions[f"{part}.layers.{layer}.{name}"]
        rows = self.shown[part]
        columns = self.shown["decoder" if kind == "decoder" else "encoder"]
        weights = seen.weights[0, :, :rows, :columns]
        heads = []
        for head in self.heads:
            one: dict[str, Any] = {"head": head, "weights": self.numbers(weights[head])}
            if self.values:
                one |= {
                    "q": self.numbers(seen.q[0, head]),
                    "k": self.numbers(seen.k[0, head]),
                    "v": self.numbers(seen.v[0, head]),
                    "scores": self.numbers(seen.scores[0, head]),
                    "output": self.numbers(seen.output[0, head]),
                }
            heads.append(one)
        found: dict[str, Any] = {"kind": kind, "layer": layer, "heads": heads}
        if self.values:
            steps = self.found.sublayers[f"{part}.layers.{layer}"]
            found |= self._around(seen, steps, order)
        return found

    def _around(self, seen: AttentionPass, steps: list[Sublayer], order: int) -> dict[str, Any]:
        """Give the vectors before and after the heads, up to the input of the next sublayer."""
        here, following = steps[order], steps[order + 1]
        pre = self.model.settings.norm == "pre"
        norm = following.norm if pre else here.norm
        keep = None
        if seen.keep is not None and not bool(seen.keep.all()):
            size = (seen.q.size(2), seen.k.size(2))
            keep = seen.keep[0, 0].expand(size).tolist()
        with torch.no_grad():
            return {
                "input": self.numbers((here.norm(here.before) if pre else here.before)[0]),
                "keep": keep,
                "concatenated": self.numbers(seen.module.join(seen.output)[0]),
                "projected": self.numbers(here.change[0]),
                "residual_in": self.numbers(here.before[0]),
                "residual_out": self.numbers(here.sum[0]),
                "normed": self.numbers(norm(here.sum)[0]),
                "norm": {
                    "weight": self.numbers(norm.weight),
                    "bias": self.numbers(norm.bias),
                    "epsilon": norm.eps,
                },
            }

    def sublayers(self) -> list[dict[str, Any]]:
        """Give the norms of each sublayer's change and sum, and the share of active units."""
        found = []
        for part, layers in (("encoder", self.encoder_layers), ("decoder", self.decoder_layers)):
            names = ["attention", *(["cross"] if part == "decoder" else []), "feed_forward"]
            for layer in layers:
                path, rows = f"{part}.layers.{layer}", self.shown[part]
                for name, step in zip(names, self.found.sublayers[path], strict=True):
                    one = {
                        "part": part,
                        "layer": layer,
                        "name": name,
                        "change": self.numbers(step.change[0, :rows].norm(dim=-1)),
                        "residual": self.numbers(step.sum[0, :rows].norm(dim=-1)),
                    }
                    if name == "feed_forward":
                        inner = self.found.outputs[f"{path}.feed_forward.inner"][0, :rows]
                        one["active"] = self.numbers((inner > 0).double().mean(-1))
                    found.append(one)
        return found

    def positions(self) -> dict[str, Any]:
        """Give the encoding of each position; a learned table may end before what was asked for."""
        positions = self.model.positions
        rows = self.rows
        if isinstance(positions, Learned):
            rows = min(rows, len(positions.weight))
        return {"rows": self.numbers(positions(0, rows, self.model.output_weight))}

    def embeddings(self) -> dict[str, Any]:
        """Give the norm of each embedding before and after its position was added."""
        found: dict[str, Any] = {}
        scale = math.sqrt(self.model.settings.d_model)
        for side, part, looked_up in zip(
            ("source", "target"), ("encoder", "decoder"), self.found.embedded, strict=True
        ):
            plain = looked_up[0, : self.shown[part]] * scale
            placed = plain + self.model.positions(0, len(plain), plain)
            found[side] = {
                "before": self.numbers(plain.norm(dim=-1)),
                "after": self.numbers(placed.norm(dim=-1)),
            }
            if self.values:
                found[side]["values"] = self.numbers(plain)
        return found

    def lens(self, name: Names) -> list[Any]:
        """Give what the output layer would have predicted after each decoder layer."""
        layers = []
        with torch.no_grad():
            for layer in range(self.model.settings.decoder_layers):
                states = self.found.outputs[f"decoder.layers.{layer}"]
                states = self.model.decoder.norm(states[:, : self.shown["decoder"]])
                steps = []
                for shares in self.model.logits(states)[0].softmax(-1):
                    top = shares.topk(LENS).indices
                    steps.append(
                        [{"piece": name(int(i)), "p": self.number(shares[i])} for i in top]
                    )
                layers.append(steps)
        return layers

    def steps(self, logits: Tensor, taken: list[int], name: Names) -> list[dict[str, Any]]:
        """Give the prediction of each step, exact at any of the listed temperatures."""
        found = []
        for row, word in zip(logits[: self.shown["decoder"]].double(), taken, strict=False):
            logp = row.log_softmax(-1)
            top = row.topk(TOP)
            others = row.clone()
            others[top.indices] = -math.inf
            known = logp.isfinite()
            found.append(
                {
                    "piece": name(word),
                    "logp": self.number(logp[word]),
                    "entropy": self.number(-(logp[known].exp() * logp[known]).sum()),
                    "top": [
                        {
                            "piece": name(int(i)),
                            "logit": self.number(row[i]),
                            "logp": self.number(logp[i]),
                        }
                        for i in top.indices
                    ],
                    "rest": {
                        f"{t:g}": self.number((others / t).logsumexp(-1)) for t in TEMPERATURES
                    },
                }
            )
        return found
