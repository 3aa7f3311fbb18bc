"""The stream of sentences, the famous ones, and the splits."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from heedful.data.grammar.acting import count_described, said_to
from heedful.data.grammar.because import count_because, famous_because
from heedful.data.grammar.choosing import Choice
from heedful.data.grammar.clauses import Sentence, located, sentence, stated
from heedful.data.grammar.constructions import CONSTRUCTIONS
from heedful.data.grammar.lexicon import NOUN_NAMED, THE
from heedful.data.grammar.phrases import PHRASES, YOU, I
from heedful.data.grammar.predicates import LOCATED, PROFESSIONS
from heedful.data.grammar.verbs import PREPOSITIONS, VERB_NAMED
from heedful.data.grammar.words import Table, Tense
from heedful.errors import DataError

__all__ = ["FAMOUS", "LONGER", "LONGEST", "SEEN_OFTEN", "Splits", "count", "generate", "splits"]


def _famous() -> tuple[Sentence, ...]:
    book, table = (PHRASES[NOUN_NAMED[name], THE, None] for name in ("book", "table"))
    on = next(one for one in PREPOSITIONS if one.en == "on")
    past, present = Tense.PAST, Tense.PRESENT
    return (
        sentence(
            stated(I.phrase, PROFESSIONS[NOUN_NAMED["student"]], present, False), "identity", ()
        ),
        famous_because("animal", "cross", "street", past, "tired", True),
        famous_because("animal", "cross", "street", past, "wide", False),
        famous_because("trophy", "fit", "suitcase", present, "big", True),
        famous_because("trophy", "fit", "suitcase", present, "small", False),
        said_to(I.phrase, VERB_NAMED["love"], YOU, present, False),
        sentence(stated(book, LOCATED, present, False, located(on, table, "에")), "place", ()),
    )


FAMOUS: tuple[Sentence, ...] = _famous()
"""What everybody knows from the literature; never in a split."""


def generate(seed: int = 1) -> Iterator[Sentence]:
    """Give sentences without end, the same for the same seed; some come again."""
    makers = tuple(make for make, weight in CONSTRUCTIONS.values() for _ in range(weight))
    choice = Choice(seed)
    draw, many = choice.random, len(makers)
    while True:
        yield makers[int(draw() * many)](choice)


def count() -> int:
    """Give a number of distinct sentences the grammar certainly has.

    Two constructions are counted, choice by choice, in which different choices give different
    English; the others come on top.
    """
    return count_described() + count_because()


LONGEST = 12
"""No sentence of a training has more English words."""

LONGER = 16
"""No sentence that tests longer ones has more: it should ask for a step, not for a leap."""

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


def _words(sentence: Sentence) -> list[str]:
    return sentence.en[:-1].lower().split()


def splits(train: int = 40_000, dev: int = 500, test: int = 500, seed: int = 1) -> Splits:
    """Draw a corpus; each of the three tests has `test` sentences.

    About one pair of words in ten is held out, chosen by a hash so that the choice does not
    depend on what is drawn. The pairs of the famous sentences are not: those test whether a known
    pair is understood in a new sentence.
    """
    kept = frozenset[tuple[str, str]]().union(*(famous.pairs for famous in FAMOUS))

    def hold_out(pair: tuple[str, str]) -> bool:
        digest = hashlib.blake2b(f"{seed} {pair}".encode(), digest_size=8).digest()
        return pair not in kept and int.from_bytes(digest) < _HELD_OUT * 2**64

    held_out = Table(hold_out)
    seen = {famous.en for famous in FAMOUS}
    plain: list[Sentence] = []
    longer: list[Sentence] = []
    combinations: list[Sentence] = []
    counts: Counter[str] | None = None
    wanted = train + dev + test
    patience = 100 * wanted + 1_000_000
    for drawn, candidate in enumerate(generate(seed)):
        if counts is None and len(plain) >= wanted:
            counts = Counter(word for sentence in plain[:train] for word in _words(sentence))
            longer = [one for one in longer if _known(one, counts)]
            combinations = [one for one in combinations if _known(one, counts)]
        if counts is not None and min(len(longer), len(combinations)) >= test:
            break
        if drawn > patience:
            raise DataError(
                f"a training of {train} sentences shows too few words {SEEN_OFTEN} times to test "
                f"it with {test} sentences; ask for more training or fewer test sentences"
            )
        if candidate.en in seen:
            continue
        seen.add(candidate.en)
        new = any(held_out[pair] for pair in candidate.pairs)
        words = candidate.en.count(" ") + 1
        long = words > LONGEST
        if not (new or long):
            plain.append(candidate)
        elif (
            not (new and long) and words <= LONGER and (counts is None or _known(candidate, counts))
        ):
            (longer if long else combinations).append(candidate)
    return Splits(
        plain[:train],
        plain[train : train + dev],
        plain[train + dev : wanted],
        longer[:test],
        combinations[:test],
    )


def _known(sentence: Sentence, counts: Counter[str]) -> bool:
    return all(counts[word] >= SEEN_OFTEN for word in _words(sentence))
