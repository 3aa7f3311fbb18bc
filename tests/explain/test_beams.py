import pytest
import torch
from torch import Tensor

from heedful.decoding.guards import Limits
from heedful.decoding.hypothesis import LengthPenalty
from heedful.decoding.search import beam
from heedful.explain.beams import Tree, _Watched

EOS, WORDS = 0, 7


class Scripted:
    """Logits that depend on the newest word and the step alone; the end grows likelier."""

    def __init__(self, seed: int) -> None:
        self.table = torch.randn(20, WORDS + 1, WORDS, generator=torch.manual_seed(seed))
        self.table[:, :, EOS] += torch.arange(20)[:, None] * 0.4 - 2
        self.now = 0

    def step(self, words: Tensor) -> Tensor:
        self.now += 1
        return self.table[self.now - 1, words]

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        pass


def searched(seed: int, width: int, watched: bool) -> tuple[Tree, _Watched | Scripted]:
    stepper = _Watched(Scripted(seed), width, EOS) if watched else Scripted(seed)
    found = beam(stepper, [Limits(15)], width, WORDS, EOS, LengthPenalty(0.6))[0]
    steps = stepper.steps if isinstance(stepper, _Watched) else []
    return Tree(steps, found, width, LengthPenalty(0.6)), stepper


@pytest.mark.parametrize("width", [1, 2, 5])
@pytest.mark.parametrize("seed", [1, 2, 3, 4])
def test_watching_a_beam_changes_nothing_and_its_winner_is_in_the_tree(
    seed: int, width: int
) -> None:
    tree, _ = searched(seed, width, watched=True)
    plain, _ = searched(seed, width, watched=False)
    assert tree.found == plain.found
    data = tree.as_data(str, EOS)
    path = [step[place] for step, place in zip(data["steps"], data["best"], strict=False)]
    assert [one["piece"] for one in path] == [str(i) for i in [*tree.found[0].ids, EOS]]
    assert [one["fate"] for one in path] == ["kept"] * (len(path) - 1) + ["ended"]
    assert path[-1]["score"] == pytest.approx(tree.found[0].score, abs=1e-5)
    for before, after in zip([None, *data["best"]], path, strict=False):
        assert after["parent"] == before


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_only_what_was_kept_grows_and_no_more_than_the_width_is_kept(seed: int) -> None:
    tree, _ = searched(seed, 3, watched=True)
    ended = 0
    for number, step in enumerate(tree.steps):
        assert sum(b.fate == "kept" for b in step) <= 3
        assert [b.logp for b in step] == sorted((b.logp for b in step), reverse=True)
        ended += sum(b.ended for b in step)
        for branch in step:
            if number:
                assert branch.parent is not None
                parent = tree.steps[number - 1][branch.parent]
                assert parent.fate == "kept"
                assert branch.logp <= parent.logp
            else:
                assert branch.parent is None
    assert ended >= len(tree.found)
