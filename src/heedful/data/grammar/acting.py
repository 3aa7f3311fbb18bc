"""The constructions of one clause with a verb: who does what, to whom, when, whether, how."""

from __future__ import annotations

from typing import NamedTuple

from heedful.data.grammar import french
from heedful.data.grammar.being import (
    AN_ADJECTIVE,
    REAL,
    draw_located,
    draw_place,
    draw_quality,
    draw_scene,
)
from heedful.data.grammar.choosing import ANY, COUNTED, DEFINITE, OWNED, SINGLE, Choice, Role
from heedful.data.grammar.clauses import NOTHING, Sentence, asked, pairs_with, sentence, stated
from heedful.data.grammar.lexicon import PEOPLE, of
from heedful.data.grammar.phrases import PRONOUNS, Complement, Pairs, Phrase, Pronoun
from heedful.data.grammar.predicates import LOCATED, action, can, must, want_to
from heedful.data.grammar.verbs import (
    GIVING,
    GO,
    INTRANSITIVE,
    STATES,
    TIMES,
    TRANSITIVE,
    TRAVEL_BY,
    VERB_NAMED,
)
from heedful.data.grammar.words import Agreement, Noun, Tense, Verb
from heedful.data.particles import attach

TENSES = (Tense.PRESENT, Tense.PAST, Tense.FUTURE)


def _verbs(names: str) -> tuple[Verb, ...]:
    return tuple(VERB_NAMED[name] for name in names.split())


_LASTING = frozenset(_verbs("sleep wait sing cry run walk dance work"))
_STILL = frozenset(_verbs("sleep wait sing cry"))
_AT_A_PLACE = _LASTING | set(_verbs("see find meet buy sell lose eat draw"))
_FOND = frozenset(_verbs("love like"))
"""Their object is definite: "doesn't love a dog" has no good French."""


class Event(NamedTuple):
    """Somebody does something, perhaps to something."""

    subject: Phrase
    verb: Verb
    thing: Phrase | None

    def complement(self, negative: bool = False) -> Complement:
        """Give what goes with the verb."""
        return NOTHING if self.thing is None else self.thing.as_object(negative)

    def pairs(self) -> Pairs:
        """Give the pairs of the two nouns, with the verb and with their adjectives."""
        phrases = (self.subject,) if self.thing is None else (self.subject, self.thing)
        return pairs_with(self.verb, *phrases)


def draw_event(
    choice: Choice,
    role: Role = DEFINITE,
    likely: float = AN_ADJECTIVE,
    pronoun: float = 0.3,
    verbs: tuple[Verb, ...] = (*INTRANSITIVE, *TRANSITIVE),
) -> Event:
    """Choose a verb, who does it and to what."""
    verb = choice.one(verbs)
    subject = choice.subject(verb.agents, role, likely, pronoun)
    if not verb.objects:
        return Event(subject, verb, None)
    objects = DEFINITE if verb in _FOND else ANY
    return Event(subject, verb, choice.other(subject, verb.objects, objects, likely))


def somewhere(choice: Choice, event: Event, rest: Complement, likely: float) -> Complement:
    """Perhaps say where: after the object in English and French, before it in Korean."""
    if event.verb in _AT_A_PLACE and choice.chance(likely):
        en, fr, ko = draw_scene(choice, event.subject)
        return Complement(rest.en + en, rest.fr + fr, ko + rest.ko)
    return rest


def _at_times(
    choice: Choice, tense: Tense, negative: bool, rest: Complement, likely: float
) -> Complement:
    """Perhaps say when: last in English and French, right after the topic in Korean."""
    if negative and tense is Tense.PRESENT:
        return rest  # "doesn't ... every day" would have two meanings
    if not choice.chance(likely):
        return rest
    en, fr, ko = choice.one(TIMES[tense])
    return Complement(rest.en + en, rest.fr + fr, ko + rest.ko)


def _told(
    choice: Choice, name: str, event: Event, tense: Tense, negative: bool, when: float = 0.12
) -> Sentence:
    """State an event; `when` is the probability of an adverb of time."""
    rest = somewhere(choice, event, event.complement(negative), 0.3)
    if event.verb.lemma not in STATES:
        rest = _at_times(choice, tense, negative, rest, when)
    clause = stated(event.subject, action(event.verb), tense, negative, rest)
    return sentence(clause, name, event.pairs())


def intransitive(choice: Choice) -> Sentence:
    """The girl danced in the garden yesterday."""
    verb = choice.one(INTRANSITIVE)
    tense = choice.one(REAL)
    subject = choice.subject(verb.agents, ANY, AN_ADJECTIVE, 0.25)
    rest = NOTHING
    if verb in _LASTING and choice.chance(0.6):
        still = verb in _STILL
        rest = draw_place(choice, subject, "에서") if still else draw_scene(choice, subject)
    rest = _at_times(choice, tense, False, rest, 0.35)
    clause = stated(subject, action(verb), tense, False, rest)
    return sentence(clause, "intransitive", pairs_with(verb, subject))


def transitive(choice: Choice) -> Sentence:
    """The dog saw the cat."""
    event = draw_event(choice, ANY, 0.0, verbs=TRANSITIVE)
    return _told(choice, "transitive", event, choice.one(REAL), False)


def described(choice: Choice) -> Sentence:
    """The small dog saw the black cat."""
    event = draw_event(choice, ANY, 1.0, 0.0, TRANSITIVE)
    return _told(choice, "described", event, choice.one(REAL), False, 0.0)


def negation(choice: Choice) -> Sentence:
    """The dog didn't see the cat."""
    kind = choice.random()
    if kind < 0.7:
        return _told(choice, "negation", draw_event(choice), choice.one(TENSES), True)
    if kind < 0.85:
        subject, predicate, pairs = draw_quality(choice)
        return sentence(stated(subject, predicate, choice.one(REAL), True), "negation", pairs)
    subject, where = draw_located(choice)
    clause = stated(subject, LOCATED, choice.one(TENSES), True, where)
    return sentence(clause, "negation", ())


def future(choice: Choice) -> Sentence:
    """The dog will see the cat tomorrow."""
    return _told(choice, "future", draw_event(choice), Tense.FUTURE, False, 0.4)


def question(choice: Choice) -> Sentence:
    """Did the dog see the cat?"""
    kind = choice.random()
    if kind < 0.65:
        event = draw_event(choice, pronoun=0.4)
        event = event._replace(subject=choice.asked_about(event.subject))
        clause = asked(event.subject, action(event.verb), choice.one(TENSES), event.complement())
        return sentence(clause, "question", event.pairs(), question=True)
    if kind < 0.85:
        subject, predicate, pairs = draw_quality(choice)
        clause = asked(choice.asked_about(subject), predicate, choice.one(REAL))
        return sentence(clause, "question", pairs, question=True)
    subject, where = draw_located(choice)
    clause = asked(choice.asked_about(subject), LOCATED, choice.one(TENSES), where)
    return sentence(clause, "question", (), question=True)


def giving(choice: Choice) -> Sentence:
    """The teacher gave a book to the student."""
    verb = choice.one(GIVING)
    subject = choice.subject(PEOPLE, DEFINITE)
    thing = choice.phrase(verb.objects, ANY, AN_ADJECTIVE)
    to = choice.other(subject, PEOPLE, SINGLE)
    negative = choice.chance(0.15)
    rest = Complement(
        f" {thing.en} to {to.en}",
        f" {thing.fr_not if negative else thing.fr} {french.contract('à', to.fr)}",
        f"{to.ko}에게 {thing.object} ",
    )
    clause = stated(subject, action(verb), choice.one(TENSES), negative, rest)
    return sentence(clause, "giving", pairs_with(verb, subject, thing, to))


_GOALS = of("school market station museum library hospital park")


def travel(choice: Choice) -> Sentence:
    """She went to the market by bus."""
    tense = choice.one(TENSES)
    subject = choice.subject(PEOPLE, DEFINITE)
    to = choice.phrase(_GOALS, SINGLE)
    rest = Complement(f" to {to.en}", " " + french.contract("à", to.fr), f"{to.ko}에 ")
    if choice.chance(0.7):
        en, fr, ko = choice.one(TRAVEL_BY)
        how = attach(ko, "by")
        rest = Complement(f"{rest.en} by {en}", f"{rest.fr} en {fr}", f"{how} {rest.ko}")
    negative = choice.chance(0.15)
    rest = _at_times(choice, tense, negative, rest, 0.25)
    clause = stated(subject, action(GO), tense, negative, rest)
    return sentence(clause, "travel", pairs_with(GO, subject, to))


def _countable(nouns: tuple[Noun, ...]) -> tuple[Noun, ...]:
    """Leave out the family, of whom nobody has seven, and what is always one here."""
    return tuple(noun for noun in nouns if COUNTED[noun] and noun.kind != "family")


_COUNTING = tuple(
    (verb, _countable(verb.agents), _countable(verb.objects))
    for verb in TRANSITIVE
    if verb.lemma not in ("love", "like", "open", "close", "clean", "cross", "climb")
)


def numeral(choice: Choice) -> Sentence:
    """She bought three red books."""
    verb, agents, objects = choice.one(_COUNTING)
    if choice.chance(0.35):
        subject = choice.phrase(agents, COUNTED, 0.2)
        event = Event(subject, verb, choice.other(subject, verb.objects, ANY))
    else:
        subject = choice.subject(verb.agents, DEFINITE)
        event = Event(subject, verb, choice.other(subject, objects, COUNTED, 0.4))
    return _told(choice, "numeral", event, choice.one(TENSES), False)


def _owned(nouns: tuple[Noun, ...]) -> tuple[Noun, ...]:
    return tuple(noun for noun in nouns if OWNED[noun])


_OWNERS = tuple(
    (verb, _owned(verb.agents), _owned(verb.objects))
    for verb in TRANSITIVE
    if len(_owned(verb.objects)) > 1
)


def possession(choice: Choice) -> Sentence:
    """My dog found your key."""
    verb, agents, objects = choice.one(_OWNERS)
    subject = choice.subject(agents, OWNED)
    event = Event(subject, verb, choice.other(subject, objects, OWNED, AN_ADJECTIVE))
    return _told(choice, "possession", event, choice.one(TENSES), False)


_MEETING = _verbs("see love help follow meet")


def said_to(subject: Phrase, verb: Verb, to: Pronoun, tense: Tense, negative: bool) -> Sentence:
    """Make a sentence whose direct object is a pronoun."""
    rest = Complement(" " + to.en_object, "", to.phrase.object + " ")
    number = to.phrase.who.number
    clause = stated(subject, action(verb), tense, negative, rest, clitic=to.clitic, ahead=number)
    return sentence(clause, "pronoun", pairs_with(verb, subject))


def _oneself(subject: Phrase, to: Phrase) -> bool:
    """Whether subject and object overlap: I saw myself, we saw me."""
    first = (Agreement.JE, Agreement.NOUS)
    return not subject.lemma and (
        subject.who is to.who or (subject.who in first and to.who in first)
    )


def pronoun(choice: Choice) -> Sentence:
    """The dog saw her. She gave me a book."""
    to = choice.one(PRONOUNS)
    tense = choice.one(TENSES)
    negative = choice.chance(0.2)
    give = choice.chance(0.4)
    verb = choice.one(GIVING if give else _MEETING)
    subject = choice.subject(verb.agents, DEFINITE, AN_ADJECTIVE)
    while _oneself(subject, to.phrase):
        subject = choice.person()
    if not give:
        return said_to(subject, verb, to, tense, negative)
    thing = choice.phrase(verb.objects, ANY)
    fr = thing.fr_not if negative else thing.fr
    rest = Complement(
        f" {to.en_object} {thing.en}", f" {fr}", f"{to.phrase.ko}에게 {thing.object} "
    )
    clause = stated(subject, action(verb), tense, negative, rest, clitic=to.dative)
    return sentence(clause, "pronoun", pairs_with(verb, subject, thing))


_AGAINST_ONES_WILL = frozenset({"fall", "cry", "lose", "break", "want", "have", "like", "love"})
_DONE_AT_WILL = tuple(
    verb for verb in (*INTRANSITIVE, *TRANSITIVE) if verb.lemma not in _AGAINST_ONES_WILL
)


def modal(choice: Choice) -> Sentence:
    """The girl wants to buy a red car."""
    event = draw_event(choice, pronoun=0.4, verbs=_DONE_AT_WILL)
    subject, verb, _ = event
    kind = choice.random()
    if kind < 0.2:
        clause = stated(subject, must(verb), Tense.PRESENT, False, event.complement())
        return sentence(clause, "modal", event.pairs())
    predicate = can(verb) if kind < 0.6 else want_to(verb)
    tense = choice.one(REAL)
    if choice.chance(0.2):
        clause = asked(choice.asked_about(subject), predicate, tense, event.complement())
        return sentence(clause, "modal", event.pairs(), question=True)
    negative = choice.chance(0.25)
    clause = stated(subject, predicate, tense, negative, event.complement(negative))
    return sentence(clause, "modal", event.pairs())
