from __future__ import annotations

import itertools
from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data import grammar
from heedful.data.text import normalise
from heedful.data.tokenizer import Tokenizer, learn
from heedful.data.variants import Variants, keys
from heedful.settings import TokenizerSettings

SENTENCES = [
    text for s in itertools.islice(grammar.generate(1), 400) for text in (s.en, s.text("ko"))
]


@pytest.fixture(scope="module")
def tokenizer() -> Tokenizer:
    return Tokenizer(learn(SENTENCES, TokenizerSettings(vocab_size=700)))


def arrays(sentences: list[list[int]]) -> list[np.ndarray]:
    return [np.array(sentence, dtype=np.uint16) for sentence in sentences]


def draw(variants: Variants, sentences: list[list[int]], seed: int, epoch: int) -> list[list[int]]:
    return variants.draw(arrays(sentences), keys(seed, epoch, 0, np.arange(len(sentences))))


def test_without_a_chance_nothing_is_split_anew(tokenizer: Tokenizer) -> None:
    encoded = [tokenizer.encode(text) for text in SENTENCES[:50]]
    assert draw(Variants(tokenizer, 0.0), encoded, 1, 0) == encoded
    always = draw(Variants(tokenizer, 1.0), encoded, 1, 0)
    assert all(a != b for a, b in zip(always, encoded, strict=True))
    seldom = draw(Variants(tokenizer, 0.1), encoded, 1, 0)
    assert 5 < sum(a != b for a, b in zip(seldom, encoded, strict=True)) < 45


TEXTS = st.lists(st.text(st.sampled_from("ab 개가 é🦊⟦"), max_size=12), min_size=1, max_size=6)


@settings(max_examples=60)
@given(TEXTS, st.integers(0, 99), st.sampled_from([0.3, 1.0]))
def test_another_way_to_split_says_the_same(
    tokenizer: Tokenizer, texts: list[str], seed: int, chance: float
) -> None:
    texts = [normalise(text if seed % 3 else f"{text} The dog {text}") for text in texts]
    encoded = [tokenizer.encode(text) for text in texts]
    variants = Variants(tokenizer, chance)
    drawn = draw(variants, encoded, seed, 0)
    assert [tokenizer.decode(ids) for ids in drawn] == texts
    lengths = variants.lengths(arrays(encoded), keys(seed, 0, 0, np.arange(len(encoded))))
    assert lengths.tolist() == [len(ids) for ids in drawn]


def test_a_sentence_is_drawn_alike_alone_and_among_others(tokenizer: Tokenizer) -> None:
    encoded = [tokenizer.encode(text) for text in SENTENCES[:30]] + [[]]
    variants = Variants(tokenizer, 0.5)
    rows = np.arange(len(encoded))
    together = variants.draw(arrays(encoded), keys(1, 2, 0, rows))
    for row in (7, 30, 0, 29):
        alone = variants.draw(arrays([encoded[row]]), keys(1, 2, 0, rows[row : row + 1]))
        assert alone == [together[row]]


def test_epochs_sides_and_seeds_differ(tokenizer: Tokenizer) -> None:
    sentence = arrays([tokenizer.encode(SENTENCES[0])])
    variants, row = Variants(tokenizer, 0.5), np.array([3])
    which = [(1, epoch, 0) for epoch in range(20)] + [(1, 0, 1), (2, 0, 0)]
    found = Counter(tuple(variants.draw(sentence, keys(*one, row))[0]) for one in which)
    assert len(found) > 5


def test_words_are_split_anew_as_often_as_asked(tokenizer: Tokenizer) -> None:
    """A long row of one word, which has other ways: a share of them is split anew."""
    word = tokenizer.encode("student")
    variants = Variants(tokenizer, 0.3)
    assert variants._ways(tuple(word)) is not None
    (drawn,) = draw(variants, [word * 4000], 1, 0)
    split = [i for i in drawn if tokenizer.piece(i).startswith("▁")]
    assert len(split) == 4000
    as_before = sum(
        drawn[i : i + len(word)] == word
        and (i + len(word) == len(drawn) or tokenizer.piece(drawn[i + len(word)]).startswith("▁"))
        for i in range(len(drawn))
    )
    assert 0.67 < as_before / 4000 < 0.73


def test_what_is_remembered_of_words_is_bounded(
    tokenizer: Tokenizer, monkeypatch: pytest.MonkeyPatch
) -> None:
    unbounded = Variants(tokenizer, 1.0)
    monkeypatch.setattr(Variants, "REMEMBERED", 5)
    variants = Variants(tokenizer, 1.0)
    encoded = [tokenizer.encode(text) for text in SENTENCES[:20]]
    assert draw(variants, encoded, 1, 0) == draw(unbounded, encoded, 1, 0)
    few, many = (one._ways.cache_info().currsize for one in (variants, unbounded))
    assert few <= 5 < many


def test_no_sentence_becomes_too_long(tokenizer: Tokenizer) -> None:
    encoded = [tokenizer.encode(text) for text in SENTENCES[:60]]
    free, bound = Variants(tokenizer, 1.0), Variants(tokenizer, 1.0, most=20)
    drawn, short = (draw(v, encoded, 1, 0) for v in (free, bound))
    wanted = [a if len(a) <= 20 else b for a, b in zip(drawn, encoded, strict=True)]
    assert short == wanted
    assert {len(a) <= 20 for a in drawn} == {True, False}
    row_keys = keys(1, 0, 0, np.arange(len(encoded)))
    assert bound.lengths(arrays(encoded), row_keys).tolist() == [len(a) for a in short]
