"""The stream of sentences, the famous ones, and the splits."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice

from heedful.data.grammar.acting import said_to
from heedful.data.grammar.because import famous_because
from heedful.data.grammar.choosing import Choice
from heedful.data.grammar.clauses import Sentence, located, sentence, stated
from heedful.data.grammar.constructions import CONSTRUCTIONS
from heedful.data.grammar.lexicon import NOUN_NAMED, THE
from heedful.data.grammar.phrases import YOU, I, noun_phrase
from heedful.data.grammar.predicates import LOCATED, profession
from heedful.data.grammar.verbs import ON, VERB_NAMED
from heedful.data.grammar.words import Tense
from heedful.errors import DataError


def _famous() -> tuple[Sentence, ...]:
    book, table = (noun_phrase(NOUN_NAMED[name], THE) for name in ("book", "table"))
    past, present = Tense.PAST, Tense.PRESENT
    return (
        sentence(
            stated(I.phrase, profession(NOUN_NAMED["student"]), present, False), "identity", ()
        ),
        famous_because("animal", "cross", "street", past, "tired", True),
        famous_because("animal", "cross", "street", past, "wide", False),
        famous_because("trophy", "fit", "suitcase", present, "big", True),
        famous_because("trophy", "fit", "suitcase", present, "small", False),
        said_to(I.phrase, VERB_NAMED["love"], YOU, present, False),
        sentence(stated(book, LOCATED, present, False, located(ON, table, "에")), "place", ()),
    )


FAMOUS: tuple[Sentence, ...] = _famous()
"""Well-known examples from the literature; they are in no split."""


def generate(seed: int = 1) -> Iterator[Sentence]:
    """Give sentences without end, the same for the same seed; some come again."""
    makers = tuple(make for make, weight in CONSTRUCTIONS.values() for _ in range(weight))
    choice = Choice(seed)
    while True:
        yield choice.one(makers)(choice)


LONGEST = 12
"""No sentence of a training has more English words."""

LONGER = 16
"""No sentence of the test for longer ones has more: a little longer than training, not much."""

SEEN_OFTEN = 20
"""How often training has each word of a sentence that tests new combinations or lengths."""

_HELD_OUT = 0.1


@dataclass(frozen=True)
class Splits:
    """A corpus in parts that share no sentence."""

    train: list[Sentence]
    dev: list[Sentence]
    random: list[Sentence]
    """Held out, of the same distribution."""
    longer: list[Sentence]
    """Longer, in English words, than anything in training."""
    combinations: list[Sentence]
    """Each with an adjective and a noun, or a noun and a verb, never together in training."""


def splits(train: int = 40_000, dev: int = 500, test: int = 500, seed: int = 1) -> Splits:
    """Draw a corpus; each of the three tests has `test` sentences.

    About one pair of words in ten is held out, chosen by a hash so that the choice does not
    depend on what is drawn. The pairs of the famous sentences are not: those test whether known
    pairs are understood in a new sentence.
    """
    stream = _new_sentences(seed)
    held_out = _held_out(seed)
    plain: list[Sentence] = []
    longer: list[Sentence] = []
    combinations: list[Sentence] = []

    def sort(candidate: Sentence) -> None:
        words = candidate.en.count(" ") + 1
        new = any(map(held_out, candidate.pairs))
        if words <= LONGEST:
            (combinations if new else plain).append(candidate)
        elif words <= LONGER and not new:
            longer.append(candidate)

    wanted = train + dev + test
    while len(plain) < wanted:
        sort(next(stream))
    # the tests come first: later on, the smaller constructions run out of new sentences
    counts = Counter(word for sentence in plain[dev + test :] for word in _words(sentence))

    def known(candidate: Sentence) -> bool:
        return all(counts[word] >= SEEN_OFTEN for word in _words(candidate))

    patience = 30_000 + 500 * test
    while True:
        tests = [list(islice(filter(known, found), test)) for found in (longer, combinations)]
        if all(len(found) == test for found in tests):
            break
        if patience <= 0:
            raise DataError(
                f"{train} training sentences show too few words {SEEN_OFTEN} times for {test} "
                f"sentences of words known that well; ask for more training or fewer test sentences"
            )
        for _ in range(20_000):
            sort(next(stream))
        patience -= 20_000
    random, rest = plain[:test], plain[test:wanted]
    return Splits(rest[dev:], rest[:dev], random, *tests)


def _new_sentences(seed: int) -> Iterator[Sentence]:
    """Give the stream without what came before and without the famous ones."""
    seen = {famous.en for famous in FAMOUS}
    for candidate in generate(seed):
        if candidate.en not in seen:
            seen.add(candidate.en)
            yield candidate


def _held_out(seed: int) -> Callable[[tuple[str, str]], bool]:
    """Give the rule that says of a pair of words whether it is kept from training.

    A noun that goes with one or two verbs only (what does one do with a road but cross it?) keeps
    them: without them it would vanish from training.
    """
    famous = frozenset[tuple[str, str]]().union(*(one.pairs for one in FAMOUS))
    verbs = Counter(
        noun.en for verb in VERB_NAMED.values() for noun in {*verb.agents, *verb.objects}
    )

    def decide(pair: tuple[str, str]) -> bool:
        first, second = pair
        if pair in famous or (second in VERB_NAMED and verbs[first] < 3):
            return False
        digest = hashlib.blake2b(f"{seed} {first} {second}".encode(), digest_size=4).digest()
        return int.from_bytes(digest) < _HELD_OUT * 2**32

    return decide


def _words(sentence: Sentence) -> list[str]:
    return sentence.en[:-1].lower().split()
