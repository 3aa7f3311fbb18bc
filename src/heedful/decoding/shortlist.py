"""The most likely word without all the logits: a guess, then the truth about those it could be.

The product with the vocabulary is a third of a step's arithmetic, and a greedy search wants of
its thousands of numbers only which is the largest. In whole numbers of eight bits it takes a
quarter to a half of the time. How far such a guess can be off has a bound: with states x = x' + dx
and words w = w' + dw, where x' and w' are what is left after rounding,

    |x . w - x' . w'|  <=  |dx| |w| + |x'| |dw|

So every word whose guess is more than twice that below the best guess is out, and for the few that
are left the logits are computed as they are. What is found is the best word, not a guess of it.

Annotations are evaluated here, as in `cells.py`: `freed.py` wants the types of the fields.
"""

import functools
import math
from typing import NamedTuple, Self

import torch
from torch import Tensor
from torch.nn import functional as F

from heedful.decoding.maps import filled
from heedful.machine import processor_has, torch_has
from heedful.nn.loss import LINE

__all__ = ["Shortlist", "best", "guess", "worth_it"]

LARGEST = 127
"""Of the whole numbers a state is rounded to ..."""
EXACT, NARROW = 127, 63
"""... and of those a word is, where products are added up as they are, and where two of them are
added up in sixteen bits, which 255 times 127 twice is too much for."""
SLACK = 1e-4
"""Added to the bound, for what float32 rounds."""
MANY = 32
"""Candidates a row, on average, from which all logits are sooner computed: a vocabulary with one
word far longer than the others is too coarse to guess with."""
ROWS = 32
"""From so many on, a guess is worth its while."""


@functools.lru_cache(maxsize=1)
def worth_it() -> bool:
    """Say whether such whole numbers are multiplied faster than others here."""
    return torch_has("onednn", "qlinear_pointwise") and processor_has("avx2")


@functools.lru_cache(maxsize=1)
def largest_exact() -> int:
    """Give the largest whole number a word may have: it is tried, for it depends on more than the
    processor."""
    words = laid_out(torch.full((LINE, 2), EXACT))
    states = torch.full((1, 2), 255, dtype=torch.uint8)
    units, zeros = torch.ones(LINE), torch.zeros(LINE, dtype=torch.int32)
    found = product(states, 1.0, words, units, zeros, torch.zeros(LINE))
    return EXACT if bool((found == 2 * 127 * EXACT).all()) else NARROW


def laid_out(whole: Tensor) -> Tensor:
    """Lay words in whole numbers out for the product."""
    found: Tensor = torch.ops.onednn.qlinear_prepack(whole.to(torch.int8), None)
    return found


class Shortlist(NamedTuple):
    """A vocabulary in whole numbers, and what was lost in rounding it."""

    words: Tensor
    """A word a row, as it is."""
    bias: Tensor
    """-inf for what cannot be predicted, such as what fills the words up."""
    whole: Tensor
    """The words in whole numbers, laid out for the product."""
    units: Tensor
    """What each word's are multiples of."""
    zeros: Tensor
    """What stands for zero in each word."""
    longest: float
    """The largest norm of a word ..."""
    lost: float
    """... and of what it lost in rounding."""

    @classmethod
    def of(cls, words: Tensor, bias: Tensor) -> Self:
        """Round a vocabulary; there are as many logits as the bias is long."""
        words = words.detach()
        table = words.new_zeros(len(bias), words.size(1))
        table[: len(words)] = words
        units = (table.abs().amax(1) / largest_exact()).clamp_(min=torch.finfo(torch.float32).tiny)
        whole = (table / units[:, None]).round_()
        lost = (table - units[:, None] * whole).norm(dim=1).max()
        return cls(
            words,
            bias,
            laid_out(whole),
            units,
            torch.zeros(len(bias), dtype=torch.int32),
            float(words.norm(dim=1).max()),
            float(lost),
        )


# What follows is in the part of Python that `freed.py` can take out of the interpreter.


def product(
    states: Tensor, unit: float, words: Tensor, units: Tensor, zeros: Tensor, bias: Tensor
) -> Tensor:
    """Multiply states with words, both in whole numbers of their units; 128 is a state's zero."""
    found: Tensor = torch.ops.onednn.qlinear_pointwise(
        states, unit, 128, words, units, zeros, bias, 1.0, 0, torch.float32, "none", [], ""
    )
    return found


def guess(x: Tensor, among: Shortlist, unit: float, slack: float = SLACK) -> tuple[Tensor, Tensor]:
    """Guess all logits from states in multiples of a unit; say how far off each row's can be."""
    rows = x.size(0)
    whole = (x / unit).round_()
    states = F.pad(whole + 128.0, (0, 0, 0, filled(rows) - rows)).to(torch.uint8)
    guessed = product(states, unit, among.whole, among.units, among.zeros, among.bias)[:rows]
    rounded = whole.mul_(unit)
    error = torch.linalg.vector_norm(x - rounded, dim=1)
    length = torch.linalg.vector_norm(rounded, dim=1)
    return guessed, error * among.longest + length * among.lost + slack


def best(
    x: Tensor, among: Shortlist, many: int = MANY, largest: int = LARGEST, line: int = LINE
) -> Tensor | None:
    """Give the most likely word of every row; None where a guess does not help.

    That is where it leaves too many words, or none because something is not a number.
    """
    rows, unit = x.size(0), float(x.abs().max()) / largest
    if unit == 0 or not math.isfinite(unit):
        return None
    guessed, off = guess(x, among, unit)
    # Every 64th word is of one lane: the largest of each are found in one go over all of them.
    lanes = guessed.view(rows, -1, line)
    highest = lanes.amax(1)
    least = highest.amax(1) - 2 * off
    if not bool(least.isfinite().all()):
        return None
    row, lane = (highest >= least[:, None]).nonzero().unbind(1)
    if row.size(0) > many * rows:
        return None
    near = lanes.transpose(1, 2)[row, lane] >= least[row][:, None]
    if int(near.sum()) > many * rows:
        return None
    which, place = near.nonzero().unbind(1)
    row, word = row[which], place * line + lane[which]
    if row.size(0) == rows:
        return word
    states, words = x.index_select(0, row), among.words.index_select(0, word)
    logits = (states * words).sum(1) + among.bias[word]
    top = torch.full([rows], -math.inf).scatter_reduce_(0, row, logits, "amax")
    if not bool(top.isfinite().all()):
        return None
    first = torch.where(logits == top[row], word, guessed.size(1))  # of equals
    return torch.full([rows], guessed.size(1)).scatter_reduce_(0, row, first, "amin")
