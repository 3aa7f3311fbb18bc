"""Small models of every kind that a search lays out for speed."""

from __future__ import annotations

from typing import Any

import torch

from heedful.models.transformer import Transformer
from heedful.settings import ModelSettings, TokenIds

IDS = TokenIds(size=53, pad=52, start=52)
SIZES = {"d_model": 12, "d_ff": 17, "n_heads": 3, "encoder_layers": 2, "decoder_layers": 3}
MODELS: list[dict[str, Any]] = [
    {},
    {"norm": "pre", "d_head": 5, "d_value": 7},
    {"attention": "dot", "activation": "swish"},
    {"activation": "gelu", "d_ff": 520},
    {"n_heads": 1},
    {"positions": "learned", "share_output": False, "output_bias": True},
]
SOURCES = [[3, 9, 5], [7], [8, 8, 30, 31, 2, 4, 6], [10, 11, 12, 13], [40, 41]]


def made(**changes: Any) -> Transformer:
    model = Transformer(ModelSettings.model_validate(SIZES | changes), IDS).eval()
    for name, parameter in model.named_parameters():
        if "bias" in name:  # as they begin, they are all zeros
            torch.nn.init.normal_(parameter, std=0.2)
    return model
