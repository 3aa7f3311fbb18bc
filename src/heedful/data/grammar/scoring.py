"""Whether a translation got right what the grammar makes hard: a pronoun, the particles."""

from __future__ import annotations

import re
from collections import Counter

from heedful.data.grammar.clauses import Sentence
from heedful.data.grammar.lexicon import NOUNS
from heedful.data.grammar.phrases import PRONOUNS
from heedful.data.grammar.verbs import FOR_PEOPLE, FOR_THINGS, TRAVEL_BY
from heedful.data.particles import PARTICLES, attach
from heedful.errors import DataError

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


_NAMES = {noun.ko.split()[-1] for noun in NOUNS}
_NOUNS = frozenset(
    _NAMES
    | {name + "들" for name in _NAMES}
    | {noun.counter for noun in NOUNS}
    | {pronoun.phrase.ko for pronoun in PRONOUNS}
    | {"내", "네"}
    | {ko for _, _, ko in TRAVEL_BY}
    | {where.ko.strip() for where in (*FOR_PEOPLE, *FOR_THINGS) if where.ko}
)
"""The last words of everything a particle may follow."""
_KINDS = {form: kind for kind, forms in PARTICLES.items() for form in forms}
_UNCHANGING = ("에게", "에서", "보다", "에")
_ENDINGS = sorted((*_KINDS, *_UNCHANGING), key=len, reverse=True)


def _particles(text: str) -> list[tuple[str, str]]:
    """Give each noun that has a particle, with it; other words are passed over."""
    found = []
    for word in text.rstrip(".?! ").split():
        if word in _NOUNS:
            continue
        for ending in _ENDINGS:
            noun = word.removesuffix(ending)
            if noun != word and noun in _NOUNS:
                found.append((noun, ending))
                break
    return found


def particles_right(sentence: Sentence, translation: str) -> bool:
    """Whether a Korean translation has the particles of the reference, each in the right form."""
    found = _particles(translation)
    for noun, form in found:
        if form in _KINDS and attach(noun, _KINDS[form]) != noun + form:
            return False
    there = Counter(_KINDS.get(form, form) for _, form in found)
    needed = Counter(_KINDS.get(form, form) for _, form in _particles(sentence.ko))
    return needed <= there
