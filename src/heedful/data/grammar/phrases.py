"""Noun phrases: a determiner, perhaps an adjective, a noun; and the personal pronouns.

A phrase holds every form a clause may ask for, so that a clause only puts strings together.

Korean has no articles. What a sentence is about is named with 그 where English says the, and
counted where English says a (개 한 마리가); objects are bare. The plural 들 goes on the living,
and on things only where the sentence is about them: elsewhere it would sound translated.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from heedful.data.grammar import english, french, korean
from heedful.data.grammar.lexicon import PERSONS, A
from heedful.data.grammar.words import Adjective, Agreement, Determiner, Mood, Noun, Tense
from heedful.data.particles import attach

Pairs = tuple[tuple[str, str], ...]
"""(adjective, noun) and (noun, verb), as English lemmas."""


class Complement(NamedTuple):
    """What goes with a verb: English and French after it, with the space before; Korean before."""

    en: str
    fr: str
    ko: str


@dataclass(frozen=True)
class Subject:
    """Who a clause is about, in the forms a subject takes."""

    en: str
    fr: str
    topic: str
    """Korean, in a clause of its own."""
    subject: str
    """Korean, in a clause inside another."""
    who: Agreement

    @property
    def fr_lead(self) -> str:
        """With the space before the verb; je is left to the verb, with which it elides."""
        return "" if self.who is Agreement.JE else self.fr + " "

    @property
    def fr_que(self) -> str:
        """After que, with the space before the verb."""
        return "que " if self.who is Agreement.JE else french.join("que", self.fr) + " "


@dataclass(frozen=True)
class Phrase(Subject):
    """Somebody or something, in every form a clause needs."""

    ko: str
    """Bare, as an object or a place has it, without a particle."""
    kind: str
    lemma: str = ""
    """The English noun, or nothing for a pronoun."""
    head: int = 0
    """Which of the English words is the noun."""
    pairs: Pairs = ()
    fr_not: str = ""
    """After a negated verb: un livre becomes de livre."""
    with_and: str = ""
    """Korean, with another subject after it."""
    bare_topic: str = ""
    """Without 그: what a relative clause modifies is definite already."""
    bare_subject: str = ""

    @property
    def object(self) -> str:
        """Give the Korean direct object."""
        return attach(self.ko, "object")

    def as_object(self, negative: bool = False) -> Complement:
        """Give the direct object of a verb, or of a negated verb."""
        fr = self.fr_not if negative else self.fr
        return Complement(f" {self.en}", f" {fr}", self.object + " ")


def _french(noun: Noun, determiner: Determiner, adjective: Adjective | None) -> tuple[str, str]:
    """Give the phrase, and what is left of it without its determiner."""
    number = noun.feminine + 2 * determiner.plural
    words = noun.fr_plural if determiner.plural else noun.fr
    if adjective is not None:
        form = adjective.fr[number]
        if not adjective.fr_vowel:
            words = f"{words} {form}"
        elif number == 0 and french.starts_with_vowel(words):
            words = f"{adjective.fr_vowel} {words}"
        else:
            words = f"{form} {words}"
    small = determiner.fr[noun.feminine + 2 * french.starts_with_vowel(words)]
    return small + words, words


def _korean(noun: Noun, determiner: Determiner, adjective: Adjective | None) -> tuple[str, ...]:
    """Give the phrase as a subject, as a subject without 그, and as an object."""
    words = noun.ko
    if adjective is not None:
        modifier = korean.conjugate(adjective.stem(noun.kind), Tense.PRESENT, Mood.MODIFY)
        words = f"{modifier} {words}"
    if determiner.ko_count:
        counted = f"{words} {determiner.ko_count} {noun.counter}"
        return counted, counted, words if determiner is A else counted
    many = words + "들" if determiner.plural else words
    few = many if noun.kind in (*PERSONS, "animal") else words
    full = f"{determiner.ko} {many}"
    if determiner.ko == "그":
        return full, many, few
    return full, full, f"{determiner.ko} {few}"


def noun_phrase(noun: Noun, determiner: Determiner, adjective: Adjective | None = None) -> Phrase:
    """Put a determiner, perhaps an adjective and a noun together."""
    en = noun.en_plural if determiner.plural else noun.en
    if adjective is not None:
        en = f"{adjective.en} {en}"
    en = f"{english.article(en) if determiner is A else determiner.en} {en}"
    fr, rest = _french(noun, determiner, adjective)
    full, about, plain = _korean(noun, determiner, adjective)
    particle = "subject" if determiner.ko_count else "topic"  # what is new takes 가, not 는
    third = Agreement.IL, Agreement.ELLE, Agreement.ILS, Agreement.ELLES
    who = third[noun.feminine + 2 * determiner.plural]
    return Phrase(
        en=en,
        fr=fr,
        fr_not=french.join("de", rest) if determiner is A else fr,
        topic=attach(full, particle),
        subject=attach(full, "subject"),
        who=who,
        ko=plain,
        with_and=attach(full, "and"),
        bare_topic=attach(about, particle),
        bare_subject=attach(about, "subject"),
        kind=noun.kind,
        lemma=noun.en,
        head=2 if adjective is not None else 1,
        pairs=((adjective.en, noun.en),) if adjective is not None else (),
    )


@dataclass(frozen=True)
class Pronoun:
    """A personal pronoun: as a subject a phrase like any other, as an object a clitic in French."""

    phrase: Phrase
    en_object: str
    clitic: str
    dative: str


def _pronoun(en: str, fr: str, ko: str, who: Agreement) -> Pronoun:
    """Read "I me" in English, "je me me" in French (subject, object, dative), "나 내" in Korean."""
    subject, en_object = en.split()
    name, clitic, dative = fr.split()
    base, before_ga = ko.split()
    topic, nominative = attach(base, "topic"), attach(before_ga, "subject")
    phrase = Phrase(subject, name, topic, nominative, who, base, "adult")
    return Pronoun(phrase, en_object, clitic, dative)


I = _pronoun("I me", "je me me", "나 내", Agreement.JE)  # noqa: E741
YOU = _pronoun("you you", "tu te te", "너 네", Agreement.TU)
HE = _pronoun("he him", "il le lui", "그 그", Agreement.IL)
SHE = _pronoun("she her", "elle la lui", "그녀 그녀", Agreement.ELLE)
WE = _pronoun("we us", "nous nous nous", "우리 우리", Agreement.NOUS)
THEY = _pronoun("they them", "ils les leur", "그들 그들", Agreement.ILS)
PRONOUNS = (I, YOU, HE, SHE, WE, THEY)
"""You is tu, they is ils, and I, you and we are men to French: each has one translation."""
