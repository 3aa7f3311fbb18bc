"""The most likely word without all the logits: a guess, then the truth about those it could be.

The product with the vocabulary is a third of a step's arithmetic, and a greedy search wants of
its thousands of numbers only which is the largest. In whole numbers of eight bits it takes a
quarter of the time. How far such a guess can be off has a bound: with states x = x' + dx and
words w = w' + dw, where x' and w' are what is left after rounding,

    |x . w - x' . w'|  <=  |dx| |w| + |x'| |dw|

So every word whose guess is more than twice that below the best guess is out, and for the few that
are left the logits are computed as they are. What is found is the best word, not a guess of it.
"""

import functools
from typing import NamedTuple, Self

import numpy as np
import torch
from torch import Tensor

from heedful.decoding.freed import freed
from heedful.machine import processor_has

__all__ = ["Shortlist", "best", "worth_it"]

LARGEST = 127
"""Of the whole numbers."""
SLACK = 1e-4
"""Added to the bound, for what float32 rounds."""
MANY = 32
"""Candidates a row, on average, from which all logits are sooner computed: a vocabulary with one
word far longer than the others is too coarse to guess with."""
ROWS = 32
"""From so many on, a guess is worth its while."""


@functools.lru_cache(maxsize=1)
def worth_it() -> bool:
    """Say whether this processor multiplies such whole numbers faster than others."""
    return processor_has("avx512_vnni") and hasattr(torch, "_int_mm")


class Shortlist(NamedTuple):
    """A vocabulary in whole numbers, and what was lost in rounding it."""

    words: Tensor
    """A word a row, as it is."""
    bias: Tensor
    """-inf for what cannot be predicted, such as what fills the words up."""
    whole: Tensor
    """A word a column, of whole numbers."""
    unit: float
    """What they are multiples of."""
    longest: float
    """The largest norm of a word ..."""
    lost: float
    """... and of what it lost in rounding."""

    @classmethod
    def of(cls, words: Tensor, bias: Tensor) -> Self:
        """Round a vocabulary; there are as many logits as the bias is long."""
        words = words.detach()
        unit = float(words.abs().max()) / LARGEST or 1.0
        whole = torch.zeros(len(bias), words.size(1), dtype=torch.int8)
        whole[: len(words)] = (words / unit).round()
        lost = (words - unit * whole[: len(words)]).norm(dim=1).max()
        return cls(words, bias, whole.t(), unit, float(words.norm(dim=1).max()), float(lost))


def guess(
    x: Tensor, among: Shortlist, largest: int = LARGEST, slack: float = SLACK
) -> tuple[Tensor, Tensor]:
    """Guess all logits; give them, and for each row the least guess of a word that may be the best.

    In the part of Python that `freed.py` can take out of the interpreter.
    """
    unit = x.abs().amax(1, keepdim=True) / largest
    whole = (x / unit).round_()
    guessed = torch._int_mm(whole.to(torch.int8), among.whole).to(torch.float32)
    torch.addcmul(among.bias, guessed, unit * among.unit, out=guessed)
    rounded = whole.mul_(unit)
    error, length = (x - rounded).square_().sum(1).sqrt_(), rounded.square_().sum(1).sqrt_()
    off = error * among.longest + length * among.lost
    return guessed, guessed.amax(1) - 2 * (off + slack)


def best(x: Tensor, among: Shortlist) -> Tensor | None:
    """Give the most likely word of every row; None where a guess does not help.

    That is where it leaves too many words, or none because something is not a number.
    """
    guessed, least = freed(guess)(x, among)
    if not np.isfinite(least.numpy()).all():
        return None
    found = np.flatnonzero(guessed.numpy() >= least.numpy()[:, None])
    if len(found) > MANY * len(x):
        return None
    rows, words = np.divmod(found, guessed.size(1))
    first = np.searchsorted(rows, np.arange(len(x)))  # of each row's candidates
    if len(found) > len(x):
        row, word = torch.from_numpy(rows), torch.from_numpy(words)
        states, candidates = x.index_select(0, row), among.words.index_select(0, word)
        logits = (states * candidates).sum(1) + among.bias[word]
        words = words[np.lexsort((-logits.numpy(), rows))]  # a row's best is its first now
    return torch.from_numpy(words[first])
