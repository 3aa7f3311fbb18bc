"""Choosing words at random: which noun, which determiner, perhaps an adjective."""

from __future__ import annotations

import random
from collections.abc import Mapping, Sequence
from typing import TypeVar

from heedful.data.grammar.lexicon import (
    ADJECTIVES,
    NOUNS,
    NUMERALS,
    OUR_OWN,
    OUR_OWN_MANY,
    THE,
    THE_MANY,
    THESE,
    THIS,
    A,
    of,
)
from heedful.data.grammar.phrases import HE, PRONOUNS, SHE, THEY, YOU, Phrase, noun_phrase
from heedful.data.grammar.words import Agreement, Determiner, Noun

T = TypeVar("T")
Role = Mapping[Noun, tuple[Determiner, ...]]
"""The determiners each noun may have; one written twice is chosen twice as often."""

_KINDS = tuple(dict.fromkeys(noun.kind for noun in NOUNS))
_PLACES = frozenset(of("way water height place tree"))
_UNOWNED = frozenset(of("adult child singer farmer writer bus train"))


def _role(bare: tuple[Determiner, ...], own: tuple[Determiner, ...] = ()) -> Role:
    """Give the determiners of every noun: `bare` ones, and `own`, the possessives.

    Family always has a possessive, a place is always singular, and some nouns have no owner.
    """

    def determiners(noun: Noun) -> tuple[Determiner, ...]:
        if noun.kind == "family":
            return OUR_OWN
        if noun in _PLACES:
            return tuple(one for one in bare if not one.plural)
        return bare if noun in _UNOWNED else bare + own

    return {noun: determiners(noun) for noun in NOUNS}


_SOME = (THE,) * 8 + (THIS,) * 2 + (THE_MANY,) * 3 + (THESE,)
DEFINITE = _role(_SOME, OUR_OWN + OUR_OWN_MANY)
ANY = _role(_SOME + (A,) * 6, OUR_OWN + OUR_OWN_MANY)
SINGLE = _role((THE,) * 8 + (THIS,) * 2, OUR_OWN)
PLAIN = _role((THE,) * 3 + (THE_MANY,))
OWNED = _role((), OUR_OWN + OUR_OWN_MANY)
ONE = _role((A,))
COUNTED = _role(NUMERALS)

DESCRIBING = {
    kind: tuple(adjective for adjective in ADJECTIVES if kind in adjective.kinds) for kind in _KINDS
}
"""The adjectives that may stand beside a noun of each kind."""

SAID_OF = {
    kind: tuple(adjective for adjective in ADJECTIVES if kind in adjective.said_of)
    for kind in _KINDS
}
"""The adjectives that may be said of a noun of each kind."""


_OTHERS = (YOU, HE, SHE, THEY)


class Choice:
    """A random source: the same decisions for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed).random

    def one(self, options: Sequence[T]) -> T:
        """Choose among the options."""
        return options[int(self.random() * len(options))]

    def chance(self, probability: float) -> bool:
        """Decide yes with this probability."""
        return self.random() < probability

    def phrase(self, nouns: Sequence[Noun], role: Role, likely: float = 0.0) -> Phrase:
        """Choose a noun phrase; `likely` is the probability of an adjective."""
        noun = self.one(nouns)
        determiner = self.one(role[noun])
        if self.chance(likely) and (adjectives := DESCRIBING[noun.kind]):
            return noun_phrase(noun, determiner, self.one(adjectives))
        return noun_phrase(noun, determiner)

    def other(self, than: Phrase, nouns: Sequence[Noun], role: Role, likely: float = 0.0) -> Phrase:
        """Choose a phrase with another noun than this one: nobody meets himself."""
        while True:
            phrase = self.phrase(nouns, role, likely)
            if phrase.lemma != than.lemma:
                return phrase

    def person(self) -> Phrase:
        """Choose a personal pronoun as a subject."""
        return self.one(PRONOUNS).phrase

    def asked_about(self, subject: Phrase) -> Phrase:
        """Replace I and we: a Korean question in -니 is not asked about oneself."""
        if subject.who in (Agreement.JE, Agreement.NOUS):
            return self.one(_OTHERS).phrase
        return subject

    def subject(
        self, nouns: Sequence[Noun], role: Role, likely: float = 0.0, pronoun: float = 0.3
    ) -> Phrase:
        """Choose a noun phrase, or with the given probability a pronoun."""
        if self.chance(pronoun):
            return self.person()
        return self.phrase(nouns, role, likely)
