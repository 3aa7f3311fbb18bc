"""The constructions with be: who somebody is, what something is like, where it is."""

from __future__ import annotations

from heedful.data.grammar.choosing import COUNTED, DEFINITE, ONE, SAID_OF, SINGLE, Choice
from heedful.data.grammar.clauses import Clause, Sentence, asked, located, sentence, stated
from heedful.data.grammar.lexicon import of
from heedful.data.grammar.phrases import Complement, Pairs, Phrase
from heedful.data.grammar.predicates import LOCATED, Predicate, profession, quality
from heedful.data.grammar.verbs import AROUND, BESIDE, FOR_BAGS, FOR_PEOPLE, FOR_PETS, FOR_THINGS
from heedful.data.grammar.words import Tense
from heedful.data.particles import attach

REAL = (Tense.PRESENT, Tense.PAST, Tense.PAST)
_OFTEN_NOW = (Tense.PRESENT, Tense.PRESENT, Tense.PAST, Tense.FUTURE)
AN_ADJECTIVE = 0.12

_NAMED = of("man woman child family")
_PROFESSIONS = of("profession")


def identity(choice: Choice) -> Sentence:
    """I am a student."""
    subject = choice.subject(_NAMED, DEFINITE, pronoun=0.6)
    predicate = profession(choice.one(_PROFESSIONS))
    tense = choice.one(_OFTEN_NOW)
    if choice.chance(0.25):
        subject = choice.asked_about(subject)
        return sentence(asked(subject, predicate, tense), "identity", (), question=True)
    return sentence(stated(subject, predicate, tense, choice.chance(0.25)), "identity", ())


_WITH_QUALITIES = tuple(noun for kind in SAID_OF if SAID_OF[kind] for noun in of(kind))
_NOT_BY_DEGREE = frozenset({"red", "blue", "yellow", "white", "black"})


def draw_quality(choice: Choice) -> tuple[Phrase, Predicate, Pairs]:
    """Choose somebody or something and what it is like."""
    subject = choice.subject(_WITH_QUALITIES, DEFINITE, pronoun=0.35)
    adjective = choice.one(SAID_OF[subject.kind])
    degree = "very" if choice.chance(0.3) and adjective.en not in _NOT_BY_DEGREE else ""
    pairs = ((adjective.en, subject.lemma),) if subject.lemma else ()
    return subject, quality(adjective, degree, subject.kind), pairs


def attribute(choice: Choice) -> Sentence:
    """The house is very big."""
    subject, predicate, pairs = draw_quality(choice)
    return sentence(stated(subject, predicate, choice.one(REAL), False), "attribute", pairs)


_COMPARED = {
    kind: tuple(adjective for adjective in SAID_OF[kind] if adjective.more)
    for kind in ("profession", "adult", "animal", "vehicle", "thing", "container", "furniture")
}
_COMPARED_KINDS = (*_COMPARED, "animal", "animal", "profession", "vehicle", "thing")
_OF_KIND = {kind: of(kind) for kind in _COMPARED}


def comparison(choice: Choice) -> Sentence:
    """The dog is bigger than the cat."""
    kind = choice.one(_COMPARED_KINDS)
    adjective = choice.one(_COMPARED[kind])
    first = choice.phrase(_OF_KIND[kind], DEFINITE)
    second = choice.other(first, _OF_KIND[kind], SINGLE)
    than = Complement(f" than {second.en}", " " + second.fr_que[:-1], f"{second.ko}보다 ")
    predicate = quality(adjective, "more", kind)
    clause = stated(first, predicate, choice.one(REAL), choice.chance(0.2), than)
    pairs = ((adjective.en, first.lemma), (adjective.en, second.lemma))
    return sentence(clause, "comparison", pairs)


_PLACES = {"vehicle": BESIDE, "animal": FOR_PETS, "thing": FOR_THINGS, "container": FOR_BAGS}
_LARGE = frozenset({"animal", "horse", "cow", "bear", "goat", "giraffe"})
_FOUND = of("profession adult child animal vehicle thing suitcase box bag basket")
_MOVABLE = (*_FOUND, *of("family"))


def draw_place(choice: Choice, phrase: Phrase, particle: str) -> Complement:
    """Choose a place where this may be: no giraffe on the table, no truck in the kitchen."""
    large = phrase.lemma in _LARGE
    preposition = choice.one(BESIDE if large else _PLACES.get(phrase.kind, FOR_PEOPLE))
    return located(preposition, choice.phrase(preposition.things, SINGLE), particle)


def draw_scene(choice: Choice, phrase: Phrase) -> Complement:
    """Choose a place with enough room to do something there."""
    preposition = choice.one(BESIDE if phrase.kind == "animal" else AROUND)
    return located(preposition, choice.phrase(preposition.things, SINGLE), "에서")


def draw_located(choice: Choice, likely: float = 0.0) -> tuple[Phrase, Complement]:
    """Choose somebody or something and where it is."""
    subject = choice.subject(_MOVABLE, DEFINITE, likely, 0.25)
    return subject, draw_place(choice, subject, "에")


def place(choice: Choice) -> Sentence:
    """The cat is under the table."""
    subject, where = draw_located(choice, AN_ADJECTIVE)
    clause = stated(subject, LOCATED, choice.one(_OFTEN_NOW), False, where)
    return sentence(clause, "place", subject.pairs)


def there_is(choice: Choice) -> Sentence:
    """There are three books on the table."""
    past = choice.chance(0.35)
    kind = choice.random()
    thing = choice.phrase(_FOUND, COUNTED if kind < 0.45 else ONE, 0.3)
    where = draw_place(choice, thing, "에")
    if kind < 0.8:
        be = ("were" if past else "are") if kind < 0.45 else ("was" if past else "is")
        clause = Clause(
            f"there {be} {thing.en}{where.en}",
            f"il y {'avait' if past else 'a'} {thing.fr}{where.fr}",
            f"{where.ko}{thing.subject} {'있었다' if past else '있다'}",
        )
    else:
        bare = attach(thing.ko, "subject")
        clause = Clause(
            f"there {'was' if past else 'is'} no {thing.en.split(' ', 1)[1]}{where.en}",
            f"il n'y {'avait' if past else 'a'} pas {thing.fr_not}{where.fr}",
            f"{where.ko}{bare} {'없었다' if past else '없다'}",
        )
    return sentence(clause, "there_is", thing.pairs)
