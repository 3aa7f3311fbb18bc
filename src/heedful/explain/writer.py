"""The tensors of one pass as lists: rounded, and bounded in number."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn

from heedful.errors import ConfigError
from heedful.explain.capture import AttentionPass, Captured, Sublayer
from heedful.explain.passes import Attends, Output, Pass, Stack, Stream
from heedful.nn.layers import Layer
from heedful.nn.positions import Learned, Positions

TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
TOP, LENS = 10, 3
ITEMS = 200
"""Items of each stream that are shown: nobody reads a page of more."""
NUMBERS = 1_500_000
"""Numbers of vectors in one trace, about ten megabytes of JSON."""
POSITIONS = 1000
"""The most rows of the position encoding one may ask for: ten megabytes for a wide model."""

LEFT_OUT = {
    "items": "of {1} items of the {0} the first {2} are shown",
    "vectors": "the vectors (queries, keys, values and what became of them): too many for one "
    "trace; choose fewer layers or a shorter sentence",
    "saliency": "the saliency: it is worked out for at most {0} items",
}
"""What may be left out of a trace; the page says the same in each of its languages."""


@dataclass(frozen=True)
class Extent:
    """What of a pass is wanted; it bounds the size of the result."""

    layers: Sequence[int] | None = None
    """Of all stacks; each takes those it has."""
    heads: Sequence[int] | None = None
    values: bool = True
    """Whether vectors (queries, keys, values, residuals) are wanted, and not only weights."""
    decimals: int = 4
    positions: int = 50
    """Rows of the position encoding, or as many as the longest stream has where that is more."""

    def __post_init__(self) -> None:
        """Refuse a number out of range."""
        if not 0 <= self.decimals <= 8:
            raise ConfigError(f"decimals = {self.decimals}; expected 0 to 8")
        if not 1 <= self.positions <= POSITIONS:
            raise ConfigError(f"positions = {self.positions}; expected 1 to {POSITIONS}")


def _numbers(what: str, wanted: Sequence[int] | None, count: int) -> list[int]:
    chosen = range(count) if wanted is None else sorted(set(wanted))
    for one in chosen:
        if not 0 <= one < count:
            raise ConfigError(f"{what} {one} is not in this model; choose from 0 to {count - 1}")
    return list(chosen)


def _clipped(about: Mapping[str, Any], shown: int) -> dict[str, Any]:
    """Leave the words that are shown."""
    if "words" not in about:
        return dict(about)
    words = [(first, min(end, shown)) for first, end in about["words"] if first < shown]
    return {**about, "words": words}


class Writer:
    """Turns the tensors of one pass into lists, rounded, cut where they are too many."""

    def __init__(self, one: Pass, found: Captured, extent: Extent) -> None:
        self.one, self.found, self.decimals = one, found, extent.decimals
        self.depths = {stack.name: len(self._layers(stack)) for stack in one.stacks}
        first = self._layers(one.stacks[0])[0]
        self.norm, self.attention = first.norm, first.attention
        self.inner = first.feed_forward.inner
        layers = _numbers("layer", extent.layers, max(self.depths.values()))
        self.layers = {s: [i for i in layers if i < depth] for s, depth in self.depths.items()}
        self.heads = _numbers("head", extent.heads, self.attention.n_heads)
        self.left_out: list[tuple[str, Sequence[Any]]] = []
        self.shown = {s.name: min(len(s.items), ITEMS) for s in one.streams}
        for stream in one.streams:
            if len(stream.items) > ITEMS:
                self.leave_out("items", stream.name, len(stream.items), ITEMS)
        self.values = extent.values and self._affordable()
        self.rows = max(extent.positions, *self.shown.values())

    def _layers(self, stack: Stack) -> list[Layer]:
        return list(self.one.model.get_submodule(stack.name).layers)  # type: ignore[arg-type]

    def leave_out(self, kind: str, *values: Any) -> None:
        """Note that something is left out: as a sentence, and as its kind and numbers."""
        self.left_out.append((LEFT_OUT[kind].format(*values), [kind, *values]))

    def _affordable(self) -> bool:
        a, sizes = self.attention, {s.name: len(s.items) for s in self.one.streams}
        wide = 5 * a.output.out_features + 3 * a.n_heads * a.d_head
        rows = sum(
            len(self.layers[stack.name]) * max(sizes[stack.stream], sizes[each.to])
            for stack in self.one.stacks
            for each in stack.attentions
        )
        if max(sizes.values()) <= ITEMS and rows * wide <= NUMBERS:
            return True
        self.leave_out("vectors")
        return False

    def numbers(self, tensor: Tensor) -> Any:
        """Round; -0.0 would only puzzle a reader."""
        rounded = tensor.detach().double().cpu().mul(10**self.decimals).round()
        return rounded.div(10**self.decimals).add(0.0).tolist()

    def number(self, value: float | Tensor) -> float:
        """Round one number the same way."""
        return round(float(value), self.decimals) + 0.0

    def model(self) -> dict[str, Any]:
        """Give the sizes of the model, which all its stacks share, and what is known beside."""
        a = self.attention
        return {
            **self.one.about,
            "d_model": a.output.out_features,
            "d_ff": self.inner.out_features,
            "n_heads": a.n_heads,
            "d_head": a.d_head,
            "d_value": a.d_value,
            "norm": self.norm,
            "attention": a.comparison,
            "scale": a.scale,
            "parameters": sum(p.numel() for p in self.one.model.parameters()),
        }

    def stacks(self) -> list[dict[str, Any]]:
        """Give each stack: what it reads, and how deep it is."""
        return [
            {"name": s.name, "stream": s.stream, "layers": self.depths[s.name]}
            for s in self.one.stacks
        ]

    def streams(self) -> list[dict[str, Any]]:
        """Give the items of each stream, and what it is."""
        return [
            {"name": s.name, "reads": s.reads, "text": s.text}
            | {"items": [dict(item) for item in s.items[: self.shown[s.name]]]}
            | _clipped(s.about, self.shown[s.name])
            for s in self.one.streams
        ]

    def attentions(self) -> list[dict[str, Any]]:
        """Give every chosen attention: weights, and where they are wanted the vectors."""
        return [
            self._attention(stack, each, layer)
            for stack in self.one.stacks
            for each in stack.attentions
            for layer in self.layers[stack.name]
        ]

    def _attention(self, stack: Stack, each: Attends, layer: int) -> dict[str, Any]:
        path = f"{stack.name}.layers.{layer}"
        seen = self.found.attentions[f"{path}.{each.sublayer}"]
        weights = seen.weights[0, :, : self.shown[stack.stream], : self.shown[each.to]]
        heads: list[dict[str, Any]] = [
            {"head": head, "weights": self.numbers(weights[head])} for head in self.heads
        ]
        found: dict[str, Any] = {"kind": each.kind, "stack": stack.name, "layer": layer}
        found |= {"from": stack.stream, "to": each.to, "causal": each.causal, "heads": heads}
        if self.values:
            vectors = {"q": seen.q, "k": seen.k, "v": seen.v}
            vectors |= {"scores": seen.scores, "output": seen.output}
            for one in heads:
                one |= {name: self.numbers(x[0, one["head"]]) for name, x in vectors.items()}
            steps = list(self.found.sublayers[path].items())
            order = [name for name, _ in steps].index(each.sublayer)
            found |= self._around(seen, steps[order][1], steps[order + 1][1])
        return found

    def _around(self, seen: AttentionPass, here: Sublayer, following: Sublayer) -> dict[str, Any]:
        """Give the vectors before and after the heads, up to the input of the next sublayer."""
        pre = self.norm == "pre"
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
        for stack in self.one.stacks:
            rows = self.shown[stack.stream]
            for layer in self.layers[stack.name]:
                path = f"{stack.name}.layers.{layer}"
                for name, step in self.found.sublayers[path].items():
                    one = {
                        "stack": stack.name,
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

    def positions(self) -> list[dict[str, Any]]:
        """Give each encoding of positions; a learned table may end before what was asked for."""
        shared: dict[Positions, list[Stream]] = {}
        for stream in self.one.streams:
            if stream.positions is not None:
                shared.setdefault(stream.positions, []).append(stream)
        found = []
        for positions, streams in shared.items():
            rows, kind = self.rows, "learned"
            if isinstance(positions, Learned):
                rows = min(rows, len(positions.weight))
            else:
                kind = "concatenated" if positions.concatenated else "interleaved"
            encoding = positions(0, rows, self.inner.weight)
            names = [stream.name for stream in streams]
            found.append({"streams": names, "kind": kind, "rows": self.numbers(encoding)})
        return found

    def embeddings(self) -> dict[str, Any]:
        """Give the norm of each embedding before and after its position was added."""
        found: dict[str, Any] = {}
        for stream, embedded in zip(self.one.streams, self.found.embedded, strict=True):
            plain = embedded[0, : self.shown[stream.name]] * stream.scale
            placed = plain
            if stream.positions is not None:
                placed = plain + stream.positions(0, len(plain), plain)
            found[stream.name] = {
                "before": self.numbers(plain.norm(dim=-1)),
                "after": self.numbers(placed.norm(dim=-1)),
            }
            if self.values:
                found[stream.name]["values"] = self.numbers(plain)
        return found

    def output(self, logits: Tensor, salient: dict[str, Tensor] | None) -> dict[str, Any]:
        """Give what came out; `logits` have a row for each step."""
        output = self.one.output
        stack = next(one for one in self.one.stacks if one.name == output.stack)
        found: dict[str, Any] = {"kind": output.kind, "stream": stack.stream, "stack": stack.name}
        shown = self.shown[stack.stream]
        found |= _clipped(output.about, shown)
        if not output.taken:
            return found
        at = [None] if output.at is None else [i for i in output.at if i < shown]
        taken = list(output.taken)[: len(at)]
        found["steps"] = [
            {"at": place} | self._step(row, number, output)
            for place, row, number in zip(at, logits.double(), taken, strict=False)
        ]
        if output.head is not None:
            places = slice(None) if output.at is None else at
            found["lens"] = self._lens(output, places)
        found["saliency"] = salient and {
            name: self.numbers(rows[: len(at), : self.shown[name]])
            for name, rows in salient.items()
        }
        return found

    def _step(self, logits: Tensor, taken: int, output: Output) -> dict[str, Any]:
        """Give the prediction of one step, exact at any of the listed temperatures."""
        logp = logits.log_softmax(-1)
        known = logp.isfinite()
        top = logits.topk(min(TOP, int(known.sum()))).indices
        others = logits.clone()
        others[top] = -math.inf
        beyond = bool(others.isfinite().any())
        return {
            "taken": output.name(taken),
            "logp": self.number(logp[taken]),
            "entropy": self.number(-(logp[known].exp() * logp[known]).sum()),
            "top": [
                {
                    "name": output.name(int(i)),
                    "logit": self.number(logits[i]),
                    "logp": self.number(logp[i]),
                }
                for i in top
            ],
            "rest": {
                f"{t:g}": self.number((others / t).logsumexp(-1)) if beyond else None
                for t in TEMPERATURES
            },
        }

    def _lens(self, output: Output, places: Any) -> list[Any]:
        """Give what the output would have been after each layer of the stack."""
        assert output.head is not None
        norm: nn.Module = self.one.model.get_submodule(f"{output.stack}.norm")
        layers = []
        with torch.no_grad():
            for layer in range(self.depths[output.stack]):
                states = norm(self.found.outputs[f"{output.stack}.layers.{layer}"][:, places])
                steps = []
                for shares in output.head(states)[0].softmax(-1):
                    top = shares.topk(min(LENS, len(shares))).indices
                    steps.append(
                        [{"name": output.name(int(i)), "p": self.number(shares[i])} for i in top]
                    )
                layers.append(steps)
        return layers
