"""Whether a translation got right what the grammar makes hard: a pronoun, the particles."""

from __future__ import annotations

import re
from collections import Counter

from heedful.data.grammar import korean
from heedful.data.grammar.clauses import Sentence
from heedful.data.grammar.lexicon import NOUNS
from heedful.data.grammar.phrases import PRONOUNS
from heedful.data.grammar.verbs import TRAVEL_BY
from heedful.errors import DataError

__all__ = ["particles_right", "pronoun_right"]

_PRONOUN = re.compile(r"\bparce qu['’](ils?|elles?)\b", re.IGNORECASE)


def _pronoun(french: str) -> str | None:
    found = _PRONOUN.search(french)
    return found[1].lower() if found else None


def pronoun_right(sentence: Sentence, translation: str) -> bool:
    """Whether a French translation says il or elle for "it" as the noun it stands for demands."""
    if sentence.it is None:
        raise DataError(
            f"there is no it to resolve in {sentence.en!r}; "
            f"ask only of sentences whose `it` is not None"
        )
    return _pronoun(translation) == _pronoun(sentence.fr)


def _nouns() -> frozenset[str]:
    """Give the last words of everything a particle may follow."""
    nouns = {noun.ko.split()[-1] for noun in NOUNS}
    nouns |= {noun + "들" for noun in nouns}
    nouns |= {noun.counter for noun in NOUNS}
    nouns |= {one.phrase.ko for one in PRONOUNS} | {"내", "네"}
    nouns |= {ko.strip().removesuffix("로").removesuffix("으") for _, _, ko in TRAVEL_BY}
    return frozenset(nouns)


_NOUNS = _nouns()
_UNCHANGING = ("에게", "에서", "보다", "에")
_FORMS = {form: kind for kind, forms in korean.PARTICLES.items() for form in forms}
_ENDINGS = sorted((*_FORMS, *_UNCHANGING), key=len, reverse=True)


def _particle(word: str) -> tuple[str, str] | None:
    """Split a word into noun and particle, or give None for any other word."""
    if word in _NOUNS:
        return None
    for ending in _ENDINGS:
        if word.endswith(ending) and word[: -len(ending)] in _NOUNS:
            return word[: -len(ending)], ending
    return None


def particles_right(sentence: Sentence, translation: str) -> bool:
    """Whether a Korean translation has the particles of the reference, each in the right form."""
    there: Counter[str] = Counter()
    for word in translation.rstrip(".?! ").split():
        split = _particle(word)
        if split is None:
            continue
        noun, ending = split
        kind = _FORMS.get(ending, ending)
        if ending in _FORMS and korean.attach(noun, kind) != word:
            return False
        there[kind] += 1
    needed = Counter(
        _FORMS.get(split[1], split[1])
        for word in sentence.ko.rstrip(".?").split()
        if (split := _particle(word)) is not None
    )
    return needed <= there
