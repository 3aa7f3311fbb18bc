"""Sentences in which "it" has to be understood.

In "The animal didn't cross the street because it was too tired" it is the animal, with "too
wide" the street: only the adjective and the verb tell. French has to say il or elle, so its
pronoun shows what was understood. The two nouns mostly differ in gender here, so that a guess is
right little more often than half of the time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from heedful.data.grammar.choosing import DESCRIBING, SINGLE, Choice
from heedful.data.grammar.clauses import Clause, Sentence, pairs_with, sentence, stated
from heedful.data.grammar.lexicon import ADJECTIVE_NAMED, NOUN_NAMED, THE, of
from heedful.data.grammar.phrases import Complement, Pairs, Phrase, noun_phrase
from heedful.data.grammar.predicates import Predicate, action, can, quality
from heedful.data.grammar.verbs import FIT, VERB_NAMED
from heedful.data.grammar.words import Adjective, Agreement, Noun, Tense, Verb


@dataclass(frozen=True)
class Scene:
    """A verb with two nouns, and which qualities of either would prevent it.

    No quality is in both lists of a scene; the same one may point elsewhere in another scene
    (too wide: the street that is crossed, but the trophy that does not fit).
    """

    verb: Verb
    of_agent: Mapping[Noun, tuple[Adjective, ...]]
    of_object: Mapping[Noun, tuple[Adjective, ...]]


def _adjectives(names: str) -> tuple[Adjective, ...]:
    return tuple(ADJECTIVE_NAMED[name] for name in names.split())


def _qualities(*parts: tuple[str, str]) -> dict[Noun, tuple[Adjective, ...]]:
    """Read qualities; each part gives nouns or kinds, and what may be wrong with them."""
    qualities: dict[Noun, tuple[Adjective, ...]] = {}
    for names, adjectives in parts:
        for noun in of(names):
            qualities[noun] = qualities.get(noun, ()) + _adjectives(adjectives)
    return qualities


_SLOPES = ("street road path", "steep")
SCENES = (
    Scene(
        VERB_NAMED["cross"],
        _qualities(("animal", "tired weak sick lazy slow young")),
        _qualities(("way", "wide narrow long slippery"), ("water", "wide deep"), _SLOPES),
    ),
    Scene(
        VERB_NAMED["cross"],
        _qualities(("car motorcycle truck bus", "heavy slow big")),
        _qualities(("way", "narrow slippery"), _SLOPES),
    ),
    Scene(
        VERB_NAMED["climb"],
        _qualities(("animal", "tired weak sick lazy slow young")),
        _qualities(("height", "high steep slippery")),
    ),
    Scene(
        VERB_NAMED["eat"],
        _qualities(("animal", "tired weak sick young")),
        _qualities(("food", "hard bitter sour sweet")),
    ),
    Scene(
        VERB_NAMED["carry"],
        _qualities(("animal", "tired weak sick lazy young")),
        _qualities(
            ("container furniture ball lamp clock mirror trophy", "heavy big"),
            ("table bench bed lamp mirror wardrobe", "long"),
        ),
    ),
    Scene(
        VERB_NAMED["fit"],
        _qualities(
            (" ".join(noun.en for noun in FIT.agents), "big"),
            ("hat mirror trophy clock guitar", "wide"),
            ("umbrella mirror lamp guitar bottle", "long"),
        ),
        _qualities(("container", "small narrow full")),
    ),
)

_NEUTRAL = frozenset(_adjectives("old new beautiful red blue yellow white black fresh"))
_BESIDE = {
    kind: tuple(
        adjective
        for adjective in options
        if adjective in _NEUTRAL and (kind, adjective.en) != ("animal", "old")
    )
    for kind, options in DESCRIBING.items()
}
"""What may stand beside either noun without bearing on the reason: no old dog is too young."""

When = tuple[Callable[[Verb], Predicate], Tense, Tense]
_WHEN: tuple[When, ...] = (
    (action, Tense.PAST, Tense.PAST),
    (action, Tense.PRESENT, Tense.PRESENT),
    (action, Tense.FUTURE, Tense.PRESENT),
    (can, Tense.PAST, Tense.PAST),
    (can, Tense.PRESENT, Tense.PRESENT),
)
"""The predicate, its tense, and the tense of the reason: it won't because it is."""

_DIFFERENT = 0.85
_DESCRIBED = 0.07


def _tail(adjective: Adjective, it: Phrase, tense: Tense) -> Complement:
    """Give the reason: English and French after the clause, Korean inside it."""
    too = quality(adjective, "too", it.kind)
    pronoun = "elle" if it.who is Agreement.ELLE else "il"
    return Complement(
        f" because it {too.en(tense, False, it.who)}",
        f" parce qu'{pronoun} {too.fr(tense, False, it.who, '', 0)}",
        f"너무 {adjective.stem(it.kind).vowel}서 ",
    )


class Reason(NamedTuple):
    """What somebody does not do, with why not, ready to be stated or reported."""

    agent: Phrase
    predicate: Predicate
    tense: Tense
    rest: Complement
    pairs: Pairs
    of_agent: bool
    """Whether "it" stands for the agent; else it stands for the thing."""


def _reason(
    agent: Phrase, thing: Phrase, verb: Verb, when: When, adjective: Adjective, of_agent: bool
) -> Reason:
    """Put the parts together.

    Where it is the object, Korean names the object in the reason and need not repeat it.
    """
    say, tense, tense_of_reason = when
    predicate = say(verb)
    meant = agent if of_agent else thing
    en, fr, ko = _tail(adjective, meant, tense_of_reason)
    if verb is FIT:
        objects = Complement(f" in {thing.en}", f" dans {thing.fr}", f"{thing.ko}에 ")
    else:
        objects = thing.as_object(True)
    rest = Complement(
        objects.en + en,
        objects.fr + fr,
        ko + objects.ko if of_agent else f"{thing.bare_subject} {ko}",
    )
    pairs = (*pairs_with(verb, agent, thing), (adjective.en, meant.lemma))
    return Reason(agent, predicate, tense, rest, pairs, of_agent)


def explained(clause: Clause, construction: str, reason: Reason, pairs: Pairs) -> Sentence:
    """Write a clause that ends in a reason, and say where it and its noun are.

    The noun is the last word before "because", or the head of the agent, wherever that begins.
    """
    before = clause.en[: clause.en.index(" because it ")]
    it = before.count(" ") + 2
    antecedent = it - 2
    if reason.of_agent:
        start = before.rindex(reason.agent.en + " ")
        antecedent = before.count(" ", 0, start) + reason.agent.head
    return sentence(clause, construction, pairs, it=it, antecedent=antecedent)


def _phrase(choice: Choice, noun: Noun) -> Phrase:
    determiner = choice.one(SINGLE[noun])
    if choice.chance(_DESCRIBED) and (options := _BESIDE[noun.kind]):
        return noun_phrase(noun, determiner, choice.one(options))
    return noun_phrase(noun, determiner)


def draw_reason(choice: Choice) -> Reason:
    """Choose a scene, its two nouns, and what is wrong with which."""
    scene = choice.one(SCENES)
    feminine = choice.chance(0.5)
    other = feminine ^ choice.chance(_DIFFERENT)
    actor = choice.one([noun for noun in scene.of_agent if noun.feminine == feminine])
    noun = choice.one([noun for noun in scene.of_object if noun.feminine == other])
    agent, thing = _phrase(choice, actor), _phrase(choice, noun)
    # can't fit says no more than doesn't fit
    when = choice.one(_WHEN[:3] if scene.verb is FIT else _WHEN)
    of_agent = choice.chance(0.5)
    adjective = choice.one(scene.of_agent[actor] if of_agent else scene.of_object[noun])
    return _reason(agent, thing, scene.verb, when, adjective, of_agent)


def _written(reason: Reason) -> Sentence:
    clause = stated(reason.agent, reason.predicate, reason.tense, True, reason.rest)
    return explained(clause, "because", reason, reason.pairs)


def because(choice: Choice) -> Sentence:
    """The animal didn't cross the street because it was too wide."""
    return _written(draw_reason(choice))


def famous_because(
    agent: str, verb: str, thing: str, tense: Tense, adjective: str, of_agent: bool
) -> Sentence:
    """Give one sentence of this construction by its English words."""
    first, second = (noun_phrase(NOUN_NAMED[name], THE) for name in (agent, thing))
    when = action, tense, tense
    wrong = ADJECTIVE_NAMED[adjective]
    return _written(_reason(first, second, VERB_NAMED[verb], when, wrong, of_agent))
