"""Many heads: project to queries, keys and values, attend in each head, project back."""

from __future__ import annotations

import math
from typing import Literal

import torch
from torch import Tensor, nn

from heedful.nn.cache import Growing
from heedful.nn.dropout import Dropout
from heedful.nn.kernels import additive_scores, fused, mix, scores, weigh
from heedful.nn.linear import Linear, side_by_side
from heedful.nn.observe import observer
from heedful.nn.packed import Packed
from heedful.nn.shapes import BHSK, BHSW, BHTK, BHTS, BHTW, BSD, BTD, Keep

Comparison = Literal["scaled", "dot", "additive"]


class Attention(nn.Module):
    """Multi-head attention: W^Q, W^K and W^V for each head, concatenation, W^O.

    The heads' matrices lie side by side in one (`query`, `key`, `value`), so one product serves
    all heads. d_k (`d_head`) and d_v (`d_value`) are free of each other and of d_model.
    """

    def __init__(
        self,
        d_model: int,
        n_heads: int,
        d_head: int | None = None,
        d_value: int | None = None,
        comparison: Comparison = "scaled",
        dropout: float = 0.0,
    ) -> None:
        super().__init__()
        self.n_heads = n_heads
        self.d_head = d_head if d_head is not None else d_model // n_heads
        self.d_value = d_value if d_value is not None else self.d_head
        self.comparison = comparison
        self.query = Linear(d_model, n_heads * self.d_head)
        self.key = Linear(d_model, n_heads * self.d_head)
        self.value = Linear(d_model, n_heads * self.d_value)
        self.output = Linear(n_heads * self.d_value, d_model)
        if comparison == "additive":
            self.compare = nn.Parameter(torch.empty(n_heads, self.d_head))
        self.dropout = Dropout(dropout)
        self._own, self._memory = Packed(), Packed()

    def another(self) -> Attention:
        """Make an attention of the same sizes, with weights of its own."""
        return Attention(
            self.query.in_features,
            self.n_heads,
            self.d_head,
            self.d_value,
            self.comparison,
            self.dropout.p,
        )

    def forward(
        self, x: BTD, keep: Keep | None, past: tuple[Growing, Growing] | None = None
    ) -> BTD:
        """Let a sequence attend to itself; with `past`, to what was decoded before as well."""
        queries, keys, values = self.apply_all(x, self._own, self.query, self.key, self.value)
        if past is not None:
            keys, values = past[0].append(keys), past[1].append(values)
        found: BTD = self.output(self.join(self.heads(queries, keys, values, keep)))
        return found

    def project(self, memory: BSD) -> tuple[BHSK, BHSW]:
        """Make the keys and values of what is attended to."""
        keys, values = self.apply_all(memory, self._memory, self.key, self.value)
        return keys, values

    def attend_to(self, x: BTD, keys: BHSK, values: BHSW, keep: Keep | None) -> BTD:
        """Attend with x's queries to keys and values already made (cross-attention does this).

        Several rows of x may share one row of keys, as the beams of a sentence do: then they follow
        each other, and become queries side by side.
        """
        shared = x.reshape(keys.size(0), -1, x.size(-1))
        heads = self.heads(self.split(self.query(shared)), keys, values, keep)
        found: BTD = self.output(self.join(heads)).view_as(x)
        return found

    def apply_all(self, x: Tensor, packed: Packed, *maps: Linear) -> list[Tensor]:
        """Apply several maps to the same input as one product, and give each head its slices."""
        found = side_by_side(x, maps, packed)
        parts = found.split_with_sizes([one.out_features for one in maps], -1)
        return [self.split(part) for part in parts]

    def heads(self, q: BHTK, k: BHSK, v: BHSW, keep: Keep | None) -> BHTW:
        """Give what each head brings back, or what the observer makes of it."""
        watching = observer()
        if watching is None:
            return self.mixed(q, k, v, keep)
        return watching.heads(self, q, k, v, keep)

    def mixed(self, q: BHTK, k: BHSK, v: BHSW, keep: Keep | None) -> BHTW:
        """Score, softmax, and mix the values."""
        if self.comparison == "additive" or self.dropout.active:
            return mix(self.dropout(self.weights(q, k, keep)), v)
        return fused(q, k, v, keep, self.scale)

    def weights(self, q: BHTK, k: BHSK, keep: Keep | None) -> BHTS:
        """Give the attention weights: the plain path, for dropout on them and for `explain`."""
        if self.comparison == "additive":
            return weigh(additive_scores(q, k, self.compare), keep)
        return weigh(scores(q, k, self.scale), keep)

    @property
    def scale(self) -> float:
        """What the dot products are multiplied with."""
        return 1.0 if self.comparison == "dot" else 1 / math.sqrt(self.d_head)

    def split(self, x: Tensor) -> Tensor:
        """Give each head its own slice: B T (H K) -> B H T K."""
        return x.view(*x.shape[:2], self.n_heads, -1).transpose(1, 2)

    def join(self, heads: BHTW) -> Tensor:
        """Put the heads side by side again: B H T W -> B T (H W)."""
        return heads.transpose(1, 2).flatten(-2)
