"""Which pieces a prediction depended on: gradient x input."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.explain.capture import logits_of
from heedful.models.transformer import Transformer
from heedful.nn.observe import Observer, observing

__all__ = ["saliency"]


class _Leaves(Observer):
    """Detaches the looked-up embeddings, the source's first, to take gradients with respect to."""

    def __init__(self) -> None:
        self.found: list[Tensor] = []

    def value(self, module: nn.Module, x: Tensor) -> Tensor:
        """Replace an embedding by a leaf tensor of the same values."""
        if not isinstance(module, nn.Embedding):
            return x
        self.found.append(x.detach().requires_grad_())
        return self.found[-1]


def saliency(model: Transformer, source: list[int], target: list[int]) -> tuple[Tensor, Tensor]:
    """Give gradient x input of each target piece's logit, for source and target pieces.

    It runs a pass of its own, with gradients. Each row, both sides together, sums to 1.
    """
    leaves = _Leaves()
    with torch.enable_grad(), observing(leaves):
        logits = logits_of(model, source, target)
    rows = []
    for step, word in enumerate([*target, model.ids.eos]):
        slopes = torch.autograd.grad(logits[step, word], leaves.found, retain_graph=True)
        rows.append(
            torch.cat([(g * x).sum(-1)[0] for g, x in zip(slopes, leaves.found, strict=True)])
        )
    shares = torch.stack(rows).detach().abs()
    shares = shares / shares.sum(-1, keepdim=True).clamp_min(1e-30)
    return shares[:, : len(source) + 1], shares[:, len(source) + 1 :]
