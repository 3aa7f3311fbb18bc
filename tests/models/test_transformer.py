import itertools
import math

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.models.transformer import Transformer
from heedful.nn.loss import smoothed
from heedful.settings import ModelSettings, TokenIds

VOCABULARY = 23
IDS = TokenIds(size=VOCABULARY, pad=VOCABULARY - 1, start=VOCABULARY - 1)


def make(**changes: object) -> Transformer:
    sizes: dict[str, object] = {
        "d_model": 20,
        "d_ff": 34,
        "n_heads": 5,
        "encoder_layers": 2,
        "decoder_layers": 3,
        "dropout": 0.0,
    }
    torch.manual_seed(7)
    return Transformer(ModelSettings.model_validate(sizes | changes), IDS).eval()


VARIANTS = [
    {},
    {"norm": "pre"},
    {"positions": "concatenated", "activation": "swish"},
    {"positions": "learned", "max_positions": 64, "activation": "gelu"},
    {"d_head": 3, "d_value": 11},
    {"attention": "dot", "output_bias": True},
    {"attention": "additive", "d_value": 7},
    {"share_embeddings": False, "share_output": False},
]
variants = pytest.mark.parametrize("changes", VARIANTS, ids=lambda c: ",".join(c) or "paper")


def words(*shape: int) -> torch.Tensor:
    return torch.randint(2, VOCABULARY - 1, shape)


@variants
def test_the_future_changes_nothing(changes: dict[str, object]) -> None:
    model = make(**changes)
    source, lengths = words(2, 7), torch.tensor([7, 5])
    target = words(2, 11)
    before = model(source, lengths, target)
    for place in (1, 6, 10):
        changed = target.clone()
        changed[:, place:] = words(2, 11 - place)
        after = model(source, lengths, changed)
        torch.testing.assert_close(after[:, :place], before[:, :place], rtol=0, atol=1e-6)
        assert not torch.equal(after[:, place:], before[:, place:])


@variants
def test_a_pad_changes_nothing_whatever_its_id(changes: dict[str, object]) -> None:
    model = make(**changes)
    source, target = words(1, 7), words(1, 5)
    alone = model(source, torch.tensor([7]), target)
    wide = torch.cat([source, words(1, 6)], dim=1)  # padding may hold any id at all
    long = torch.cat([target, words(1, 4)], dim=1)
    padded = model(wide, torch.tensor([7]), long, torch.tensor([5]))
    torch.testing.assert_close(padded[:, :5], alone, rtol=0, atol=2e-6)


@variants
def test_cached_steps_equal_the_full_pass(changes: dict[str, object]) -> None:
    model = make(**changes)
    source, lengths, target = words(3, 7), torch.tensor([7, 2, 5]), words(3, 40)
    with torch.inference_mode():
        full = model(source, lengths, target)
        memory, cache = model.encode(source, lengths), model.cache()
        steps = torch.stack([model.step(target[:, i], memory, cache) for i in range(40)], dim=1)
    size = model.ids.size
    torch.testing.assert_close(steps[..., :size], full, rtol=0, atol=1e-5)
    assert steps[..., size:].isneginf().all()
    assert cache.length == 40
    assert cache.bytes() > 0


def test_rows_can_leave_the_cache_and_change_places() -> None:
    model = make()
    source, lengths, target = words(3, 7), torch.tensor([7, 2, 5]), words(3, 9)
    rows = torch.tensor([2, 0, 2])
    with torch.inference_mode():
        memory, cache = model.encode(source, lengths), model.cache()
        for i in range(4):
            model.step(target[:, i], memory, cache)
        cache.select(rows, sources=rows)
        after = model.step(target[rows, 4], memory.select(rows), cache)
        full = model(source, lengths, target)[:, 4]
    torch.testing.assert_close(after[:, : model.ids.size], full[rows], rtol=0, atol=1e-5)


@settings(max_examples=25)
@given(st.lists(st.tuples(st.integers(1, 9), st.integers(1, 9)), min_size=1, max_size=5))
def test_a_batch_gives_what_each_sentence_gives_alone(sizes: list[tuple[int, int]]) -> None:
    model = make().double()
    sources = [words(s) for s, _ in sizes]
    targets = [words(t) for _, t in sizes]
    lengths = torch.tensor([len(s) for s in sources])
    target_lengths = torch.tensor([len(t) for t in targets])
    padded = [torch.nn.utils.rnn.pad_sequence(x, True, IDS.pad) for x in (sources, targets)]
    together = model(padded[0], lengths, padded[1], target_lengths)
    for row, (source, target) in enumerate(zip(sources, targets, strict=True)):
        alone = model(source[None], lengths[row : row + 1], target[None])
        torch.testing.assert_close(together[row, : len(target)], alone[0], rtol=0, atol=1e-13)


@variants
def test_the_loss_is_that_of_the_right_shifted_target(changes: dict[str, object]) -> None:
    model = make(**changes)
    source, lengths = words(2, 7), torch.tensor([7, 4])
    target, target_lengths = words(2, 5), torch.tensor([5, 3])
    found = model.loss(source, lengths, target, target_lengths, 0.1)
    total = 0.0
    for row in range(2):
        real = target[row, : target_lengths[row]].tolist()
        shifted = torch.tensor([[IDS.start, *real]])
        goal = torch.tensor([*real, IDS.eos])
        logits = model(source[row : row + 1, : lengths[row]], lengths[row : row + 1], shifted)[0]
        logits[:, IDS.pad] = 0  # left out by `smoothed`, and -inf times 0 is NaN
        total += smoothed(logits, goal, 0.1, IDS.pad).loss.item()
    assert found.loss.item() == pytest.approx(total, rel=1e-5)


def test_the_padding_is_never_predicted_and_its_embedding_stays_zero() -> None:
    model = make().train()
    logits = model(words(2, 3), torch.tensor([3, 3]), words(2, 4))
    assert (logits[..., IDS.pad] == -math.inf).all()
    optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
    for _ in range(3):
        optimizer.zero_grad()
        lengths = torch.tensor([3, 2])
        model.loss(words(2, 3), lengths, words(2, 3), lengths, 0.1).loss.backward()
        optimizer.step()
    assert (model.target_embedding.weight[IDS.pad] == 0).all()


def test_one_matrix_serves_three_places_and_each_tie_can_be_undone() -> None:
    tied = make()
    assert tied.source_embedding.weight is tied.target_embedding.weight is tied.output_weight
    for embeddings, output in itertools.product([True, False], repeat=2):
        model = make(share_embeddings=embeddings, share_output=output)
        more = VOCABULARY * 20 * ((not embeddings) + (not output))
        assert model.parameters_total == tied.parameters_total + more


def test_the_papers_base_has_65_million_parameters() -> None:
    with torch.device("meta"):
        base = Transformer(ModelSettings(), TokenIds(size=37_000, pad=36_999, start=36_999))
    assert base.parameters_total == pytest.approx(65e6, rel=0.04)


def test_without_positions_the_order_of_the_source_would_not_matter() -> None:
    model = make()
    source, lengths, target = words(1, 7), torch.tensor([7]), words(1, 3)
    turned = source.flip(1)
    assert not torch.allclose(model(source, lengths, target), model(turned, lengths, target))
    model.positions.forward = lambda start, length, like: torch.zeros(length, 20)  # type: ignore[method-assign]
    torch.testing.assert_close(
        model(source, lengths, target), model(turned, lengths, target), rtol=0, atol=1e-5
    )


def test_dropout_acts_in_training_only() -> None:
    model = make(dropout=0.5, attention_dropout=0.5, ff_dropout=0.5)
    given_ = words(1, 5), torch.tensor([5]), words(1, 4)
    assert torch.equal(model(*given_), model(*given_))
    model.train()
    assert not torch.equal(model(*given_), model(*given_))
