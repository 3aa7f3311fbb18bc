"""The numbers a model starts from, in one place."""

from __future__ import annotations

import torch
from torch import nn

from heedful.nn.attention import Attention
from heedful.nn.positions import Learned


@torch.no_grad()
def initialise(model: nn.Module, pad: int | None = None) -> None:
    """Draw every weight anew: Xavier for matrices, zero for biases, one for norms.

    Embeddings are drawn with variance 1 / d_model: times sqrt(d_model) they enter the stack at
    the size of the positions, and as output projection they give logits of about unit size.
    The row of `pad` is zero and, since nothing ever trains it, stays so.
    """
    for module in model.modules():
        if isinstance(module, nn.Linear):
            nn.init.xavier_uniform_(module.weight)
            if module.bias is not None:
                nn.init.zeros_(module.bias)
        elif isinstance(module, nn.Embedding):
            nn.init.normal_(module.weight, std=module.embedding_dim**-0.5)
            if pad is not None:
                module.weight[pad].zero_()
        elif isinstance(module, nn.LayerNorm):
            nn.init.ones_(module.weight)
            nn.init.zeros_(module.bias)
        elif isinstance(module, Learned):
            nn.init.normal_(module.weight, std=0.02)
        elif isinstance(module, Attention) and module.comparison == "additive":
            nn.init.xavier_uniform_(module.compare)
