import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor

from heedful.decoding.batch import search
from heedful.decoding.guards import Limits
from heedful.decoding.hypothesis import LengthPenalty
from heedful.decoding.search import beam, best_of, greedy
from heedful.models.transformer import Transformer
from heedful.settings import DecodeSettings, ModelSettings, SamplingSettings, TokenIds

EOS = 0


class Table:
    """A stepper whose logits depend on the words written so far, by a table in the test."""

    def __init__(self, rows: int, table: dict[tuple[int, ...], list[float]]) -> None:
        self.table, self.written = table, [() for _ in range(rows)]

    def step(self, words: Tensor) -> Tensor:
        self.written = [(*w, n) for w, n in zip(self.written, words.tolist(), strict=True)]
        logits = [self.table.get(w[1:], [1.0, 0.0, 0.0]) for w in self.written]
        return torch.tensor(logits).log()

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        self.written = [self.written[i] for i in rows.tolist()]


# Words: 0 end, 1 and 2. Greedy takes 1 (0.6) and then has 0.4 at best: 0.24. The beam finds 2,
# end: 0.4 x 0.9 = 0.36.
TRAP = {
    (): [0.0, 0.6, 0.4],
    (1,): [0.4, 0.3, 0.3],
    (2,): [0.9, 0.05, 0.05],
    (1, 1): [1.0, 0.0, 0.0],
    (1, 2): [1.0, 0.0, 0.0],
    (2, 1): [1.0, 0.0, 0.0],
    (2, 2): [1.0, 0.0, 0.0],
}


def test_greedy_falls_into_the_trap_and_the_beam_does_not() -> None:
    (found,) = greedy(Table(1, TRAP), [Limits(5)], start=9, eos=EOS)
    assert found.ids == [1]
    assert found.logp == pytest.approx(math.log(0.6 * 0.4))
    (ranked,) = beam(Table(1, TRAP), [Limits(5)], 2, start=9, eos=EOS, penalty=LengthPenalty(0.0))
    assert ranked[0].ids == [2]
    assert ranked[0].logp == pytest.approx(math.log(0.4 * 0.9))
    assert [h.stop for h in ranked] == ["end", "end"]


def test_a_wide_beam_is_exhaustive() -> None:
    # All sentences the table allows, by their probability.
    (ranked,) = beam(Table(1, TRAP), [Limits(5)], 6, start=9, eos=EOS, penalty=LengthPenalty(0.0))
    found = {tuple(h.ids): math.exp(h.logp) for h in ranked}
    expected = {
        (2,): 0.36,
        (1,): 0.24,
        (1, 1): 0.18,
        (1, 2): 0.18,
        (2, 1): 0.02,
        (2, 2): 0.02,
    }
    assert found == pytest.approx(expected, rel=1e-5)


def test_bad_ends_do_not_keep_the_good_hypothesis_from_its_end() -> None:
    # The way 1 1 1 1 1, end is nearly certain; beside it, at every step, there is only the end.
    sure = {(1,) * n: [0.001, 0.9989, 0.0001] for n in range(5)} | {(1,) * 5: [0.99, 0.005, 0.005]}
    (ranked,) = beam(Table(1, sure), [Limits(9)], 2, start=9, eos=EOS, penalty=LengthPenalty(0.6))
    assert ranked[0].ids == [1, 1, 1, 1, 1]


def test_the_length_penalty_is_gnmts_or_everybodys() -> None:
    assert LengthPenalty(0.6, 5.0)(1) == LengthPenalty(0.6)(1) == 1.0
    assert LengthPenalty(1.0, 5.0)(7) == 2.0
    assert LengthPenalty(2.0)(7) == 49.0
    (ranked,) = beam(
        Table(1, TRAP), [Limits(5)], 6, start=9, eos=EOS, penalty=LengthPenalty(5.0, 5.0)
    )
    for hypothesis in ranked:
        divisor = ((5 + len(hypothesis.ids) + 1) / 6) ** 5.0
        assert hypothesis.score == pytest.approx(hypothesis.logp / divisor)
    # A strong reward for length lifts the longer ones over the most likely one.
    assert ranked[0].ids in ([1, 1], [1, 2])


def test_a_forced_prefix_costs_nothing_and_is_kept() -> None:
    (found,) = greedy(Table(1, TRAP), [Limits(5)], 9, EOS, prefixes=[[2]])
    assert found.ids == [2]
    assert found.logp == pytest.approx(math.log(0.9))
    (ranked,) = beam(Table(1, TRAP), [Limits(5)], 3, 9, EOS, LengthPenalty(0.0), prefixes=[[1, 2]])
    assert ranked[0].ids == [1, 2]
    assert all(h.ids[:2] == [1, 2] for h in ranked)


def test_the_length_guard_stops_and_says_so() -> None:
    endless = {(1,) * n: [0.0, 0.9, 0.1] for n in range(9)}
    (found,) = greedy(Table(1, endless), [Limits(4)], 9, EOS)
    assert (found.ids, found.stop) == ([1, 1, 1, 1], "length")
    (ranked,) = beam(
        Table(1, {**endless, **{(1,) * n + (2,): [1.0, 0, 0] for n in range(9)}}),
        [Limits(4)],
        2,
        9,
        EOS,
        LengthPenalty(0.0),
    )
    assert len(ranked) == 2
    assert ranked[0].stop == "end"


IDS = TokenIds(size=29, pad=28, start=28)


@pytest.fixture(scope="module")
def model() -> Transformer:
    torch.manual_seed(3)
    sizes = ModelSettings(
        d_model=32, d_ff=64, n_heads=4, encoder_layers=2, decoder_layers=2, dropout=0.0
    )
    net = Transformer(sizes, IDS).eval()
    with torch.no_grad():  # sharper than chance, so that ties within rounding do not come up
        net.target_embedding.weight.mul_(2.0)
    return net


def sentences(count: int, seed: int = 1) -> list[list[int]]:
    generator = torch.Generator().manual_seed(seed)
    lengths = torch.randint(1, 15, (count,), generator=generator).tolist()
    return [torch.randint(2, 28, (n,), generator=generator).tolist() for n in lengths]


def texts(found: list[list]) -> list[list[list[int]]]:  # type: ignore[type-arg]
    return [[h.ids for h in hypotheses] for hypotheses in found]


@pytest.mark.parametrize("width", [1, 4])
def test_a_batch_decodes_to_what_each_sentence_decodes_to_alone(
    model: Transformer, width: int
) -> None:
    sources, decode = sentences(17), DecodeSettings(beam=width)
    together = search(model, sources, decode, n_best=1)
    alone = [search(model, [s], decode, n_best=1)[0] for s in sources]
    assert texts(together) == texts(alone)
    for a, b in zip(together, alone, strict=True):
        assert a[0].score == pytest.approx(b[0].score, abs=1e-4)


def test_beam_one_equals_greedy(model: Transformer) -> None:
    sources = sentences(11)
    by_greedy = search(model, sources, DecodeSettings(beam=1))
    for source, expected in zip(sources, by_greedy, strict=True):
        from heedful.decoding.guards import limits_for
        from heedful.decoding.stepper import CachedStepper

        with torch.inference_mode():
            memory = model.encode(torch.tensor([[*source, EOS]]), torch.tensor([len(source) + 1]))
            limits = [limits_for(source, DecodeSettings())]
            (ranked,) = beam(
                CachedStepper(model, memory), limits, 1, IDS.start, EOS, LengthPenalty(0.6)
            )
        assert ranked[0].ids == expected[0].ids
        assert ranked[0].logp == pytest.approx(expected[0].logp, abs=1e-4)


def test_greedy_without_scores_finds_the_same_words(model: Transformer) -> None:
    sources, decode, forced = sentences(11), DecodeSettings(beam=1), [[7], *[[]] * 10]
    with_scores, without = (
        search(model, sources, decode, prefixes=forced, scored=scored) for scored in (True, False)
    )
    assert texts(with_scores) == texts(without)
    assert all(math.isnan(found[0].score) for found in without)


@pytest.mark.parametrize("width", [1, 3])
def test_the_cache_changes_no_result(model: Transformer, width: int) -> None:
    sources, decode = sentences(9), DecodeSettings(beam=width)
    cached, plain = (search(model, sources, decode, n_best=width, plain=p) for p in (False, True))
    assert texts(cached) == texts(plain)


@settings(max_examples=15)
@given(st.permutations(range(7)), st.integers(16, 300))
def test_order_and_batch_size_change_no_result(model_order: list[int], batch_tokens: int) -> None:
    torch.manual_seed(3)
    sizes = ModelSettings(d_model=16, d_ff=16, n_heads=2, encoder_layers=1, decoder_layers=1)
    net = Transformer(sizes, IDS).eval()
    sources = sentences(7)
    expected = search(net, sources, DecodeSettings(beam=2))
    found = search(
        net, [sources[i] for i in model_order], DecodeSettings(beam=2, batch_tokens=batch_tokens)
    )
    assert [f[0].ids for f in found] == [expected[i][0].ids for i in model_order]


def test_scores_are_those_of_a_full_pass(model: Transformer) -> None:
    sources = sentences(5)
    for source, found in zip(sources, search(model, sources, DecodeSettings(), 3), strict=True):
        for hypothesis in (h for h in found if h.stop == "end"):
            target = torch.tensor([[IDS.start, *hypothesis.ids]])
            source_ids = torch.tensor([[*source, EOS]])
            logits = model(source_ids, torch.tensor([source_ids.size(1)]), target)
            goal = torch.tensor([*hypothesis.ids, EOS])
            logp = logits[0].log_softmax(-1).gather(1, goal[:, None]).sum()
            assert hypothesis.logp == pytest.approx(logp.item(), abs=1e-3)


def test_n_best_is_ranked_and_distinct(model: Transformer) -> None:
    for found in search(model, sentences(5), DecodeSettings(beam=5), n_best=5):
        assert len({tuple(h.ids) for h in found}) == len(found) == 5
        ended = [h.score for h in found if h.stop == "end"]
        assert ended == sorted(ended, reverse=True)


def test_sampling_follows_its_seed_alone_and_in_a_batch(model: Transformer) -> None:
    sources, decode = sentences(6), DecodeSettings()
    how = SamplingSettings(seed=5, temperature=1.3, top_k=7, top_p=0.9)
    together = search(model, sources, decode, 3, how)
    alone = [search(model, [s], decode, 3, how)[0] for s in sources]
    assert texts(together) == texts(alone)
    other = search(model, sources, decode, 3, how.model_copy(update={"seed": 6}))
    assert texts(other) != texts(together)


def test_sampling_from_one_word_is_greedy(model: Transformer) -> None:
    sources = sentences(6)
    drawn = search(model, sources, DecodeSettings(), 1, SamplingSettings(top_k=1))
    assert texts(drawn) == texts(search(model, sources, DecodeSettings(beam=1)))


@pytest.mark.parametrize("words", [64 * 40, 64 * 3, 100, 5])
@pytest.mark.parametrize("beams", [1, 4])
def test_the_best_ways_on_are_found_block_by_block(words: int, beams: int) -> None:
    gained, before = torch.randn(7, beams, words), torch.randn(7, beams)
    gained[:, :, -2:] = -math.inf
    before[3, -1] = -math.inf if beams > 1 else 0.0
    best, beam, word = best_of(gained, before, 6)
    total = (gained + before[:, :, None]).flatten(1)
    wanted = total.topk(min(6, total.size(1)))
    assert torch.equal(best, wanted.values)
    there = best.isfinite()
    assert torch.equal((beam * words + word)[there], wanted.indices[there])
