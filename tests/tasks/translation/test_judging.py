from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful import metrics
from heedful.metrics import Verdict, judged
from heedful.tasks.translation.judging import apart
from heedful.verbs.ending import APART, TITLES

TEST = TITLES["test"]

REFERENCES = [f"the {animal} did not cross the wide street" for animal in "abcdefghijk"]
PAIRS = st.lists(st.tuples(st.text(max_size=3), st.text(max_size=3)), max_size=31)


def verdict(
    references: list[str],
    model: list[str],
    simple: list[str],
    language: str,
    where: str,
    name: str,
    remedy: str = "",
) -> Verdict:
    both = (next(judged(texts, references, language)) for texts in (model, simple))
    return Verdict.of(*both, simple_name=name, where=where, remedy=remedy)


@given(PAIRS, st.randoms(use_true_random=False))
def test_what_is_kept_apart_follows_from_the_text_and_not_from_its_place(
    pairs: list[tuple[str, str]], draw: random.Random
) -> None:
    kept = {pair for pair, is_apart in zip(pairs, apart(pairs), strict=True) if is_apart}
    draw.shuffle(pairs)
    assert kept == {pair for pair, is_apart in zip(pairs, apart(pairs), strict=True) if is_apart}
    sources = {source for source, _ in pairs}
    held = {source for source, _ in kept}
    assert {p for p in pairs if p[0] in held} == kept
    assert len(held) == (max(1, len(sources) // 3) if len(sources) > 1 else 0)


@pytest.mark.parametrize(("size", "held"), [(0, 0), (1, 0), (2, 1), (3, 1), (5, 1), (7, 2)])
def test_a_third_is_kept_apart_at_least_one_and_never_all(size: int, held: int) -> None:
    assert sum(apart([(f"source {i}", "target") for i in range(size)])) == held


def test_two_translations_of_one_sentence_stay_together() -> None:
    found = apart([("a", "x"), ("b", "y"), ("a", "z"), ("b", "w")])
    assert found[:2] == found[2:]
    assert sum(found) == 2


def test_the_figures_are_the_scores_themselves_of_the_leading_one() -> None:
    model = [*REFERENCES[:9], "the k", "nothing"]
    simple = [text.replace("wide", "long") for text in REFERENCES]
    for language, leading in (("en", "BLEU"), ("ko", "chrF")):
        found = verdict(REFERENCES, model, simple, language, TEST, "nearest")
        assert found.metric == leading
        assert found.examples == 11
        one, other = (next(judged(texts, REFERENCES, language)) for texts in (model, simple))
        assert (found.model, found.simple) == (one.value, other.value)
        compared = metrics.compare(one, other)
        assert (found.low, found.high) == (compared.low, compared.high)


def test_the_sentence_names_the_set_and_the_way_to_the_simple_thing() -> None:
    wrong = ["wrong"] * len(REFERENCES)
    found = verdict(
        REFERENCES, wrong, REFERENCES, "en", APART, "nearest", remedy="heedful translate M --simple"
    )
    assert found.sentence() == (
        "nearest: BLEU 100.0 against the model's 0.0 (-100.0, 95 % interval -100.0 to -100.0) on "
        "the 11 examples of the part of the development set that chose nothing: the simpler "
        "one is better; use it (heedful translate M --simple)"
    )


def test_references_are_compared_as_they_are_normalised() -> None:
    spaced = [f" {text}\u00a0" for text in REFERENCES]
    assert verdict(spaced, REFERENCES, REFERENCES, "en", TEST, "nearest").model == pytest.approx(
        100
    )
