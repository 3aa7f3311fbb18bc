"""The built-in corpus: parallel English, French and Korean sentences from one abstract grammar.

It needs no network and no licence, and it knows the truth about each of its sentences: which
construction it is, which words meet in it, what "it" stands for. One English sentence has exactly
one translation into each language, so a model can get every sentence right.

Read `words.py` (what a word is), `lexicon.py` and `verbs.py` (the words), `english.py`,
`french.py` and `korean.py` (their inflection), `phrases.py`, `predicates.py` and `clauses.py`
(how sentences are put together), `being.py`, `acting.py`, `because.py` and `constructions.py`
(which sentences there are), `corpus.py` (the stream and the splits), `scoring.py` (what to
measure). What other parts of the package may use is exported here; in each file, what begins with
an underscore is that file's own.
"""

from heedful.data.grammar.clauses import LANGUAGES, Sentence
from heedful.data.grammar.corpus import FAMOUS, Splits, generate, splits
from heedful.data.grammar.scoring import particles_right, pronoun_right

__all__ = [
    "FAMOUS",
    "LANGUAGES",
    "Sentence",
    "Splits",
    "generate",
    "particles_right",
    "pronoun_right",
    "splits",
]
