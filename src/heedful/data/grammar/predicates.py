"""Predicates: what a clause says of its subject, in every tense, polarity and person.

A predicate knows the verb group and nothing else; objects and places are put around it by the
clause. Modal verbs, adjectives and professions are predicates like any verb, so that every
construction works with all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial

from heedful.data.grammar import english, french, korean
from heedful.data.grammar.verbs import CAN, MUST, WANT
from heedful.data.grammar.words import (
    Adjective,
    Agreement,
    EnglishVerb,
    FrenchVerb,
    Mood,
    Noun,
    Stem,
    Tense,
    Verb,
)

English = Callable[[Tense, bool, Agreement], str]
French = Callable[[Tense, bool, Agreement, str, int], str]
"""Also given what stands before a plain verb: the last two arguments of `french.finite`."""
Korean = Callable[[Tense, bool, Agreement, Mood], str]


@dataclass(frozen=True)
class Predicate:
    """The verb group in each language, as functions of tense, polarity and subject."""

    en: English
    fr: French
    ko: Korean
    do: EnglishVerb | None = None
    """The verb with which English asks by do; any other question begins with the first word."""

    def ask(self, tense: Tense, who: Agreement) -> tuple[str, str]:
        """Give what stands before and after the subject of an English question."""
        if self.do is not None:
            return english.ask(self.do, tense, who)
        before, space, after = self.en(tense, False, who).partition(" ")
        return before, space + after


def _conjugated(stem: Stem, negated: Stem) -> Korean:
    """Conjugate a stem, or its negation; Korean verbs do not depend on the subject."""
    return lambda tense, negative, who, mood: korean.conjugate(
        negated if negative else stem, tense, mood
    )


def action(verb: Verb) -> Predicate:
    """Give the plain verb: saw."""
    return Predicate(
        partial(english.finite, verb.en),
        partial(french.finite, verb.fr),
        _conjugated(verb.ko, korean.negate(verb.ko)),
        verb.en,
    )


def _with_infinitive(modal: FrenchVerb, verb: Verb) -> French:
    """Give the French of a modal verb; no sentence has one with a pronoun as its object."""
    return lambda tense, negative, who, clitic, ahead: french.assemble(
        french.simple(modal, tense, who), verb.fr.infinitive, negative, who
    )


def can(verb: Verb) -> Predicate:
    """Give can with a verb, and could as its past; there is no future."""
    modal = {Tense.PRESENT: ("can", "can't"), Tense.PAST: ("could", "couldn't")}
    return Predicate(
        lambda tense, negative, who: f"{modal[tense][negative]} {verb.en.base}",
        _with_infinitive(CAN, verb),
        _conjugated(korean.able(verb.ko, False), korean.able(verb.ko, True)),
    )


def must(verb: Verb) -> Predicate:
    """Give must with a verb, in the present and not negated.

    The negation means different things in each language.
    """
    stem = korean.must(verb.ko)
    return Predicate(
        lambda tense, negative, who: "must " + verb.en.base,
        _with_infinitive(MUST, verb),
        _conjugated(stem, stem),
    )


def want_to(verb: Verb) -> Predicate:
    """Give want to with a verb.

    In Korean one knows only one's own wishes; the others behave as if they wished.
    """
    base = verb.en.base
    wish = english.verb(f"want to {base}", f"wanted to {base}", f"wants to {base}")

    def ko(tense: Tense, negative: bool, who: Agreement, mood: Mood) -> str:
        asked = who is Agreement.TU and mood is Mood.ASK
        stem = korean.want(verb.ko, asked or who in (Agreement.JE, Agreement.NOUS))
        return korean.conjugate(korean.negate(stem) if negative else stem, tense, mood)

    return Predicate(
        partial(english.finite, wish),
        _with_infinitive(WANT, verb),
        ko,
        wish,
    )


def _being(en: Callable[[Agreement], str], fr: Callable[[Agreement], str], ko: Korean) -> Predicate:
    """Give be with what follows it, which in English and French depends on the subject."""

    return Predicate(
        lambda tense, negative, who: english.be(tense, negative, who) + en(who),
        lambda tense, negative, who, clitic, ahead: french.assemble(
            french.simple(french.ETRE, tense, who), fr(who), negative, who
        ),
        ko,
    )


_DEGREES = {
    "": ("", ("", "")),
    "very": ("très ", ("매우 ", "그다지 ")),
    "too": ("trop ", ("너무 ", "너무 ")),
    "more": ("plus ", ("더 ", "더 ")),
}
"""In French, and in Korean before an adjective that is not negated and one that is."""


def quality(adjective: Adjective, degree: str, kind: str) -> Predicate:
    """Give be with an adjective, by its degree and the kind of noun it is said of."""
    fr_degree, ko_degree = _DEGREES[degree]
    word = adjective.more if degree == "more" else f"{degree} {adjective.en}".strip()
    stem = adjective.stem(kind)
    conjugated = _conjugated(stem, korean.negate(stem))
    return _being(
        lambda who: " " + word,
        lambda who: fr_degree + adjective.fr[who.number],
        lambda tense, negative, who, mood: (
            ko_degree[negative] + conjugated(tense, negative, who, mood)
        ),
    )


def profession(noun: Noun) -> Predicate:
    """Give be with a profession; French has no article here."""
    one = f" {english.article(noun.en)} {noun.en}"
    names = (noun.fr, noun.fr_woman, noun.fr_plural, french.plural(noun.fr_woman))
    return _being(
        lambda who: f" {noun.en_plural}" if who.number > 1 else one,
        lambda who: names[who.number],
        lambda tense, negative, who, mood: korean.copula(noun.ko, tense, negative, mood),
    )


LOCATED = _being(lambda who: "", lambda who: "", _conjugated(korean.BE_AT, korean.NOT_BE_AT))
"""Be, with a place that the clause adds."""
