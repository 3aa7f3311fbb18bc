"""Words, which people read, over pieces, which a model reads."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

import torch
from torch import Tensor

Span = tuple[int, int]


def word_spans(pieces: Sequence[str]) -> list[Span]:
    """Give the range of pieces of each word, end not included; ▁ marks where a word begins.

    A lone ▁ belongs to the word after it; the end symbol is no word.
    """
    end = len(pieces)
    while end and pieces[end - 1] == "</s>":
        end -= 1
    starts = [i for i in range(end) if i == 0 or pieces[i].startswith("▁")]
    return list(pairwise([*starts, end]))


def by_words(weights: Tensor, rows: Sequence[Span], columns: Sequence[Span]) -> Tensor:
    """Turn weights between pieces into weights between words: rows averaged, columns summed."""
    found = torch.zeros(len(rows), len(columns))
    for i, (top, bottom) in enumerate(rows):
        row = weights[top:bottom].mean(0)
        for j, (left, right) in enumerate(columns):
            found[i, j] = row[left:right].sum()
    return found
