"""The constructions made of two clauses, and the list of all with how often each is chosen.

"because" is one of two clauses too, but has its own file.
"""

from __future__ import annotations

from collections.abc import Callable

from heedful.data.grammar import acting, being
from heedful.data.grammar.acting import TENSES, draw_event, somewhere
from heedful.data.grammar.because import because, draw_reason, explained
from heedful.data.grammar.being import REAL, draw_place, draw_quality
from heedful.data.grammar.choosing import PLAIN, SAID_OF, SINGLE, Choice
from heedful.data.grammar.clauses import (
    Clause,
    Sentence,
    both,
    doing,
    done_to,
    modified,
    modified_object,
    pairs_with,
    reported,
    sentence,
    stated,
)
from heedful.data.grammar.lexicon import NOUNS, PEOPLE, of
from heedful.data.grammar.phrases import Complement, Pairs, Phrase, Subject
from heedful.data.grammar.predicates import LOCATED, Predicate, action, quality
from heedful.data.grammar.verbs import INTRANSITIVE, REPORTING, STATES, TRANSITIVE
from heedful.data.grammar.words import Mood, Tense, Verb

_BEFORE = {Tense.PRESENT: (Tense.PAST, Tense.PRESENT), Tense.PAST: (Tense.PAST,)}
"""When what a relative clause tells may have happened, by the tense of the main clause."""

_ACTIONS = tuple(verb for verb in TRANSITIVE if verb.lemma not in STATES)
_HEADS = tuple(noun for noun in NOUNS if noun.kind != "family")
"""What a relative clause may be about: "my mother who" would say that I have several."""
_DOERS = of("profession adult child animal")
_DONE_BY = {noun.en: tuple(verb for verb in _ACTIONS if noun in verb.agents) for noun in _HEADS}
_DONE_TO = {noun.en: tuple(verb for verb in _ACTIONS if noun in verb.objects) for noun in _HEADS}
_GOES = {noun.en: tuple(verb for verb in INTRANSITIVE if noun in verb.agents) for noun in _HEADS}
_THINGS_DONE = {verb: tuple(one for one in verb.objects if one in _HEADS) for verb in TRANSITIVE}
_KNOWN_THINGS = tuple(one for one in _HEADS if len(_DONE_TO[one.en]) > 1 and SAID_OF[one.kind])


def _which_does(
    choice: Choice, head: Phrase, tense: Tense, avoid: Verb | None = None
) -> tuple[Clause, Pairs]:
    """Choose a relative clause of which the head is the subject."""
    verb = choice.one(_DONE_BY[head.lemma])
    while verb is avoid:
        verb = choice.one(_DONE_BY[head.lemma])
    thing = choice.other(head, verb.objects, SINGLE, 0.3)
    clause = doing(head, action(verb), choice.one(_BEFORE[tense]), thing.as_object())
    return clause, pairs_with(verb, head, thing)


def _which_is_done(
    choice: Choice, head: Phrase, tense: Tense, avoid: Verb | None = None
) -> tuple[Clause, Pairs]:
    """Choose a relative clause of which the head is the object."""
    verb = choice.one(_DONE_TO[head.lemma])
    while verb is avoid:
        verb = choice.one(_DONE_TO[head.lemma])
    while True:
        subject = choice.subject(verb.agents, SINGLE, pronoun=0.5)
        if subject.lemma != head.lemma:
            break
    clause = done_to(head, subject, action(verb), choice.one(_BEFORE[tense]))
    return clause, pairs_with(verb, head, subject)


def _modified_subject(choice: Choice, tense: Tense) -> tuple[Phrase, Subject, Pairs]:
    """Choose a noun with a relative clause: the dog that saw the cat, the letter that she wrote."""
    if choice.chance(0.5):
        head = choice.phrase(_DOERS, PLAIN)
        clause, pairs = _which_does(choice, head, tense)
    else:
        head = choice.phrase(_KNOWN_THINGS, PLAIN)
        clause, pairs = _which_is_done(choice, head, tense)
    return head, modified(head, clause), pairs


def _comment(choice: Choice, head: Phrase) -> tuple[Predicate, Pairs]:
    """Choose what to say of it: slept, is tired."""
    goes = _GOES[head.lemma]
    if goes and choice.chance(0.5):
        verb = choice.one(goes)
        return action(verb), pairs_with(verb, head)
    adjective = choice.one(SAID_OF[head.kind])
    return quality(adjective, "", head.kind), ((adjective.en, head.lemma),)


def _relative_subject(choice: Choice) -> Sentence:
    tense = choice.one(REAL)
    head, subject, pairs = _modified_subject(choice, tense)
    predicate, said = _comment(choice, head)
    return sentence(stated(subject, predicate, tense, False), "relative", pairs + said)


def relative(choice: Choice) -> Sentence:
    """The dog that saw the cat slept. She lost the key that I found."""
    if choice.chance(0.5):
        return _relative_subject(choice)
    tense = choice.one(REAL)
    verb = choice.one(TRANSITIVE)
    subject = choice.subject(verb.agents, SINGLE, 0.3, 0.4)
    head = choice.other(subject, _THINGS_DONE[verb], PLAIN)
    by, to = _DONE_BY[head.lemma], _DONE_TO[head.lemma]
    if by and choice.chance(0.5):
        clause, pairs = _which_does(choice, head, tense, verb)
    elif len(to) > 1:
        clause, pairs = _which_is_done(choice, head, tense, verb)
    else:
        return _relative_subject(choice)
    whole = stated(subject, action(verb), tense, False, modified_object(head, clause))
    return sentence(whole, "relative", pairs + pairs_with(verb, subject, head))


def _same(first: Phrase, second: Phrase) -> bool:
    """Whether two subjects are the same noun or the same pronoun."""
    return first.lemma == second.lemma and (bool(first.lemma) or first.who is second.who)


def coordination(choice: Choice) -> Sentence:
    """The dog and the cat slept. The man sang but the children didn't dance."""
    tense = choice.one(TENSES)
    if choice.chance(0.25):
        return _joined_subjects(choice, tense)
    likely = 0.5 if choice.chance(0.6) else 0.0
    first = draw_event(choice, likely=likely, pronoun=0.2)
    second = draw_event(choice, likely=likely, pronoun=0.2)
    while _same(first.subject, second.subject):
        second = draw_event(choice, likely=likely, pronoun=0.2)
    contrast = choice.chance(0.4)
    no = contrast and choice.chance(0.5)
    yes = contrast and not no
    mood = Mood.BUT if contrast else Mood.AND
    one = stated(first.subject, action(first.verb), tense, no, first.complement(no), mood)
    rest = somewhere(choice, second, second.complement(yes), likely)
    two = stated(second.subject, action(second.verb), tense, yes, rest)
    en, fr = ("but", "mais") if contrast else ("and", "et")
    whole = Clause(f"{one.en} {en} {two.en}", f"{one.fr} {fr} {two.fr}", f"{one.ko} {two.ko}")
    return sentence(whole, "coordination", first.pairs() + second.pairs())


def _joined_subjects(choice: Choice, tense: Tense) -> Sentence:
    event = draw_event(choice, SINGLE, 0.0, 0.0)
    first, verb, thing = event
    while True:
        second = choice.other(first, verb.agents, SINGLE)
        if thing is None or second.lemma != thing.lemma:
            break
    whole = stated(both(first, second), action(verb), tense, False, event.complement())
    return sentence(whole, "coordination", event.pairs() + pairs_with(verb, second))


def thought(choice: Choice) -> Sentence:
    """I think that the dog saw the cat."""
    while True:
        holder = choice.subject(PEOPLE, SINGLE, pronoun=0.6)
        verb = choice.one(REPORTING)
        if choice.chance(0.2):
            reason = draw_reason(choice)
            opinion = reported(reason.agent, reason.predicate, reason.tense, True, reason.rest)
            pairs = reason.pairs + pairs_with(verb, holder)
            return explained(_held(holder, verb, opinion), "thought", reason, pairs)
        about, opinion, pairs = _opinion(choice)
        if not _same(about, holder):
            break
    held = _held(holder, verb, opinion)
    return sentence(held, "thought", pairs + pairs_with(verb, holder))


def _held(holder: Phrase, verb: Verb, opinion: Clause) -> Clause:
    rest = Complement(" " + opinion.en, " " + opinion.fr, opinion.ko + " ")
    return stated(holder, action(verb), Tense.PRESENT, False, rest)


def _opinion(choice: Choice) -> tuple[Phrase, Clause, Pairs]:
    """Choose a clause to report, and who or what it is about."""
    negative = choice.chance(0.15)
    kind = choice.random()
    if kind < 0.5:
        event = draw_event(choice, likely=0.25)
        rest = event.complement(negative)
        clause = reported(event.subject, action(event.verb), choice.one(TENSES), negative, rest)
        return event.subject, clause, event.pairs()
    if kind < 0.65:
        about, predicate, pairs = draw_quality(choice)
        return about, reported(about, predicate, choice.one(REAL), negative), pairs
    if kind < 0.8:
        about = choice.subject(_DOERS, SINGLE)
        where = draw_place(choice, about, "에")
        return about, reported(about, LOCATED, choice.one(TENSES), negative, where), ()
    tense = choice.one(REAL)
    about, subject, pairs = _modified_subject(choice, tense)
    predicate, said = _comment(choice, about)
    return about, reported(subject, predicate, tense, negative), pairs + said


CONSTRUCTIONS: dict[str, tuple[Callable[[Choice], Sentence], int]] = {
    "because": (because, 48),
    "identity": (being.identity, 4),
    "attribute": (being.attribute, 4),
    "comparison": (being.comparison, 4),
    "intransitive": (acting.intransitive, 5),
    "transitive": (acting.transitive, 5),
    "described": (acting.described, 6),
    "giving": (acting.giving, 4),
    "place": (being.place, 4),
    "travel": (acting.travel, 3),
    "there_is": (being.there_is, 4),
    "negation": (acting.negation, 5),
    "future": (acting.future, 3),
    "question": (acting.question, 5),
    "numeral": (acting.numeral, 4),
    "possession": (acting.possession, 4),
    "pronoun": (acting.pronoun, 4),
    "modal": (acting.modal, 5),
    "relative": (relative, 7),
    "coordination": (coordination, 11),
    "thought": (thought, 6),
}
"""Each construction by its name, with how many of some hundred sentences are of it."""
