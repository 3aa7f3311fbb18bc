"""N encoder layers, M decoder layers."""

from __future__ import annotations

from typing import Any

from torch import nn

from heedful.nn.cache import DecoderCache, Memory
from heedful.nn.layers import DecoderLayer, EncoderLayer, Layer
from heedful.nn.shapes import BTD, Keep


class Stack(nn.Module):
    """Layers of one kind, and in pre-norm a LayerNorm: its residual sum was never normalised.

    `sizes` are the keyword arguments of a layer.
    """

    kind: type[Layer]

    def __init__(self, n_layers: int, d_model: int, **sizes: Any) -> None:
        super().__init__()
        self.layers = nn.ModuleList(self.kind(d_model, **sizes) for _ in range(n_layers))
        self.norm = nn.LayerNorm(d_model) if sizes.get("norm") == "pre" else nn.Identity()


class Encoder(Stack):
    """Reads the source: each layer lets every position gather from all others."""

    kind = EncoderLayer

    def forward(self, x: BTD, keep: Keep | None) -> BTD:
        """Run the layers in turn."""
        for layer in self.layers:
            x = layer(x, keep)
        return self.norm(x)  # type: ignore[no-any-return]


class Decoder(Stack):
    """Writes the target, each position attending to those before it and to the source."""

    kind = DecoderLayer

    def forward(
        self, x: BTD, keep: Keep | None, memory: Memory, cache: DecoderCache | None = None
    ) -> BTD:
        """Run the layers in turn; each takes its own part of the cache."""
        for index, layer in enumerate(self.layers):
            x = layer(x, keep, memory, None if cache is None else cache.layers[index])
        return self.norm(x)  # type: ignore[no-any-return]
