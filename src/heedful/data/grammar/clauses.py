"""Clauses: a subject, a predicate and what goes with it, put in each language's order."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from heedful.data.grammar import french
from heedful.data.grammar.lexicon import PERSONS
from heedful.data.grammar.phrases import Complement, Pairs, Phrase, Subject
from heedful.data.grammar.predicates import Predicate
from heedful.data.grammar.verbs import Preposition
from heedful.data.grammar.words import Agreement, Mood, Tense, Verb
from heedful.errors import DataError

LANGUAGES = ("en", "fr", "ko")


@dataclass(frozen=True)
class Sentence:
    """One sentence in the three languages, with what a test needs to know about it."""

    en: str
    fr: str
    ko: str
    construction: str
    """The name of the construction."""
    pairs: frozenset[tuple[str, str]]
    """(adjective, noun) and (noun, verb), as English lemmas."""
    it: int | None = None
    """Which of `en.split()` is the "it" that has to be resolved."""
    antecedent: int | None = None
    """Which of `en.split()` is the noun it stands for."""

    def text(self, language: str) -> str:
        """Give the sentence in one language."""
        if language not in LANGUAGES:
            raise DataError(
                f"the built-in corpus has no language {language!r}; "
                f"choose one of {', '.join(LANGUAGES)}"
            )
        return {"en": self.en, "fr": self.fr, "ko": self.ko}[language]


class Clause(NamedTuple):
    """The words of a clause, without capital or full stop."""

    en: str
    fr: str
    ko: str


NOTHING = Complement("", "", "")


def pairs_with(verb: Verb, *phrases: Phrase) -> Pairs:
    """Give each noun with its adjective and with the verb; a pronoun has neither."""
    nouns = tuple((phrase.lemma, verb.lemma) for phrase in phrases if phrase.lemma)
    return sum((phrase.pairs for phrase in phrases), nouns)


def located(preposition: Preposition, phrase: Phrase, particle: str) -> Complement:
    """Say where: French contracts à and de with the article, Korean names the side."""
    *before, small = preposition.fr.split()
    fr = " ".join([*before, french.contract(small, phrase.fr)])
    return Complement(
        f" {preposition.en} {phrase.en}", " " + fr, f"{phrase.ko}{preposition.ko}{particle} "
    )


def stated(
    subject: Subject,
    predicate: Predicate,
    tense: Tense,
    negative: bool,
    complement: Complement = NOTHING,
    mood: Mood = Mood.STATE,
    clitic: str = "",
    ahead: int = 0,
) -> Clause:
    """Give a statement. `mood` is the Korean ending; `clitic`, `ahead`: see `french.finite`."""
    who = subject.who
    return Clause(
        f"{subject.en} {predicate.en(tense, negative, who)}{complement.en}",
        f"{subject.fr_lead}{predicate.fr(tense, negative, who, clitic, ahead)}{complement.fr}",
        f"{subject.topic} {complement.ko}{predicate.ko(tense, negative, who, mood)}",
    )


def reported(
    subject: Subject,
    predicate: Predicate,
    tense: Tense,
    negative: bool,
    complement: Complement = NOTHING,
) -> Clause:
    """Give a reported statement: that ..., que ..., ...다고."""
    who = subject.who
    return Clause(
        f"that {subject.en} {predicate.en(tense, negative, who)}{complement.en}",
        f"{subject.fr_que}{predicate.fr(tense, negative, who, '', 0)}{complement.fr}",
        f"{subject.subject} {complement.ko}{predicate.ko(tense, negative, who, Mood.REPORT)}",
    )


def asked(
    subject: Subject, predicate: Predicate, tense: Tense, complement: Complement = NOTHING
) -> Clause:
    """Give a yes-no question."""
    who = subject.who
    before, after = predicate.ask(tense, who)
    return Clause(
        f"{before} {subject.en}{after}{complement.en}",
        f"est-ce {subject.fr_que}{predicate.fr(tense, False, who, '', 0)}{complement.fr}",
        f"{subject.topic} {complement.ko}{predicate.ko(tense, False, who, Mood.ASK)}",
    )


def both(first: Phrase, second: Phrase) -> Subject:
    """Join two subjects; in French one man among them makes the plural masculine."""
    women = first.who.number % 2 == 1 and second.who.number % 2 == 1
    return Subject(
        f"{first.en} and {second.en}",
        f"{first.fr} et {second.fr}",
        f"{first.with_and} {second.topic}",
        f"{first.with_and} {second.subject}",
        Agreement.ELLES if women else Agreement.ILS,
    )


def modified(head: Phrase, relative: Clause) -> Subject:
    """Put a relative clause on a subject; in Korean it goes before, and 그 is left out."""
    return Subject(
        f"{head.en} {relative.en}",
        f"{head.fr} {relative.fr}",
        f"{relative.ko} {head.bare_topic}",
        f"{relative.ko} {head.bare_subject}",
        head.who,
    )


def modified_object(head: Phrase, relative: Clause) -> Complement:
    """Put a relative clause on an object."""
    return Complement(
        f" {head.en} {relative.en}",
        f" {head.fr} {relative.fr}",
        f"{relative.ko} {head.object} ",
    )


def doing(head: Phrase, predicate: Predicate, tense: Tense, complement: Complement) -> Clause:
    """Give the relative clause whose subject is the head: who saw the cat, that saw the cat."""
    who = head.who
    return Clause(
        f"{'who' if head.kind in PERSONS else 'that'} "
        f"{predicate.en(tense, False, who)}{complement.en}",
        f"qui {predicate.fr(tense, False, who, '', 0)}{complement.fr}",
        f"{complement.ko}{predicate.ko(tense, False, who, Mood.MODIFY)}",
    )


def done_to(head: Phrase, subject: Subject, predicate: Predicate, tense: Tense) -> Clause:
    """Give the relative clause whose object is the head: that the girl bought."""
    who = subject.who
    group = predicate.fr(tense, False, who, "", head.who.number)
    return Clause(
        f"that {subject.en} {predicate.en(tense, False, who)}",
        f"{subject.fr_que}{group}",
        f"{subject.subject} {predicate.ko(tense, False, who, Mood.MODIFY)}",
    )


def sentence(
    clause: Clause,
    construction: str,
    pairs: Pairs,
    *,
    question: bool = False,
    it: int | None = None,
    antecedent: int | None = None,
) -> Sentence:
    """Write a clause as a sentence; French sets its question mark apart."""
    en, fr, ko = clause
    end, end_fr = ("?", " ?") if question else (".", ".")
    return Sentence(
        f"{en[0].upper()}{en[1:]}{end}",
        f"{fr[0].upper()}{fr[1:]}{end_fr}",
        ko + end,
        construction,
        frozenset(pairs),
        it,
        antecedent,
    )
