"""Attention itself, twice: `attend` to read, `fused` to run. Tests prove them equal.

Also the additive comparison of Bahdanau, which has no fused form.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.nn.shapes import BHSK, BHSW, BHTK, BHTS, BHTW, Keep


def scores(q: BHTK, k: BHSK, scale: float | None = None) -> BHTS:
    """Compare every query with every key by their dot product.

    The division by sqrt(d_k) keeps the variance at 1; without it the softmax of wide heads
    saturates and its gradient vanishes. `scale=1.0` is the unscaled form.
    """
    return q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1)) if scale is None else scale)


def additive_scores(q: BHTK, k: BHSK, vector: Tensor) -> BHTS:
    """Compare by a small network, v . tanh(q + k), as the first attention did (Bahdanau).

    It needs T x S x K numbers where the dot product needs T x S, which is why it was replaced.
    """
    both = torch.tanh(q[..., :, None, :] + k[..., None, :, :])  # B H T S K
    return (both * vector[:, None, None, :]).sum(-1)


def weigh(raw: BHTS, keep: Keep | None = None) -> BHTS:
    """Turn scores into weights that sum to 1 over the keys that may be seen.

    A masked key's weight is exactly 0. A query that may attend to nothing gets zeros, not NaN.
    """
    if keep is None:
        return raw.softmax(-1)
    weights = raw.masked_fill(~keep, -math.inf).softmax(-1)
    return weights.masked_fill(~keep, 0.0)  # the softmax of a row of -inf is NaN


def mix(weights: BHTS, v: BHSW) -> BHTW:
    """Sum the values by their weights: what a head brings back."""
    return weights @ v


def attend(q: BHTK, k: BHSK, v: BHSW, keep: Keep | None = None, scale: float | None = None) -> BHTW:
    """Mix the values by how well each query matches each key.

    This is the plain form, kept for reading, for tests and for `explain`;
    training and decoding use `fused`, which must agree with it.
    """
    return mix(weigh(scores(q, k, scale), keep), v)


def fused(q: BHTK, k: BHSK, v: BHSW, keep: Keep | None = None, scale: float | None = None) -> BHTW:
    """Do the same as `attend` in PyTorch's fused kernel, which never stores the weights."""
    return F.scaled_dot_product_attention(q, k, v, attn_mask=keep, scale=scale)
