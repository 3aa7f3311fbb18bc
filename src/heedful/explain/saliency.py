"""Which items a prediction depended on: gradient x input."""

from __future__ import annotations

from collections.abc import Collection

import torch
from torch import Tensor, nn

from heedful.explain.passes import Pass
from heedful.nn.observe import Observer, observing


class _Leaves(Observer):
    """Detaches the embedded streams, to take gradients with respect to them."""

    def __init__(self, embeddings: Collection[nn.Module]) -> None:
        self._embeddings = embeddings
        self.found: list[Tensor] = []

    def value(self, module: nn.Module, x: Tensor) -> Tensor:
        """Replace what was embedded by a leaf tensor of the same values."""
        if module not in self._embeddings:
            return x
        self.found.append(x.detach().requires_grad_())
        return self.found[-1]


def saliency(one: Pass) -> dict[str, Tensor]:
    """Give gradient x input of the logit taken at each step, for the items of each stream.

    It runs a pass of its own, with gradients. Each row, all streams together, sums to 1.
    """
    leaves = _Leaves({stream.embedding for stream in one.streams})
    with torch.enable_grad(), observing(leaves):
        logits = one.run()
    rows = []
    for step, taken in enumerate(one.output.taken):
        slopes = torch.autograd.grad(
            logits[step, taken], leaves.found, retain_graph=True, materialize_grads=True
        )
        rows.append(
            torch.cat([(g * x).sum(-1)[0] for g, x in zip(slopes, leaves.found, strict=True)])
        )
    shares = torch.stack(rows).detach().abs()
    shares = shares / shares.sum(-1, keepdim=True).clamp_min(1e-30)
    sizes = [x.size(1) for x in leaves.found]
    names = [stream.name for stream in one.streams]
    return dict(zip(names, shares.split_with_sizes(sizes, -1), strict=True))
