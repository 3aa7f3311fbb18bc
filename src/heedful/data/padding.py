"""Sequences of different lengths as one array."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor


def pad(sequences: Sequence[Sequence[int]], padding: int) -> tuple[Tensor, Tensor]:
    """Put sequences into one rectangle, and give their lengths beside it."""
    lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
    table = np.full((len(sequences), int(lengths.max(initial=0))), padding, dtype=np.int64)
    for row, sequence in zip(table, sequences, strict=True):
        row[: len(sequence)] = sequence
    return torch.from_numpy(table), torch.from_numpy(lengths)
