"""Predicates: what a clause says of its subject, in every tense, polarity and person.

A predicate knows the verb group and nothing else; objects and places are put around it by the
clause. Modal verbs, adjectives and professions are predicates like any verb, so that every
construction works with all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from heedful.data.grammar import english, french, korean
from heedful.data.grammar.verbs import CAN, MUST, WANT
from heedful.data.grammar.words import (
    Adjective,
    Agreement,
    FrenchVerb,
    Mood,
    Noun,
    Stem,
    Table,
    Tense,
    Verb,
)

__all__ = [
    "ABLE",
    "LOCATED",
    "OBLIGED",
    "PROFESSIONS",
    "QUALITIES",
    "SAID",
    "WILLING",
    "Predicate",
]

English = tuple[Tense, bool, Agreement]
Asked = tuple[Tense, Agreement]
French = tuple[Tense, bool, Agreement, str, int]
Korean = tuple[Tense, bool, Agreement, Mood]


@dataclass(frozen=True, slots=True, eq=False)
class Predicate:
    """The verb group by language.

    `en` by tense, polarity and person; `ask` the two parts around the subject of a question;
    `fr` also by clitic and by the form of an object ahead of the verb; `ko` by mood.
    """

    lemma: str
    en: Table[English, str]
    ask: Table[Asked, tuple[str, str]]
    fr: Table[French, str]
    ko: Table[Korean, str]


def _said(verb: Verb) -> Predicate:
    stems = (verb.ko, korean.negate(verb.ko))
    return Predicate(
        verb.lemma,
        Table(lambda key: english.finite(verb.en, *key)),
        Table(lambda key: english.ask(verb.en, *key)),
        Table(lambda key: french.finite(verb.fr, *key)),
        Table(lambda key: korean.conjugate(stems[key[1]], key[0], key[3])),
    )


SAID: Table[Verb, Predicate] = Table(_said)


def _with_infinitive(bends: FrenchVerb, verb: Verb) -> Table[French, str]:
    """Give the French of a modal verb; the clitic goes to the infinitive it belongs to."""

    def make(key: French) -> str:
        tense, negative, who, clitic, _ = key
        infinitive = verb.fr.infinitive
        tail = french.join(clitic, infinitive) if clitic else infinitive
        return french.assemble(french.simple(bends, tense, who), tail, negative, who)

    return Table(make)


def _able(verb: Verb) -> Predicate:
    base = verb.en.base
    words = {(Tense.PRESENT, False): "can ", (Tense.PRESENT, True): "can't "}
    words |= {(Tense.PAST, False): "could ", (Tense.PAST, True): "couldn't "}
    stems = (korean.able(verb.ko, False), korean.able(verb.ko, True))
    return Predicate(
        verb.lemma,
        Table(lambda key: words[key[0], key[1]] + base),
        Table(lambda key: (words[key[0], False].strip(), " " + base)),
        _with_infinitive(CAN, verb),
        Table(lambda key: korean.conjugate(stems[key[1]], key[0], key[3])),
    )


ABLE: Table[Verb, Predicate] = Table(_able)
"""Can, and could as its past; there is no future."""


def _obliged(verb: Verb) -> Predicate:
    base = verb.en.base
    stem = korean.must(verb.ko)
    return Predicate(
        verb.lemma,
        Table(lambda key: "must " + base),
        Table(lambda key: ("must", " " + base)),
        _with_infinitive(MUST, verb),
        Table(lambda key: korean.conjugate(stem, key[0], key[3])),
    )


OBLIGED: Table[Verb, Predicate] = Table(_obliged)
"""Must, in the present and not negated: the negation means different things in each language."""


def _willing(verb: Verb) -> Predicate:
    base = verb.en.base
    wish = english.verb(f"want to {base}", f"wanted to {base}", f"wants to {base}")

    def ko(key: Korean) -> str:
        tense, negative, who, mood = key
        asked = who is Agreement.TU and mood is Mood.ASK
        stem = korean.want(verb.ko, asked or who in (Agreement.JE, Agreement.NOUS))
        return korean.conjugate(korean.negate(stem) if negative else stem, tense, mood)

    return Predicate(
        verb.lemma,
        Table(lambda key: english.finite(wish, *key)),
        Table(lambda key: english.ask(wish, *key)),
        _with_infinitive(WANT, verb),
        Table(ko),
    )


WILLING: Table[Verb, Predicate] = Table(_willing)
"""Want to. In Korean one knows only one's own wishes; the others behave as if they wished."""


def _being(
    lemma: str,
    en: Callable[[Agreement], str],
    fr: Callable[[Agreement], str],
    ko: Callable[[Korean], str],
) -> Predicate:
    """Give be with what follows it, which in English and French depends on the subject."""

    def ask(key: Asked) -> tuple[str, str]:
        before, after = english.ask_be(*key)
        return before, after + en(key[1])

    def french_group(key: French) -> str:
        tense, negative, who, _, _ = key
        head = french.simple(french.ETRE, tense, who)
        return french.assemble(head, fr(who), negative, who)

    return Predicate(
        lemma,
        Table(lambda key: english.be(*key) + en(key[2])),
        Table(ask),
        Table(french_group),
        Table(ko),
    )


_DEGREES = {
    "": ("", ("", "")),
    "very": ("très ", ("매우 ", "그다지 ")),
    "too": ("trop ", ("너무 ", "너무 ")),
    "more": ("plus ", ("더 ", "더 ")),
}
"""In French, and in Korean before an adjective that is not negated and one that is."""


def _quality(key: tuple[Adjective, str, str]) -> Predicate:
    adjective, degree, kind = key
    fr_degree, ko_degree = _DEGREES[degree]
    word = adjective.more if degree == "more" else f"{degree} {adjective.en}".strip()
    stem = adjective.stem(kind)
    stems: tuple[Stem, Stem] = (stem, korean.negate(stem))
    return _being(
        adjective.en,
        lambda who: " " + word,
        lambda who: fr_degree + adjective.fr[who.number],
        lambda key: ko_degree[key[1]] + korean.conjugate(stems[key[1]], key[0], key[3]),
    )


QUALITIES: Table[tuple[Adjective, str, str], Predicate] = Table(_quality)
"""Be with an adjective, by its degree and the kind of noun it is said of."""


def _profession(noun: Noun) -> Predicate:
    one = f" {english.article(noun.en)} {noun.en}"
    names = (noun.fr, noun.fr_woman, noun.fr_plural, french.plural(noun.fr_woman))
    return _being(
        noun.en,
        lambda who: f" {noun.en_plural}" if who.number > 1 else one,
        lambda who: names[who.number],
        lambda key: korean.copula(noun.ko, key[0], key[1], key[3]),
    )


PROFESSIONS: Table[Noun, Predicate] = Table(_profession)
"""Be with a profession; French has no article here."""

_HERE = (korean.BE_AT, korean.NOT_BE_AT)
LOCATED = _being(
    "be",
    lambda who: "",
    lambda who: "",
    lambda key: korean.conjugate(_HERE[key[1]], key[0], key[3]),
)
