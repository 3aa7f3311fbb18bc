"""How good a translation is: BLEU and chrF as sacreBLEU counts them, perplexity, exact sentences.

sacreBLEU is used here and nowhere else, and imported only when a score is asked for. Every score
carries sacreBLEU's signature, without which a BLEU means nothing.

Which score leads is a matter of the target language. BLEU compares words, so it needs words:

| into                                | BLEU's tokeniser | leading |
| ----------------------------------- | ---------------- | ------- |
| Chinese                             | zh               | chrF    |
| Japanese, Thai, Lao, Khmer, Burmese | char             | chrF    |
| Korean                              | 13a              | chrF    |
| every other language                | 13a              | BLEU    |

Korean is written with spaces, but a word carries its particles and endings, so one wrong particle
costs BLEU the whole word. sacreBLEU's morphological tokenisers (ja-mecab, ko-mecab) need packages
of their own; who has them can ask for them by name.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from heedful.data.languages import primary_language
from heedful.errors import ConfigError, DataError

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sacrebleu.metrics.base import Metric

__all__ = [
    "Comparison",
    "Score",
    "accuracy",
    "bleu",
    "bleu_tokenizer",
    "compare",
    "exact",
    "perplexity",
    "scores",
]

SAMPLES = 1000
SEED = 12345  # sacreBLEU's own, so that our intervals are the ones it prints

UNSPACED = {
    **dict.fromkeys(("zh", "yue"), "zh"),
    **dict.fromkeys(("ja", "th", "lo", "km", "my"), "char"),
}


@dataclass(frozen=True)
class Score:
    """One figure from 0 to 100, and how it was counted."""

    name: str
    value: float
    low: float | None
    """Lower end of the 95 % bootstrap interval, where one was asked for."""
    high: float | None
    signature: str
    """sacreBLEU's: the version and every choice that changes the figure."""


@dataclass(frozen=True)
class Comparison:
    """Two systems on the same sentences, and the chance that their difference is luck."""

    name: str
    system: float
    baseline: float
    difference: float
    p_value: float


def bleu_tokenizer(target_language: str) -> str:
    """Choose how BLEU splits words: see the table at the head of this file."""
    return UNSPACED.get(primary_language(target_language), "13a")


def bleu(
    hypotheses: Sequence[str],
    references: Sequence[str],
    tokenize: str | None = None,
    interval: bool = False,
) -> Score:
    """Score with corpus BLEU, split by sacreBLEU's tokeniser 13a unless another is named."""
    _check(hypotheses, references)
    return _score("BLEU", _bleu(tokenize), hypotheses, references, interval)


def scores(
    hypotheses: Sequence[str],
    references: Sequence[str],
    target_language: str,
    interval: bool = False,
    tokenize: str | None = None,
) -> list[Score]:
    """Give BLEU and chrF, the one to trust in this target language first.

    `tokenize` is BLEU's, where it shall not be the language's own.
    """
    _check(hypotheses, references)
    return [
        _score(name, metric, hypotheses, references, interval)
        for name, metric in _metrics(target_language, tokenize)
    ]


def compare(
    system: Sequence[str],
    baseline: Sequence[str],
    references: Sequence[str],
    target_language: str = "und",
    samples: int = SAMPLES,
    tokenize: str | None = None,
) -> list[Comparison]:
    """Compare two systems by paired bootstrap resampling (Koehn 2004), the leading score first.

    Both are scored on the same resampled test sets. The p-value is two-sided: the share of test
    sets whose difference strays from the mean by at least the difference observed. sacreBLEU's
    own test looks at one side and does not count ties, so it calls two equal systems
    significantly different (p = 0.001); here they get p = 1.
    """
    import numpy as np

    _check(system, references)
    _check(baseline, references, "baseline translations")
    found = []
    for name, metric in _metrics(target_language, tokenize):
        ours, theirs = (_statistics(metric, side, references) for side in (system, baseline))
        value, base = (_value(metric, side.sum(axis=0)) for side in (ours, theirs))
        differences = _resampled(metric, ours, samples) - _resampled(metric, theirs, samples)
        strays = np.abs(differences - differences.mean())
        # 1e-9: a rounding error must not decide whether a tie counts.
        luck = int((strays >= abs(value - base) - 1e-9).sum())
        found.append(Comparison(name, value, base, value - base, (luck + 1) / (samples + 1)))
    return found


def perplexity(nll_sum: float, tokens: int) -> float:
    """Turn a summed negative log-likelihood (natural logarithm) into perplexity per token."""
    if tokens < 1:
        raise DataError(f"perplexity over {tokens} tokens has no meaning; score at least one token")
    try:
        return math.exp(nll_sum / tokens)
    except OverflowError:  # an untrained or diverged model; the run should tell, not crash
        return math.inf


def accuracy(predicted: Sequence[object], expected: Sequence[object]) -> float:
    """Give the share, from 0 to 1, of predictions that are what was expected."""
    _check(predicted, expected, "predictions", "expected answers")
    return sum(p == e for p, e in zip(predicted, expected, strict=True)) / len(expected)


def exact(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Give the share, from 0 to 1, of sentences translated exactly as the reference has it.

    Two texts are the same that look the same: Unicode composition and outer spaces do not count.
    """
    _check(hypotheses, references)
    both = ([unicodedata.normalize("NFC", t).strip() for t in s] for s in (hypotheses, references))
    return accuracy(*both)


def _check(
    hypotheses: Sequence[object],
    references: Sequence[object],
    what: str = "translations",
    against: str = "references",
) -> None:
    if len(hypotheses) != len(references):
        raise DataError(
            f"{len(hypotheses)} {what} do not match {len(references)} {against}; "
            f"give one line for each"
        )
    if not references:
        raise DataError(f"there are no {what} to score; give at least one line")


def _metrics(target_language: str, tokenize: str | None) -> list[tuple[str, Metric]]:
    from sacrebleu.metrics.chrf import CHRF

    language = primary_language(target_language)
    both = [("BLEU", _bleu(tokenize or bleu_tokenizer(language))), ("chrF", CHRF())]
    return both[::-1] if language == "ko" or language in UNSPACED else both


def _bleu(tokenize: str | None) -> Metric:
    from sacrebleu.metrics.bleu import BLEU

    tokenize = tokenize or "13a"
    if tokenize not in BLEU.TOKENIZERS:
        raise ConfigError(
            f"BLEU tokeniser {tokenize!r} is not known; "
            f"expected one of {', '.join(sorted(BLEU.TOKENIZERS))}"
        )
    try:
        # `force` only keeps sacreBLEU from warning about text that looks tokenised.
        return BLEU(tokenize=tokenize, force=True)
    except (RuntimeError, ImportError, OSError) as error:
        raise ConfigError(
            f"BLEU tokeniser {tokenize!r} cannot be used: it needs a package or a download that "
            f"is not here; use 13a, intl, zh, char or none, or install what it needs"
        ) from error


def _score(
    name: str,
    metric: Metric,
    hypotheses: Sequence[str],
    references: Sequence[str],
    interval: bool,
) -> Score:
    statistics = _statistics(metric, hypotheses, references)
    value = _value(metric, statistics.sum(axis=0))
    low = high = None
    if interval:
        resampled = sorted(_resampled(metric, statistics, SAMPLES).tolist())
        low, high = resampled[SAMPLES // 40], resampled[-1 - SAMPLES // 40]
        metric.n_bootstrap, metric.seed = SAMPLES, str(SEED)  # both become part of the signature
    return Score(name, value, low, high, str(metric.get_signature()))


# sacreBLEU's public functions do not return the ends of the interval, take the seed from the
# environment and hold every resampled test set in memory at once, so these three use its internals.
# The tests compare the results with those of the public functions.


def _statistics(
    metric: Metric, hypotheses: Sequence[str], references: Sequence[str]
) -> NDArray[Any]:
    """Count what a corpus score is made of, a row for each sentence."""
    import numpy as np

    return np.array(metric._extract_corpus_statistics(hypotheses, [references]), dtype=np.int64)


def _value(metric: Metric, totals: NDArray[Any]) -> float:
    return float(metric._compute_score_from_stats(totals.tolist()).score)


def _resampled(metric: Metric, statistics: NDArray[Any], samples: int) -> NDArray[Any]:
    """Score test sets drawn from this one with replacement: the same ones for every system."""
    import numpy as np

    draw = np.random.default_rng(SEED)
    size = len(statistics)
    values = []
    for _ in range(samples):
        times = np.bincount(draw.choice(size, size=size), minlength=size)
        values.append(_value(metric, times @ statistics))
    return np.array(values)
