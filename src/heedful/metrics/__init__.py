"""How good a model is: figures over examples, what they are worth, and the scores of texts.

`bootstrap` and `verdict` know only numbers; `text` knows what a sentence and its reference are.
"""

from heedful.metrics.bootstrap import (
    Comparison,
    Judged,
    Score,
    compare,
    hits,
    interval,
    perplexity,
    scored,
)
from heedful.metrics.text import bleu, bleu_tokenizer, exact, judged
from heedful.metrics.verdict import Verdict

__all__ = [
    "Comparison",
    "Judged",
    "Score",
    "Verdict",
    "bleu",
    "bleu_tokenizer",
    "compare",
    "exact",
    "hits",
    "interval",
    "judged",
    "perplexity",
    "scored",
]
