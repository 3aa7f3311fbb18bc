"""A figure over many examples: its interval, and whether two of them differ by more than chance.

Nothing here knows what an example is. A figure is made from rows of numbers, one for each example,
which are added up: right and all for accuracy, matches and lengths for BLEU. So examples can be
drawn again and again (the bootstrap) without judging one of them twice.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heedful.errors import DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray

SAMPLES = 1000
SEED = 12345  # sacreBLEU's own, so that our intervals are the ones it prints


@dataclass(frozen=True)
class Judged:
    """A model's answers, judged one by one, and how the figure follows from all of them."""

    name: str
    rows: NDArray[Any]
    """For each example a row of numbers that may be added up."""
    total: Callable[[NDArray[Any]], float]
    """Gives the figure from the sum of rows."""
    signature: str
    """Every choice that changes the figure."""
    higher_is_better: bool = True

    @property
    def value(self) -> float:
        """The figure over all examples."""
        return self.total(self.rows.sum(axis=0))


@dataclass(frozen=True)
class Score:
    """One figure, and how it was counted."""

    name: str
    value: float
    low: float
    """Lower end of the 95 % bootstrap interval."""
    high: float
    signature: str
    """Every choice that changes the figure; sacreBLEU's, with its version, for BLEU and chrF."""


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same examples, and the chance that their difference is luck."""

    name: str
    system: float
    baseline: float
    difference: float
    p_value: float
    low: float
    """Lower end of the 95 % interval of the difference."""
    high: float


def hits(right: Sequence[bool], name: str = "accuracy") -> Judged:
    """Judge answers that are right or wrong: the share of right ones, in percent."""
    import numpy as np

    rows = np.array([[one, 1] for one in right], dtype=np.int64)
    return Judged(name, rows, lambda sums: 100 * float(sums[0]) / float(sums[1]), "percent")


def interval(judged: Judged, samples: int = SAMPLES) -> tuple[float, float]:
    """Give the 95 % interval of a figure: what other examples of the same kind might have made."""
    return _ends(_resampled(judged, samples))


def scored(judged: Judged) -> Score:
    """Give the figure with its interval."""
    return Score(judged.name, judged.value, *interval(judged), judged.signature)


def compare(system: Judged, baseline: Judged, samples: int = SAMPLES) -> Comparison:
    """Compare two systems by paired bootstrap resampling (Koehn 2004).

    Both are scored on the same resampled test sets. The p-value is two-sided: the share of test
    sets whose difference strays from the mean by at least the difference observed. sacreBLEU's
    own test looks at one side and does not count ties, so it calls two equal systems
    significantly different (p = 0.001); here they get p = 1.
    """
    import numpy as np

    same_number(system.rows, baseline.rows, "answers", "answers of the other")
    value, base = system.value, baseline.value
    differences = _resampled(system, samples) - _resampled(baseline, samples)
    strays = np.abs(differences - differences.mean())
    # 1e-9: a rounding error must not decide whether a tie counts.
    luck = int((strays >= abs(value - base) - 1e-9).sum())
    p_value = (luck + 1) / (samples + 1)
    return Comparison(system.name, value, base, value - base, p_value, *_ends(differences))


def perplexity(nll_sum: float, tokens: int) -> float:
    """Turn a summed negative log-likelihood (natural logarithm) into perplexity per token."""
    if tokens < 1:
        raise DataError(f"perplexity over {tokens} tokens has no meaning; score at least one token")
    try:
        return math.exp(nll_sum / tokens)
    except OverflowError:  # an untrained or diverged model; the run should tell, not crash
        return math.inf


def same_number(
    given: Sequence[object] | NDArray[Any],
    wanted: Sequence[object] | NDArray[Any],
    what: str,
    against: str,
) -> None:
    """Refuse two lists that do not belong together, and empty ones."""
    if len(given) != len(wanted):
        raise DataError(
            f"{len(given)} {what} do not match {len(wanted)} {against}; give one line for each"
        )
    if not len(wanted):
        raise DataError(f"there are no {what} to score; give at least one line")


def _resampled(judged: Judged, samples: int) -> NDArray[Any]:
    """Score test sets drawn from this one with replacement: the same ones for every system."""
    import numpy as np

    draw = np.random.default_rng(SEED)
    size = len(judged.rows)
    values = []
    for _ in range(samples):
        times = np.bincount(draw.choice(size, size=size), minlength=size)
        values.append(judged.total(times @ judged.rows))
    return np.array(values)


def _ends(resampled: NDArray[Any]) -> tuple[float, float]:
    """Give what 95 % of the values lie between."""
    values = sorted(resampled.tolist())
    beyond = len(values) // 40
    return values[beyond], values[-1 - beyond]
