"""Which position may attend to which: boolean masks called `keep`, True where it may.

Masks come from lengths, never from ids, so a padding id inside a text could change nothing.
"""

from __future__ import annotations

import torch

from heedful.nn.shapes import BS, B, Keep


def real(lengths: B, size: int) -> BS:
    """Mark the positions of each row that hold a real token."""
    return torch.arange(size, device=lengths.device) < lengths[:, None]


def padding(lengths: B, size: int) -> Keep:
    """Let every query see the real keys and no padding: for the encoder and cross-attention."""
    return real(lengths, size)[:, None, None, :]


def look_ahead(lengths: B, size: int) -> Keep:
    """Let position t see the real keys up to t: the padding mask is contained in this one.

    Without it the decoder would read, in training, the very word it has to predict.
    """
    past = torch.ones(size, size, dtype=torch.bool, device=lengths.device).tril()
    return padding(lengths, size) & past
