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
from heedful.data.grammar.lexicon import A
from heedful.data.grammar.words import Adjective, Agreement, Determiner, Mood, Noun, Table, Tense

__all__ = [
    "HE",
    "PERSONS",
    "PHRASES",
    "PRONOUNS",
    "SHE",
    "THEY",
    "WE",
    "YOU",
    "Complement",
    "I",
    "Phrase",
    "Pronoun",
    "Subject",
]

Pair = tuple[str, str]


class Complement(NamedTuple):
    """What goes with a verb: English and French after it, with the space before; Korean before."""

    en: str
    fr: str
    ko: str


@dataclass(frozen=True, slots=True, eq=False)
class Subject:
    """Who a clause is about, in the forms a subject takes."""

    en: str
    fr_lead: str
    """With the space before the verb; je is left to the verb, with which it elides."""
    fr_que: str
    """After que, with the space before the verb."""
    topic: str
    """Korean, in a clause of its own."""
    subject: str
    """Korean, in a clause inside another."""
    who: Agreement


@dataclass(frozen=True, slots=True, eq=False)
class Phrase(Subject):
    """Somebody or something, in every form a clause needs."""

    fr: str
    fr_not: str
    """After a negated verb: un livre becomes de livre."""
    ko: str
    """Bare, as an object or a place has it, without a particle."""
    object: str
    acted_on: tuple[Complement, Complement]
    """As the direct object of a verb, and of a negated verb."""
    with_and: str
    bare_topic: str
    """Without 그: what a relative clause modifies is definite already."""
    bare_subject: str
    kind: str
    lemma: str
    """The English noun, or nothing for a pronoun."""
    head: int
    """Which of the English words is the noun."""
    pairs: tuple[Pair, ...]


PERSONS = frozenset({"profession", "adult", "child", "family"})
_ANIMATE = PERSONS | {"animal"}


def _french(noun: Noun, determiner: Determiner, adjective: Adjective | None) -> tuple[str, str]:
    """Give the phrase, and what is left of it without its determiner."""
    number = noun.feminine + 2 * determiner.plural
    words = noun.fr_plural if determiner.plural else noun.fr
    if adjective is not None:
        form = adjective.fr[number]
        if not adjective.fr_before:
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
    few = many if noun.kind in _ANIMATE else words
    full = f"{determiner.ko} {many}"
    if determiner.ko == "그":
        return full, many, few
    return full, full, f"{determiner.ko} {few}"


def _make(key: tuple[Noun, Determiner, Adjective | None]) -> Phrase:
    noun, determiner, adjective = key
    en = noun.en_plural if determiner.plural else noun.en
    if adjective is not None:
        en = f"{adjective.en} {en}"
    en = f"{english.article(en) if determiner is A else determiner.en} {en}"
    fr, rest = _french(noun, determiner, adjective)
    fr_not = french.join("de", rest) if determiner is A else fr
    full, about, plain = _korean(noun, determiner, adjective)
    particle = "subject" if determiner.ko_count else "topic"  # what is new takes 가, not 는
    accused = korean.attach(plain, "object")
    one, many = (Agreement.IL, Agreement.ELLE), (Agreement.ILS, Agreement.ELLES)
    return Phrase(
        en=en,
        fr_lead=fr + " ",
        fr_que=french.join("que", fr) + " ",
        topic=korean.attach(full, particle),
        subject=korean.attach(full, "subject"),
        who=(many if determiner.plural else one)[noun.feminine],
        fr=fr,
        fr_not=fr_not,
        ko=plain,
        object=accused,
        acted_on=(
            Complement(f" {en}", f" {fr}", accused + " "),
            Complement(f" {en}", f" {fr_not}", accused + " "),
        ),
        with_and=korean.attach(full, "and"),
        bare_topic=korean.attach(about, particle),
        bare_subject=korean.attach(about, "subject"),
        kind=noun.kind,
        lemma=noun.en,
        head=2 if adjective is not None else 1,
        pairs=((adjective.en, noun.en),) if adjective is not None else (),
    )


PHRASES: Table[tuple[Noun, Determiner, Adjective | None], Phrase] = Table(_make)


@dataclass(frozen=True, slots=True, eq=False)
class Pronoun:
    """A personal pronoun: as a subject a phrase like any other, as an object a clitic in French."""

    phrase: Phrase
    en_object: str
    clitic: str
    dative: str
    ko_dative: str


def _pronoun(en: str, fr: str, ko: str, who: Agreement) -> Pronoun:
    """Read "I me" in English, "je me me" in French (subject, object, dative), "나 내" in Korean."""
    subject, en_object = en.split()
    name, clitic, dative = fr.split()
    base, before_ga = ko.split()
    first = who is Agreement.JE
    nominative = korean.attach(before_ga, "subject")
    topic = korean.attach(base, "topic")
    accused = korean.attach(base, "object")
    phrase = Phrase(
        en=subject,
        fr=name,
        fr_not=name,
        fr_lead="" if first else name + " ",
        fr_que="que " if first else french.join("que", name) + " ",
        ko=base,
        topic=topic,
        subject=nominative,
        object=accused,
        acted_on=(Complement(" " + en_object, "", accused + " "),) * 2,
        with_and=korean.attach(base, "and"),
        bare_topic=topic,
        bare_subject=nominative,
        who=who,
        kind="adult",
        lemma="",
        head=0,
        pairs=(),
    )
    return Pronoun(phrase, en_object, clitic, dative, base + "에게")


I = _pronoun("I me", "je me me", "나 내", Agreement.JE)  # noqa: E741
YOU = _pronoun("you you", "tu te te", "너 네", Agreement.TU)
HE = _pronoun("he him", "il le lui", "그 그", Agreement.IL)
SHE = _pronoun("she her", "elle la lui", "그녀 그녀", Agreement.ELLE)
WE = _pronoun("we us", "nous nous nous", "우리 우리", Agreement.NOUS)
THEY = _pronoun("they them", "ils les leur", "그들 그들", Agreement.ILS)
PRONOUNS = (I, YOU, HE, SHE, WE, THEY)
"""You is tu, they is ils, and I, you and we are men to French: each has one translation."""
