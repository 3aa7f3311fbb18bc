"""A trace made without torch: a very small Transformer in numpy, every number of it consistent."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

SOURCE = [
    "▁The",
    "▁animal",
    "▁did",
    "n't",
    "▁cross",
    "▁the",
    "▁street",
    "▁because",
    "▁it",
    "▁was",
    "▁too",
    "▁tire",
    "d",
    ".",
]
TARGET = ["▁동물은", "▁너무", "▁피곤", "해서", "▁길을", "▁건너지", "▁않았다", "."]
OTHERS = [
    "▁거리를",
    "▁그",
    "▁그것은",
    "▁매우",
    "▁차가",
    "▁넓어서",
    "▁강을",
    "▁건너",
    "▁못했다",
    "▁있다",
    "는",
    "을",
    "!",
    "▁a",
    "▁il",
]
TEMPERATURES = (0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0)
D, HEADS, K, W, F, LAYERS = 8, 2, 4, 3, 10, 2
EPSILON = 1e-5
Way = tuple[str, str, str, bool]
WAYS: dict[str, Way] = {
    "encoder": ("encoder", "source", "source", False),
    "decoder": ("decoder", "target", "target", True),
    "cross": ("decoder", "target", "source", False),
}
"""Of each kind of attention the stack, from which stream to which, and whether it is causal."""


def softmax(scores: Array) -> Array:
    exps = np.exp(scores - scores.max(-1, keepdims=True))
    return np.asarray(exps / exps.sum(-1, keepdims=True))


def rounded(values: Any) -> Any:
    return np.round(np.asarray(values, dtype=float), 4).tolist()


def spans(pieces: Sequence[str]) -> list[list[int]]:
    if not pieces:
        return []
    starts = [i for i, p in enumerate(pieces) if p.startswith("▁") or i == 0]
    return [[a, b] for a, b in zip(starts, [*starts[1:], len(pieces)], strict=True)]


def by_words(weights: Array, rows: list[list[int]], columns: list[list[int]]) -> Array:
    return np.array([[weights[a:b, c:d].sum() / (b - a) for c, d in columns] for a, b in rows])


class Small:
    """Draws its weights as it needs them, and writes down all that happens."""

    def __init__(
        self, norm: str, attention: str, values: bool, ways: dict[str, Way] = WAYS
    ) -> None:
        self.random = np.random.default_rng(7)
        self.ways, self.norms, self.attention = ways, norm, attention
        self.pre, self.kind, self.values = norm == "pre", attention, values
        self.scale = K**-0.5 if attention == "scaled" else 1.0
        self.attentions: list[dict[str, Any]] = []
        self.sublayers: list[dict[str, Any]] = []

    def draw(self, *shape: int) -> Array:
        return self.random.normal(size=shape) / shape[0] ** 0.5

    def norm(self) -> tuple[Array, Array]:
        return 1 + 0.2 * self.random.normal(size=D), 0.1 * self.random.normal(size=D)

    @staticmethod
    def normed(x: Array, norm: tuple[Array, Array]) -> Array:
        centred = x - x.mean(-1, keepdims=True)
        return np.asarray(centred / np.sqrt(x.var(-1, keepdims=True) + EPSILON) * norm[0] + norm[1])

    def attend(
        self, kind: str, layer: int, x: Array, memory: Array | None, norms: Sequence[Any]
    ) -> Array:
        """One attention sublayer; `norms` are its own LayerNorm and the next one."""
        read = self.normed(x, norms[0]) if self.pre else x
        other = read if memory is None else memory
        stack, from_, to, causal = self.ways[kind]
        keep = np.tri(len(x), dtype=bool) if causal else None
        heads, outputs = [], []
        for head in range(HEADS):
            q, k = read @ self.draw(D, K) * 2, other @ self.draw(D, K) * 2
            v = other @ self.draw(D, W)
            if self.kind == "additive":
                scores = np.tanh(q[:, None] + k[None]) @ self.draw(K)
            else:
                scores = q @ k.T * self.scale
            weights = softmax(scores if keep is None else np.where(keep, scores, -np.inf))
            outputs.append(weights @ v)
            vectors = {"q": q, "k": k, "v": v, "scores": scores, "output": outputs[-1]}
            one = {"weights": weights} | (vectors if self.values else {})
            heads.append({"head": head} | {name: rounded(each) for name, each in one.items()})
        joined = np.concatenate(outputs, -1)
        change = joined @ self.draw(HEADS * W, D)
        total = x + change
        norm = norms[1] if self.pre else norms[0]
        found: dict[str, Any] = {"kind": kind, "stack": stack, "layer": layer}
        found |= {"from": from_, "to": to, "causal": causal, "heads": heads}
        if self.values:
            vectors = {"input": read, "concatenated": joined, "projected": change}
            vectors |= {"residual_in": x, "residual_out": total, "normed": self.normed(total, norm)}
            found |= {name: rounded(each) for name, each in vectors.items()}
            found["keep"] = None if keep is None else keep.tolist()
            found["norm"] = {"weight": rounded(norm[0]), "bias": rounded(norm[1])}
            found["norm"]["epsilon"] = EPSILON
        self.attentions.append(found)
        self.wrote(stack, layer, kind, change, total)
        return total if self.pre else self.normed(total, norm)

    def feed(self, stack: str, layer: int, x: Array, norm: Any) -> Array:
        inner = (self.normed(x, norm) if self.pre else x) @ self.draw(D, F)
        change = np.maximum(inner, 0) @ self.draw(F, D)
        self.wrote(stack, layer, "feed_forward", change, x + change)
        self.sublayers[-1]["active"] = rounded((inner > 0).mean(-1))
        return x + change if self.pre else self.normed(x + change, norm)

    def wrote(self, stack: str, layer: int, name: str, change: Array, total: Array) -> None:
        sizes = {"change": change, "residual": total}
        self.sublayers.append(
            {"stack": stack, "layer": layer, "name": name if name in NAMES else "attention"}
            | {key: rounded(np.linalg.norm(each, axis=-1)) for key, each in sizes.items()}
        )

    def model(self) -> dict[str, Any]:
        sizes = {"d_model": D, "d_ff": F, "n_heads": HEADS, "d_head": K, "d_value": W}
        kinds = {"norm": self.norms, "attention": self.attention, "scale": self.scale}
        return {"name": "demo-en-ko", **sizes, **kinds, "parameters": 123_456}

    def stack(self, part: str, x: Array, memory: Array | None) -> list[Array]:
        states = []
        for layer in range(LAYERS):
            norms = [self.norm() for _ in range(3)]
            x = self.attend(part, layer, x, None, norms[:2])
            if memory is not None:
                x = self.attend("cross", layer, x, memory, norms[1:])
            x = self.feed(part, layer, x, norms[2])
            states.append(x)
        return states


NAMES = ("cross", "feed_forward")


def sinusoid(length: int) -> Array:
    angles = np.arange(length)[:, None] / 10_000 ** (np.arange(0, D, 2) / D)
    return np.stack([np.sin(angles), np.cos(angles)], -1).reshape(length, D)


def items(pieces: Sequence[str]) -> list[dict[str, Any]]:
    return [{"kind": "piece", "text": piece} for piece in pieces]


def lengths(plain: Array, placed: Array) -> dict[str, Any]:
    sizes = {"before": plain, "after": placed}
    found = {name: rounded(np.linalg.norm(each, axis=-1)) for name, each in sizes.items()}
    return found | {"values": rounded(plain)}


def lens_of(
    states: Sequence[Array], table: Array, names: Sequence[str], taken: Array
) -> list[list[list[dict[str, Any]]]]:
    return [
        [
            [{"name": names[i], "p": rounded(row[i])} for i in np.argsort(-row)[:3]]
            for row in softmax(state @ table + layer * 3 * taken)
        ]
        for layer, state in enumerate(states)
    ]


def steps_of(
    logits: Array, taken: Sequence[str], names: Sequence[str], at: Sequence[int | None]
) -> list[dict[str, Any]]:
    found = []
    for place, row, piece in zip(at, logits, taken, strict=True):
        logp = row - np.log(np.exp(row).sum())
        order = np.argsort(-row)
        rest = {
            f"{t:g}": round(float(np.log(np.exp(row[order[10:]] / t).sum())), 4)
            if len(names) > 10
            else None
            for t in TEMPERATURES
        }
        top = [
            {"name": names[i], "logit": rounded(row[i]), "logp": rounded(logp[i])}
            for i in order[:10]
        ]
        one = {"at": place, "taken": piece, "top": top, "rest": rest}
        found.append(
            one
            | {"logp": rounded(logp[names.index(piece)])}
            | {"entropy": rounded(-(np.exp(logp) * logp).sum())}
        )
    return found


def beam_of(steps: list[dict[str, Any]]) -> dict[str, Any]:
    """A tree of width 2: the winner goes on, a rival with it, others are dropped or end."""
    layers: list[list[dict[str, Any]]] = []
    for number, step in enumerate(steps):
        rivals = [each["name"] for each in step["top"] if each["name"] != step["taken"]]
        row = []
        for place, piece in enumerate([step["taken"], *rivals[:3]]):
            parent = None if number == 0 else place // 2
            fate = "kept" if place < 2 else "dropped"
            if piece == "</s>" or (number > 2 and place == 2 and number % 3 == 0):
                piece, fate = "</s>", "ended"
            one = {"id": place, "parent": parent, "piece": piece, "fate": fate}
            one["logp"] = round(-0.3 * (number + 1) - 0.7 * place, 4)
            row.append(one | ({"score": round(one["logp"] / 2, 4)} if fate == "ended" else {}))
        layers.append(row)
    best = [0] * len(layers)
    return {"width": 2, "length_penalty": 0.6, "length_offset": 5.0, "steps": layers, "best": best}


def made_trace(
    norm: str = "post",
    attention: str = "scaled",
    values: bool = True,
    repeat: int = 1,
    best: float | None = None,
    given: bool = False,
) -> dict[str, Any]:
    """Make a trace; `repeat` lengthens both sentences, 0 leaves nothing of them.

    `best` is the accuracy of the best head; that of its baseline is 0.51.
    """
    small = Small(norm, attention, values)
    source = [*(SOURCE * repeat), "</s>"]
    left_out = [] if values else ["the vectors: too many"]
    target = TARGET * repeat
    read, following = ["<s>", *target], [*target, "</s>"]
    names = sorted({*TARGET, *OTHERS, "</s>"})
    places = sinusoid(max(len(source), len(read), 50))
    words = {"source": [small.draw(D) * 3 for _ in source], "target": [small.draw(D) for _ in read]}
    embedded = {side: np.array(each) for side, each in words.items()}
    placed = {side: each + places[: len(each)] for side, each in embedded.items()}
    memory = small.stack("encoder", placed["source"], None)[-1]
    states = small.stack("decoder", placed["target"], memory)
    table = small.draw(D, len(names)) * 2
    taken = np.eye(len(names))[[names.index(piece) for piece in following]]
    lens = lens_of(states, table, names, taken)
    steps = steps_of(states[-1] @ table + 5 * taken, following, names, range(len(read)))
    shares = np.abs(small.draw(len(read), len(source) + len(read))) ** 2
    shares /= shares.sum(-1, keepdims=True)
    spanned = {"source": spans(source[:-1]), "target": spans(target)}
    cross = np.array([a["heads"][h]["weights"] for a in small.attentions[3:4] for h in (0, 1)])
    matrix = by_words(cross.mean(0), spanned["target"], spanned["source"])
    it = SOURCE.index("▁it")
    found = {"kind": "encoder", "layer": 1, "head": 1, "accuracy": best, "item": it}
    found |= {"note": "It was measured."}
    found |= {"distance": 4, "baseline": 0.51, "sentences": 500}
    return {
        "schema": "heedful.trace/2",
        "model": small.model() | {"task": "translation", "vocabulary": len(names)},
        "stacks": [
            {"name": "encoder", "stream": "source", "layers": LAYERS},
            {"name": "decoder", "stream": "target", "layers": LAYERS},
        ],
        "streams": [
            {"name": "source", "reads": "text", "text": text(source[:-1]), "items": items(source)}
            | {"lang": "en", "words": spanned["source"]},
            {"name": "target", "reads": "text", "text": text(target), "items": items(read)}
            | {"lang": "ko"},
        ],
        "chosen": {"layers": {"encoder": [0, 1], "decoder": [0, 1]}, "heads": [0, 1]}
        | {"values": values, "left_out": left_out}
        | {"left_out_kinds": [["vectors"] for _ in left_out]},
        "positions": [
            {"streams": ["source", "target"], "kind": "interleaved", "rows": rounded(places)}
        ],
        "embeddings": {side: lengths(each, placed[side]) for side, each in embedded.items()},
        "attentions": small.attentions,
        "sublayers": small.sublayers,
        "outputs": [
            {"kind": "next-piece", "stream": "target", "stack": "decoder", "given": given}
            | {"words": spanned["target"], "beam": None if given else beam_of(steps)}
            | {"steps": steps, "lens": lens}
            | {
                "saliency": {"source": rounded(shares[:, : len(source)])}
                | {"target": rounded(shares[:, len(source) :])}
            }
        ],
        "alignment": {"kind": "cross", "layer": 0, "matrix": rounded(matrix)}
        | {
            "words": [
                {"word": i, "to": int(row.argmax()), "confidence": rounded(row.max())}
                for i, row in enumerate(matrix)
            ]
        },
        "best_head": None if best is None else found,
    }


def text(pieces: Sequence[str]) -> str:
    return "".join(pieces).replace("▁", " ").strip()
