"""How near texts come to their references: BLEU and chrF as sacreBLEU counts them, exact sentences.

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

import unicodedata
from collections.abc import Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from heedful.data.languages import primary_language
from heedful.errors import ConfigError
from heedful.metrics import bootstrap
from heedful.metrics.bootstrap import SAMPLES, SEED, Comparison, Judged, Score

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sacrebleu.metrics.base import Metric

__all__ = ["bleu", "bleu_tokenizer", "compare", "exact", "judged", "scores"]

UNSPACED = {
    **dict.fromkeys(("zh", "yue"), "zh"),
    **dict.fromkeys(("ja", "th", "lo", "km", "my"), "char"),
}


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


def judged(
    hypotheses: Sequence[str],
    references: Sequence[str],
    target_language: str,
    tokenize: str | None = None,
) -> Iterator[Judged]:
    """Judge line by line what `scores` scores; only as many scores as are asked for are counted."""
    _check(hypotheses, references)
    for name, metric in _metrics(target_language, tokenize):
        metric.n_bootstrap, metric.seed = SAMPLES, str(SEED)  # both become part of the signature
        yield _judged(name, metric, hypotheses, references)


def compare(
    system: Sequence[str],
    baseline: Sequence[str],
    references: Sequence[str],
    target_language: str = "und",
    samples: int = SAMPLES,
    tokenize: str | None = None,
) -> list[Comparison]:
    """Compare the texts of two systems, as `bootstrap.compare` says, the leading score first."""
    _check(system, references)
    _check(baseline, references, "baseline translations")
    both = (judged(texts, references, target_language, tokenize) for texts in (system, baseline))
    return [bootstrap.compare(a, b, samples) for a, b in zip(*both, strict=True)]


def exact(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Give the share, from 0 to 1, of sentences translated exactly as the reference has it.

    Two texts are the same that look the same: Unicode composition and outer spaces do not count.
    """
    _check(hypotheses, references)
    both = ([unicodedata.normalize("NFC", t).strip() for t in s] for s in (hypotheses, references))
    return bootstrap.accuracy(*both)


def _check(
    hypotheses: Sequence[str], references: Sequence[str], what: str = "translations"
) -> None:
    bootstrap.same_number(hypotheses, references, what, "references")


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
    found = _judged(name, metric, hypotheses, references)
    if not interval:
        return Score(name, found.value, None, None, found.signature)
    metric.n_bootstrap, metric.seed = SAMPLES, str(SEED)  # both become part of the signature
    return Score(name, found.value, *bootstrap.interval(found), str(metric.get_signature()))


# sacreBLEU's public functions do not return the ends of the interval, take the seed from the
# environment and hold every resampled test set in memory at once, so these two use its internals.
# The tests compare the results with those of the public functions.


def _judged(
    name: str, metric: Metric, hypotheses: Sequence[str], references: Sequence[str]
) -> Judged:
    """Count what a corpus score is made of, a row for each sentence."""
    import numpy as np

    counts = metric._extract_corpus_statistics(hypotheses, [references])
    rows = np.array(counts, dtype=np.int64)
    return Judged(name, rows, partial(_value, metric), str(metric.get_signature()))


def _value(metric: Metric, totals: NDArray[Any]) -> float:
    return float(metric._compute_score_from_stats(totals.tolist()).score)
