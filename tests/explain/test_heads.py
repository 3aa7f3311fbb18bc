import itertools
from pathlib import Path

import torch

from heedful.data import grammar
from heedful.explain.heads import FILE, Heads, keep, measure, measured
from heedful.explain.trace import Attended

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
    assert f"always pointing {heads.distance} words back" in heads.said()


def test_nothing_to_measure_gives_zeros() -> None:
    assert measure(pretend, []) == Heads([[0.0]], 0, 0.0, 0)


def test_the_measurement_is_kept_and_used_only_where_there_is_an_it(tmp_path: Path) -> None:
    heads = Heads([[0.1, 0.7], [0.2, 0.3]], 4, 0.25, 60)
    pieces = ["▁The", "▁dog", "▁was", "▁ti", "red", ",", "▁it", ".", "</s>"]
    assert measured(tmp_path, pieces) is None
    assert measured(None, pieces) is None
    keep(heads, tmp_path)
    found = measured(tmp_path, pieces)
    assert found == {"layer": 0, "head": 1, "accuracy": 0.7, "word": 6, "note": heads.said()}
    assert measured(tmp_path, pieces[:5]) is None
    (tmp_path / FILE).write_text("{}")
    assert measured(tmp_path, pieces) is None
