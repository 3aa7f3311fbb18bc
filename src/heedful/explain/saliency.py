"""Which pieces a prediction hung on: gradient x input."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from heedful.models.transformer import Transformer

__all__ = ["saliency"]


def saliency(model: Transformer, source: list[int], target: list[int]) -> tuple[Tensor, Tensor]:
    """Give gradient x input of each taken piece's logit for source and target pieces.

    A second pass, with gradients; the first one is not touched. Each row, both sides together,
    sums to 1.
    """
    ids, device = model.ids, model.output_weight.device
    leaves: list[Tensor] = []

    def leaf(_: Any, __: Any, output: Tensor) -> Tensor:
        leaves.append(output.detach().requires_grad_())
        return leaves[-1]

    tables = {model.source_embedding, model.target_embedding}
    handles = [table.register_forward_hook(leaf) for table in tables]
    try:
        with torch.enable_grad():
            logits = model(
                torch.tensor([[*source, ids.eos]], device=device),
                torch.tensor([len(source) + 1], device=device),
                torch.tensor([[ids.start, *target]], device=device),
            )[0]
            rows = []
            for step, word in enumerate([*target, ids.eos]):
                slopes = torch.autograd.grad(logits[step, word], leaves, retain_graph=True)
                rows.append(
                    torch.cat([(g * x).sum(-1)[0] for g, x in zip(slopes, leaves, strict=True)])
                )
    finally:
        for handle in handles:
            handle.remove()
    shares = torch.stack(rows).detach().abs()
    shares = shares / shares.sum(-1, keepdim=True).clamp_min(1e-30)
    return shares[:, : len(source) + 1], shares[:, len(source) + 1 :]
