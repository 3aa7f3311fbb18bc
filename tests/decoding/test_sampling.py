import pytest
import torch

from heedful.decoding.sampling import filtered, sampler
from heedful.settings import SamplingSettings


def shares(logits: list[float], **how: float) -> dict[int, float]:
    values = {"temperature": 1.0, "top_k": 0, "top_p": 1.0} | how
    found, words = filtered(torch.tensor([logits]).log(), **values)  # type: ignore[arg-type]
    pairs = zip(words[0].tolist(), found[0].tolist(), strict=True)
    return {word: share for word, share in pairs if share > 0}


def test_filters_by_hand() -> None:
    p = [0.1, 0.4, 0.2, 0.3]
    assert shares(p) == pytest.approx({0: 0.1, 1: 0.4, 2: 0.2, 3: 0.3})
    assert shares(p, top_k=2) == pytest.approx({1: 4 / 7, 3: 3 / 7})
    assert shares(p, top_p=0.5) == pytest.approx({1: 4 / 7, 3: 3 / 7})
    assert shares(p, top_p=0.3) == pytest.approx({1: 1.0})
    assert shares(p, temperature=0.5)[1] == pytest.approx(0.16 / 0.30)


def test_draws_have_the_right_frequencies() -> None:
    logits = torch.tensor([[0.5, 0.3, 0.2]]).log().expand(6000, 3)
    sources = [[i] for i in range(6000)]
    choose = sampler(sources, SamplingSettings(seed=3))
    drawn = choose(logits, torch.arange(6000), 0)
    counts = torch.bincount(drawn, minlength=3) / 6000
    assert counts.tolist() == pytest.approx([0.5, 0.3, 0.2], abs=0.03)


def test_the_largest_draw_is_still_a_possible_word(monkeypatch: pytest.MonkeyPatch) -> None:
    class Last:
        def random(self) -> float:
            return 1 - 2.0**-53

    monkeypatch.setattr("numpy.random.default_rng", lambda seed: Last())
    logits = torch.full((1, 70), -torch.inf)
    logits[:, :60] = torch.randn(60)
    (word,) = sampler([[1]], SamplingSettings())(logits, torch.arange(1), 0).tolist()
    assert word == int(logits[0, :60].argmin())
