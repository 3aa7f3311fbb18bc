"""Drawing the next word: temperature, top-k, top-p.

A sentence's draws come from a generator of its own, seeded by its text: it gets the same sample
alone and in any batch.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from heedful.decoding.search import Chooser
from heedful.settings import SamplingSettings


def filtered(logits: Tensor, temperature: float, top_k: int, top_p: float) -> tuple[Tensor, Tensor]:
    """Give the probabilities left after temperature, top-k and top-p, and their words, best first.

    `top_k` 0 and `top_p` 1 leave everything. Top-p keeps the fewest words that together reach p;
    the best word always stays.
    """
    ordered, words = (logits / temperature).sort(dim=-1, descending=True, stable=True)
    if top_k:
        ordered, words = ordered[:, :top_k], words[:, :top_k]
    shares = ordered.softmax(-1)
    if top_p < 1:
        before = shares.cumsum(-1) - shares
        shares = shares.masked_fill(before >= top_p, 0.0)
        shares = shares / shares.sum(-1, keepdim=True)
    return shares, words


def sampler(
    sources: Sequence[Sequence[int]], settings: SamplingSettings, copies: int = 1
) -> Chooser:
    """Make a chooser for `greedy` that draws; row i is copy i % copies of its sentence."""
    generators = [
        np.random.default_rng([settings.seed, _number(source), index % copies])
        for index, source in enumerate(sources)
    ]

    def choose(logits: Tensor, sentences: Tensor, step: int) -> Tensor:
        shares, words = filtered(logits, settings.temperature, settings.top_k, settings.top_p)
        drawn = torch.tensor([generators[i].random() for i in sentences.tolist()])
        reached = shares.double().cumsum(-1)
        goal = drawn[:, None].double() * reached[:, -1:]  # rounded shares rarely sum to just 1
        return words.gather(1, torch.searchsorted(reached, goal))[:, 0]

    return choose


def _number(source: Sequence[int]) -> int:
    """Give a source a number of its own, whatever stands beside it."""
    return zlib.crc32(np.asarray(source, dtype="<i4").tobytes())
