from __future__ import annotations

import itertools
from collections.abc import Sequence
from pathlib import Path
from typing import cast

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.data import grammar
from heedful.data.ids import Ids
from heedful.data.lines import open_text
from heedful.data.padding import pad
from heedful.data.text import normalise
from heedful.data.tokenizer import Tokenizer, learn
from heedful.data.variants import Variants
from heedful.errors import DataError
from heedful.settings import TokenizerSettings
from heedful.tasks.translation.batching import Batch, Batches
from heedful.tasks.translation.corpus import Corpus

EOS, PAD = 0, 99


class Rows(list[np.ndarray]):
    """Sequences in memory, where `Ids` would map them."""

    def forget(self) -> None:
        """Nothing to forget."""

    def lengths(self) -> np.ndarray:
        return np.array([len(row) for row in self], dtype=np.int32)


def corpus_of(source: Sequence[Sequence[int]], target: Sequence[Sequence[int]]) -> Corpus:
    sides = [cast(Ids, Rows(np.array(row, dtype=np.int32) for row in s)) for s in (source, target)]
    return Corpus(sides[0], sides[1], [], 0)


def by_lengths(source: Sequence[int], target: Sequence[int]) -> Corpus:
    """A corpus whose ids are distinct and below the padding."""
    ids = itertools.cycle(range(1, PAD))
    return corpus_of(*([[next(ids) for _ in range(n)] for n in side] for side in (source, target)))


def drawn(count: int, seed: int = 1) -> Corpus:
    """Lengths as they are in text: of two sides that say the same, but not in as many words."""
    random = np.random.default_rng(seed)
    source = np.clip(random.gamma(6, 2.2, count), 2, 60).astype(int)
    target = np.clip(source * random.normal(1.1, 0.15, count), 2, 70).astype(int)
    return by_lengths(source.tolist(), target.tolist())


def batches(corpus: Corpus, budget: int = 300, seed: int = 1, **kind: object) -> Batches:
    return Batches(corpus, budget, EOS, PAD, seed, **kind)  # type: ignore[arg-type]


LENGTHS = st.lists(st.tuples(st.integers(1, 30), st.integers(1, 30)), min_size=1, max_size=60)


@settings(max_examples=60)
@given(LENGTHS, st.integers(62, 400), st.integers(0, 3), st.integers(0, 5))
def test_every_row_comes_once_an_epoch_within_the_budget(
    lengths: list[tuple[int, int]], budget: int, seed: int, epoch: int
) -> None:
    corpus = by_lengths([s for s, _ in lengths], [t for _, t in lengths])
    made = batches(corpus, budget, seed)
    rows: list[int] = []
    for batch in made.epoch(epoch):
        rows += batch.rows.tolist()
        # What the model computes: sources with their end, targets with their start.
        assert batch.source.numel() + batch.target.numel() + len(batch.rows) <= budget
        for place, row in enumerate(batch.rows.tolist()):
            source, target = corpus.source[row].tolist(), corpus.target[row].tolist()
            n, m = int(batch.source_lengths[place]), int(batch.target_lengths[place])
            assert batch.source[place, :n].tolist() == [*source, EOS]
            assert batch.target[place, :m].tolist() == target
            assert (batch.source[place, n:] == PAD).all()
            assert (batch.target[place, m:] == PAD).all()
        assert batch.tokens == sum(lengths[i][1] + 1 for i in batch.rows.tolist())
    assert sorted(rows) == list(range(len(lengths)))


def told(made: list[np.ndarray]) -> list[list[int]]:
    return [rows.tolist() for rows in made]


def test_the_order_follows_from_seed_and_epoch_alone() -> None:
    corpus = drawn(300)
    made = batches(corpus)
    first = told(made.plan(0))
    for epoch in range(4):
        made.plan(epoch)
    assert told(made.plan(0)) == first
    assert told(batches(corpus).plan(0)) == first
    others = [told(batches(corpus, seed=2).plan(0)), told(made.plan(1))]
    for other in others:
        assert other != first
        assert sorted(map(sorted, other)) != sorted(map(sorted, first))


def test_an_epoch_can_be_entered_at_any_batch() -> None:
    made = batches(drawn(100))
    whole = [b.rows.tolist() for b in made.epoch(3)]
    assert len(whole) > 5
    for start in (0, 1, 4, len(whole)):
        assert [b.rows.tolist() for b in made.epoch(3, start)] == whole[start:]


def padding_share(made: Batches, epoch: int = 0) -> float:
    real = computed = 0
    for batch in made.epoch(epoch):
        real += int(batch.source_lengths.sum()) + batch.tokens
        computed += batch.source.numel() + batch.target.numel() + len(batch.rows)
    return 1 - real / computed


def test_little_is_padding_where_the_sides_are_of_like_length() -> None:
    # Sources sorted upwards for every target length, not up and down in turn, would make 3.2 %.
    assert padding_share(batches(drawn(20_000), 2048)) <= 0.027


def test_batches_come_in_no_order_of_length() -> None:
    lengths = [b.target.size(1) for b in batches(drawn(2000)).epoch(0)]
    up = sum(a < b for a, b in itertools.pairwise(lengths))
    assert 0.3 < up / len(lengths) < 0.7


def test_a_pair_over_the_budget_is_told() -> None:
    corpus = by_lengths([3, 11, 5], [4, 13, 6])
    with pytest.raises(DataError) as error:
        batches(corpus, 25)
    assert str(error.value) == (
        "a pair of 26 positions does not fit into data.batch_tokens = 25; "
        "raise data.batch_tokens or lower data.max_length"
    )
    assert len(batches(corpus, 26).plan(0)) == 2


@settings(max_examples=30)
@given(st.integers(1, 12), st.integers(1, 5))
def test_parts_of_a_batch_are_the_batch(rows: int, parts: int) -> None:
    (batch,) = batches(drawn(rows), 10_000).epoch(0)
    split = batch.split(parts)
    assert 1 <= len(split) <= parts
    assert max(len(part.rows) for part in split) == -(-rows // parts)
    assert sum(part.tokens for part in split) == batch.tokens
    for name in ("source", "source_lengths", "target", "target_lengths"):
        joined = torch.cat([getattr(part, name) for part in split])
        assert torch.equal(joined, getattr(batch, name))
    assert np.concatenate([part.rows for part in split]).tolist() == batch.rows.tolist()


def test_a_batch_moves_whole() -> None:
    (batch,) = batches(drawn(3), 10_000).epoch(0)
    moved = batch.to(torch.device("meta"))
    assert isinstance(moved, Batch)
    assert {t.device.type for t in (moved.source, moved.source_lengths, moved.target)} == {"meta"}
    assert moved.target_lengths.device.type == "meta"


def test_sequences_are_padded_to_the_longest() -> None:
    table, lengths = pad([[1, 2, 3], [4], []], 7)
    assert table.tolist() == [[1, 2, 3], [4, 7, 7], [7, 7, 7]]
    assert lengths.tolist() == [3, 1, 0]
    assert pad([], 7)[0].shape == (0, 0)


def test_variants_are_new_every_epoch_and_the_same_whenever_asked() -> None:
    texts = [(s.en, s.text("fr")) for s in itertools.islice(grammar.generate(1), 60)]
    flat = [side for pair in texts for side in pair]
    tokenizer = Tokenizer(learn(flat, TokenizerSettings(vocab_size=400)))
    corpus = corpus_of(*([tokenizer.encode(p[i]) for p in texts] for i in (0, 1)))
    made = Batches(corpus, 400, tokenizer.ids.eos, tokenizer.ids.pad, 1, Variants(tokenizer, 0.5))

    def seen(epoch: int) -> dict[int, tuple[list[int], list[int]]]:
        return {
            row: (b.source[i].tolist(), b.target[i].tolist())
            for b in made.epoch(epoch)
            for i, row in enumerate(b.rows.tolist())
        }

    first, second = seen(0), seen(1)
    assert seen(0) == first
    assert first != second
    for epoch in (first, second):
        for row, (source, target) in epoch.items():
            assert (tokenizer.decode(source), tokenizer.decode(target)) == texts[row]
    for batch in made.epoch(1):  # planned with the lengths that were drawn
        assert batch.source.numel() + batch.target.numel() + len(batch.rows) <= 400


def test_a_pair_that_was_drawn_too_long_is_a_batch_of_its_own() -> None:
    tokenizer = Tokenizer(
        learn(["a student sings"] * 50 + ["b"], TokenizerSettings(vocab_size=300))
    )
    ids = tokenizer.encode("a student sings")
    corpus = corpus_of([ids] * 5, [ids] * 5)
    budget = 2 * (len(ids) + 1)
    made = Batches(
        corpus, budget, tokenizer.ids.eos, tokenizer.ids.pad, 1, Variants(tokenizer, 1.0)
    )
    assert max(map(int, made.lengths(0)[0])) > len(ids) + 1
    assert [len(rows) for rows in made.plan(0)] == [1] * 5


def test_of_an_epoch_of_multi30k_at_most_6_percent_is_padding(real_data: Path) -> None:
    folder = real_data / "multi30k" / "raw"
    sides = [
        [normalise(line) for line in open_text(folder / f"train.{code}.gz")]
        for code in ("de", "en")
    ]
    assert len(sides[0]) == len(sides[1]) == 29_000
    sample = [text for pair in zip(*sides, strict=True) for text in pair][:6000]
    tokenizer = Tokenizer(learn(sample, TokenizerSettings(vocab_size=6000)))
    corpus = corpus_of(*(tokenizer.encode_many(side) for side in sides))
    for epoch in (0, 1):
        assert padding_share(batches(corpus, 2048), epoch) <= 0.06
    split_anew = batches(corpus, 2048, variants=Variants(tokenizer, 0.1))
    assert padding_share(split_anew) <= 0.06
    first = next(split_anew.epoch(0))
    real = int(first.source_lengths.sum()) + first.tokens
    assert real >= 0.8 * (first.source.numel() + first.target.numel() + len(first.rows))
