from __future__ import annotations

import json

import numpy as np
import pytest

from heedful.metrics import Judged, Verdict
from heedful.metrics.verdict import FEWEST


def judged(values: list[float], higher_is_better: bool = True) -> Judged:
    rows = np.array([(v, 1) for v in values])
    return Judged("BLEU", rows, lambda sums: float(sums[0] / sums[1]), "s", higher_is_better)


def verdict(model: list[float], simple: list[float], higher: bool = True) -> Verdict:
    return Verdict.of(
        judged(model, higher),
        judged(simple, higher),
        simple_name="nearest training sentence",
        where="test set",
        fit_seconds=2.5,
        answer_seconds=0.2,
        remedy="heedful translate MODEL --simple",
    )


ALIKE, MIXED = [40.0] * 7, [30.0, 50.0] * 500


@pytest.mark.parametrize(
    ("found", "better", "sentence"),
    [
        (
            verdict(ALIKE, [12.25] * 7),
            "model",
            "BLEU 12.2 against the model's 40.0 (+27.8, 95 % interval +27.8 to +27.8) on the 7 "
            "examples of the test set: the Transformer is better",
        ),
        (
            verdict([12.25] * 7, ALIKE),
            "simple",
            "BLEU 40.0 against the model's 12.2 (-27.8, 95 % interval -27.8 to -27.8) on the 7 "
            "examples of the test set: the simpler one is better; "
            "use it (heedful translate MODEL --simple)",
        ),
        (
            verdict([40.0] * 1000, [40.0] * 1000),
            "neither",
            "BLEU 40.0 against the model's 40.0 (+0.0, 95 % interval +0.0 to +0.0) on the 1,000 "
            "examples of the test set: the simpler one is as good, as far as these tell: the "
            "difference may be chance; use it (heedful translate MODEL --simple)",
        ),
        (
            verdict([40.0, 50.0], [10.0, 10.0]),
            "unknown",
            "BLEU 10.0 against the model's 45.0 (+35.0) on the 2 examples of the test set: "
            "too few to tell which is better",
        ),
        (
            verdict([0.5], [0.25]),
            "unknown",
            "BLEU 0.250 against the model's 0.500 (+0.250) on the 1 example of the test set: "
            "too few to tell which is better",
        ),
    ],
)
def test_the_sentence_says_what_was_measured_and_no_more(
    found: Verdict, better: str, sentence: str
) -> None:
    assert found.better == better
    assert found.sentence() == f"nearest training sentence: {sentence}"


def test_where_less_is_better_the_smaller_figure_wins() -> None:
    assert verdict(ALIKE, [12.25] * 7, higher=False).better == "simple"
    assert verdict([12.25] * 7, ALIKE, higher=False).better == "model"


def test_an_interval_that_holds_nothing_decides_nothing() -> None:
    found = verdict(MIXED, MIXED[1:] + MIXED[:1])
    assert found.low is not None
    assert found.high is not None
    assert found.low < 0 < found.high
    assert found.better == "neither"


def test_an_interval_is_given_from_the_fewest_examples_on_that_can_carry_one() -> None:
    assert verdict([2.0] * (FEWEST - 1), [1.0] * (FEWEST - 1)).low is None
    assert verdict([2.0] * FEWEST, [1.0] * FEWEST).low == 1
    # all of n examples going one way, of two ways that are as likely
    assert 2 * 0.5**FEWEST < 0.05 < 2 * 0.5 ** (FEWEST - 1)


def test_its_facts_are_json_and_hold_the_sentence() -> None:
    found = verdict(ALIKE, [12.25] * 7)
    facts = json.loads(json.dumps(found.facts()))
    assert facts["sentence"] == found.sentence()
    assert facts["better"] == "model"
    assert (facts["model"], facts["simple"], facts["examples"]) == (40, 12.25, 7)
    assert (facts["fit_seconds"], facts["answer_seconds"]) == (2.5, 0.2)
