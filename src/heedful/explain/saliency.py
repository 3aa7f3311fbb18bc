"""Which pieces a prediction hung on: gradient x input."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from heedful.models.transformer import Transformer
from heedful.nn.observe import Observer, observing

__all__ = ["saliency"]


class _Leaves(Observer):
    """Makes the looked-up embeddings, the source's first, what gradients are taken for."""

    def __init__(self) -> None:
        self.found: list[Tensor] = []

    def value(self, module: nn.Module, x: Tensor) -> Tensor:
        """Cut an embedding off from its table."""
        if not isinstance(module, nn.Embedding):
            return x
        self.found.append(x.detach().requires_grad_())
        return self.found[-1]


def saliency(model: Transformer, source: list[int], target: list[int]) -> tuple[Tensor, Tensor]:
    """Give gradient x input of each taken piece's logit for source and target pieces.

    A second pass, with gradients; the first one is not touched. Each row, both sides together,
    sums to 1.
    """
    ids, device = model.ids, model.output_weight.device
    leaves = _Leaves()
    with torch.enable_grad(), observing(leaves):
        logits = model(
            torch.tensor([[*source, ids.eos]], device=device),
            torch.tensor([len(source) + 1], device=device),
            torch.tensor([[ids.start, *target]], device=device),
        )[0]
    rows = []
    for step, word in enumerate([*target, ids.eos]):
        slopes = torch.autograd.grad(logits[step, word], leaves.found, retain_graph=True)
        rows.append(
            torch.cat([(g * x).sum(-1)[0] for g, x in zip(slopes, leaves.found, strict=True)])
        )
    shares = torch.stack(rows).detach().abs()
    shares = shares / shares.sum(-1, keepdim=True).clamp_min(1e-30)
    return shares[:, : len(source) + 1], shares[:, len(source) + 1 :]
