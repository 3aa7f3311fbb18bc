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
from heedful.metrics.bootstrap import SAMPLES, SEED, Judged

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from sacrebleu.metrics.base import Metric

UNSPACED = {
    **dict.fromkeys(("zh", "yue"), "zh"),
    **dict.fromkeys(("ja", "th", "lo", "km", "my"), "char"),
}


def bleu_tokenizer(target_language: str) -> str:
    """Choose how BLEU splits words: see the table at the head of this file."""
    return UNSPACED.get(primary_language(target_language), "13a")


def bleu(
    hypotheses: Sequence[str], references: Sequence[str], tokenize: str | None = None
) -> Judged:
    """Judge by corpus BLEU, split by sacreBLEU's tokeniser 13a unless another is named."""
    bootstrap.same_number(hypotheses, references, "translations", "references")
    return _judged("BLEU", _bleu(tokenize), hypotheses, references)


def judged(
    hypotheses: Sequence[str],
    references: Sequence[str],
    target_language: str,
    tokenize: str | None = None,
) -> Iterator[Judged]:
    """Judge by BLEU and chrF, the one to trust in this target language first.

    Only as many scores as are asked for are counted. `tokenize` is BLEU's, where it shall not be
    the language's own.
    """
    from sacrebleu.metrics.chrf import CHRF

    bootstrap.same_number(hypotheses, references, "translations", "references")
    language = primary_language(target_language)
    both = [("BLEU", _bleu(tokenize or bleu_tokenizer(language))), ("chrF", CHRF())]
    for name, metric in both[::-1] if language == "ko" or language in UNSPACED else both:
        yield _judged(name, metric, hypotheses, references)


def exact(hypotheses: Sequence[str], references: Sequence[str]) -> float:
    """Give the share, from 0 to 1, of sentences translated exactly as the reference has it.

    Two texts are the same that look the same: Unicode composition and outer spaces do not count.
    """
    bootstrap.same_number(hypotheses, references, "translations", "references")
    pairs = zip(map(_seen, hypotheses), map(_seen, references), strict=True)
    return sum(one == other for one, other in pairs) / len(references)


def _seen(text: str) -> str:
    return unicodedata.normalize("NFC", text).strip()


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


# sacreBLEU's public functions do not return the ends of the interval, take the seed from the
# environment and hold every resampled test set in memory at once, so these two use its internals.
# The tests compare the results with those of the public functions.


def _judged(
    name: str, metric: Metric, hypotheses: Sequence[str], references: Sequence[str]
) -> Judged:
    """Count what a corpus score is made of, a row for each sentence."""
    import numpy as np

    metric.n_bootstrap, metric.seed = SAMPLES, str(SEED)  # both become part of the signature
    counts = metric._extract_corpus_statistics(hypotheses, [references])
    rows = np.array(counts, dtype=np.int64)
    return Judged(name, rows, partial(_value, metric), str(metric.get_signature()))


def _value(metric: Metric, totals: NDArray[Any]) -> float:
    return float(metric._compute_score_from_stats(totals.tolist()).score)
