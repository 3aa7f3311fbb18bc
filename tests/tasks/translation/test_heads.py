import itertools
import json
from pathlib import Path

import pytest
import torch

from heedful.data import grammar
from heedful.models.folder import state
from heedful.tasks.translation.heads import FILE, Heads, keep, measure, measured
from heedful.tasks.translation.model import load_model
from heedful.tasks.translation.showing import Attended
from heedful.tasks.translation.using import Translator
from model_case import make as make_folder

SENTENCES = [s for s in itertools.islice(grammar.generate(3), 400) if s.it is not None][:40]


def pretend(text: str) -> Attended:
    """Two layers of two heads: the last one always finds the noun, the third points one back."""
    words = text.split()
    truth = next(s for s in SENTENCES if s.en == text)
    assert truth.it is not None
    assert truth.antecedent is not None
    size = len(words) + 1
    weights = torch.zeros(2, 2, size, size)
    weights[0, 0, :, truth.it] = 1.0  # looks at itself
    weights[0, 1, :, size - 1] = 1.0  # looks at the end
    weights[1, 0, truth.it, truth.it - 1] = 1.0
    weights[1, 1, truth.it, truth.antecedent] = 1.0
    none = torch.zeros(1, 2, 1, 1)
    return Attended([*("▁" + w for w in words), "</s>"], ["<s>"], weights, none, none)


def test_a_head_that_finds_the_noun_is_told_from_one_that_points_back() -> None:
    assert len(SENTENCES) > 5
    heads = measure(pretend, SENTENCES)
    assert heads.best == (1, 1)
    assert heads.best_accuracy == 1.0
    assert heads.accuracy[0] == [0.0, 0.0]
    distances = [s.it - s.antecedent for s in SENTENCES]  # type: ignore[operator]
    assert heads.baseline == max(distances.count(d) for d in distances) / len(distances)
    assert heads.accuracy[1][0] == distances.count(1) / len(distances)
    assert heads.found
    assert f"its baseline, always pointing {heads.distance} words back" in heads.said()


def test_nothing_to_measure_gives_zeros() -> None:
    assert measure(pretend, []) == Heads([[0.0]], 0, 0.0, 0)


@pytest.mark.parametrize("baseline", [0.51, 0.22])
def test_a_head_no_better_than_its_baseline_is_not_said_to_find_anything(baseline: float) -> None:
    heads = Heads([[0.04, 0.1], [0.22, 0.2]], 4, baseline, 60)
    assert not heads.found
    assert heads.said() == (
        'No encoder head finds what "it" stands for better than its baseline: always pointing 4 '
        f"words back is right in {100 * baseline:.0f} % of 60 held-out sentences, the most "
        "accurate head (layer 2, head 1) in 22 %."
    )


def test_the_measurement_is_kept_and_used_only_where_there_is_an_it(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model")
    heads = Heads([[0.1, 0.7], [0.2, 0.3]], 4, 0.25, 60)
    pieces = ["▁The", "▁dog", "▁was", "▁ti", "red", ",", "▁it", ".", "</s>"]
    assert measured(folder, pieces) is None
    keep(heads, folder.path)
    facts = {"distance": 4, "baseline": 0.25, "sentences": 60, "item": 6, "note": heads.said()}
    assert measured(folder, pieces) == {"layer": 0, "head": 1, "accuracy": 0.7} | facts | {
        "kind": "encoder"
    }
    assert measured(folder, pieces[:5]) is None
    for damaged in ("{}", "[]", "no json", json.dumps({"accuracy": 3})):
        (folder.path / FILE).write_text(damaged)
        assert measured(folder, pieces) is None


def test_a_measurement_of_other_weights_is_not_used(tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model")
    keep(Heads([[0.1, 0.7, 0.2], [0.2, 0.3, 0.2]], 4, 0.25, 60), folder.path)
    before = Translator.load(folder.path, engine="torch", workers=1)
    assert before.trace("It is red.", "개.")["best_head"] is not None
    folder.write_weights(state(load_model(make_folder(tmp_path / "other", seed=2))))
    trained_on = Translator.load(folder.path, engine="torch", workers=1)
    assert trained_on.trace("It is red.", "개.")["best_head"] is None
    assert before.trace("It is red.", "개.")["best_head"] is not None, "its weights were measured"
