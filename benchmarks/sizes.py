"""The sizes that are measured, and how much of everything: in full, or as toys for the tests."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from heedful.tasks.translation.planning import SIZES

PAPER: dict[str, Any] = {"dropout": 0.1, "norm": "post"}
"""The peers' layers are the paper's: LayerNorm after the sum."""
CAPTION: dict[str, Any] = {
    "d_model": 256,
    "d_ff": 512,
    "n_heads": 4,
    "encoder_layers": 3,
    "decoder_layers": 3,
    **PAPER,
}
TOY: dict[str, Any] = {
    "d_model": 32,
    "d_ff": 48,
    "n_heads": 4,
    "encoder_layers": 2,
    "decoder_layers": 2,
    **PAPER,
}


@dataclass(frozen=True)
class Amounts:
    """How much is measured."""

    pieces: int = 4000
    pairs: int = 29_000
    sentences: int = 1000
    rounds: int = 5
    decoding_rounds: int = 3
    training: dict[str, tuple[dict[str, Any], int]] = field(
        default_factory=lambda: {
            "256 / 512": (CAPTION, 8),
            "tiny": (SIZES["tiny"] | PAPER, 8),
            "small": (SIZES["small"] | PAPER, 6),
            "base": (SIZES["base"] | PAPER, 1),
        }
    )
    """By name: sizes, and batches in a round."""
    budget: int = 2048
    """Positions of a batch: what training chooses for a corpus of this size."""
    updates: int = 60
    """Steps of a whole training command."""
    decoding: dict[str, Any] = field(default_factory=lambda: CAPTION)
    taught: int = 250
    """Steps the model is trained for before it decodes: enough to say different things."""
    steps: int = 20
    """Pieces of every translation."""
    batches: tuple[int, ...] = (64, 16, 1, 0)
    beams: tuple[int, ...] = (1, 4)
    lengths: tuple[int, ...] = (32, 128, 512, 1024, 2048, 4096)
    rows: tuple[int, ...] = (1, 4, 16, 64, 256)
    layers: tuple[int, ...] = (1, 2, 4, 8, 12)
    growing_rounds: int = 3
    lines: tuple[int, ...] = (10_000, 100_000, 1_000_000)
    cached: tuple[int, ...] = (8, 16, 32, 64, 128)
    cached_rows: int = 64
    cold: int = 5
    detected: int = 4000
    """Sentences of a language that are detected."""
    clients: int = 64
    load_seconds: float = 120.0
    """Of the load with many sentences a request; the others are shorter."""


FULL = Amounts()
QUICK = Amounts(
    pieces=600,
    pairs=400,
    sentences=24,
    rounds=1,
    decoding_rounds=1,
    training={"toy": (TOY, 2)},
    budget=512,
    updates=12,
    decoding=TOY,
    taught=4,
    steps=5,
    batches=(8, 1, 0),
    beams=(1, 2),
    lengths=(8,),
    rows=(4,),
    layers=(1,),
    growing_rounds=1,
    lines=(300,),
    cached=(4, 8),
    cached_rows=4,
    cold=1,
    detected=20,
    clients=4,
    load_seconds=1.0,
)
