from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful import config
from heedful.errors import ConfigError
from heedful.models.transformer import Transformer
from heedful.settings import ModelSettings, TokenIds
from heedful.tasks.translation.planning import (
    SIZES,
    Facts,
    choose_dropout,
    choose_model,
    choose_vocabulary,
    estimate,
)
from heedful.tasks.translation.settings import Settings
from heedful.train import rate
from heedful.train.precision import Precision
from heedful.train.rate import gain, machine_rate

TRANSLATION = "heedful.tasks.translation"

RATE = 1e11


def facts(pairs: int, words: int = 14, vocabulary: int = 4000, longest: int = 40) -> Facts:
    return Facts(pairs, pairs * words, pairs * words, longest, vocabulary)


def chosen(
    pairs: int, minutes: float | None = None, raw: dict[str, Any] | None = None, fast: bool = False
) -> Settings:
    raw = config.merge(raw or {}, {"train": {"minutes": minutes}} if minutes else {})
    return choose_model(raw, facts(pairs), RATE, fast)


def test_more_text_gets_more_pieces() -> None:
    sizes = [
        choose_vocabulary({}, pairs)["tokenizer"]["vocab_size"]
        for pairs in (2, 500, 10_000, 29_000, 500_000, 10**7)
    ]
    assert sizes == sorted(sizes)
    assert sizes[0] == 800
    assert sizes[3] == 5960
    assert sizes[-1] == 32_000


def test_a_chosen_vocabulary_is_kept() -> None:
    raw = {"tokenizer": {"vocab_size": 777}, "model": {"d_model": 6}}
    assert choose_vocabulary(raw, 10**6) == raw
    other = choose_vocabulary({"tokenizer": {"regularisation": 0.5}}, 10**6)
    assert other == {"tokenizer": {"regularisation": 0.5, "vocab_size": 32_000}}


@pytest.mark.parametrize(
    ("model", "ids"),
    [
        ({}, TokenIds(size=37_001, pad=37_000, start=37_000)),
        (SIZES["tiny"], TokenIds(size=801, pad=800, start=800)),
        (SIZES["small"], TokenIds(size=8001, pad=8000, start=8000)),
        (
            SIZES["tiny"] | {"d_head": 16, "d_value": 48, "decoder_layers": 1},
            TokenIds(size=801, pad=800, start=800),
        ),
        (
            SIZES["tiny"] | {"share_embeddings": False, "share_output": False},
            TokenIds(size=1301, pad=1300, start=1300),
        ),
    ],
)
def test_the_parameters_foreseen_are_those_of_the_model(
    model: dict[str, object], ids: TokenIds
) -> None:
    sizes = ModelSettings.model_validate(model)
    foreseen = estimate(sizes, facts(100, vocabulary=ids.size)).parameters
    real = Transformer(sizes, ids).parameters_total
    assert foreseen == pytest.approx(real, rel=0.05)


def test_the_arithmetic_follows_from_the_text_and_the_model() -> None:
    small = ModelSettings.model_validate(SIZES["small"])
    one = estimate(small, facts(1000))
    assert estimate(small, facts(3000)).flops_per_epoch == pytest.approx(3 * one.flops_per_epoch)
    base = ModelSettings.model_validate(SIZES["base"])
    assert estimate(base, facts(1000)).flops_per_epoch > 3 * one.flops_per_epoch


def test_the_amount_of_data_chooses_the_model() -> None:
    sizes = [chosen(pairs).model.d_model for pairs in (50, 5000, 29_000, 10**6)]
    assert sizes == [128, 128, 256, 256]
    assert chosen(10**6, fast=True).model.d_model == 512
    epochs = [chosen(pairs).train.epochs for pairs in (50, 5000, 29_000, 10**6)]
    assert all(e is not None for e in epochs)
    assert epochs == sorted(epochs, key=lambda e: -(e or 0))
    assert (epochs[0], epochs[-1]) == (150, pytest.approx(6.7, abs=0.1))
    batches = [chosen(pairs).data.batch_tokens for pairs in (50, 100_000, 10**6)]
    assert batches == [2048, 4096, 4096]
    assert chosen(10**6, fast=True).data.batch_tokens == 8192


def test_minutes_choose_the_model_too() -> None:
    assert chosen(29_000, minutes=30).model.d_model == 256
    assert chosen(29_000, minutes=0.5).model.d_model == 128
    assert chosen(29_000, minutes=30).train.epochs is None
    assert chosen(29_000, minutes=30).train.minutes == 30
    # What is seen often has to be kept from being learned by heart.
    dropouts = [chosen(29_000, minutes=m).model.dropout for m in (0.5, 10, 60, 600)]
    assert dropouts == sorted(dropouts)
    assert dropouts[0] < dropouts[-1]
    assert [choose_dropout(e) for e in (1, 5, 12, 25)] == [0.1, 0.15, 0.2, 0.3]


def test_the_warm_up_is_a_part_of_the_run() -> None:
    for pairs in (50, 5000, 29_000, 10**6):
        found = chosen(pairs)
        assert found.train.epochs is not None
        steps = found.train.epochs * pairs * 28 / found.data.batch_tokens
        assert found.train.warmup <= max(20, 0.1 * steps)


def test_long_sentences_get_batches_they_fit_into() -> None:
    found = choose_model({}, facts(1000, longest=2000), RATE, False)
    assert found.data.batch_tokens == 4004
    assert found.decode.split_above == 512
    assert choose_model({}, facts(1000, longest=3), RATE, False).decode.split_above == 32


CHOICES = st.fixed_dictionaries(
    {},
    optional={
        "model": st.fixed_dictionaries(
            {},
            optional={
                "d_model": st.sampled_from([64, 1024]),
                "dropout": st.sampled_from([0.0, 0.45]),
                "norm": st.sampled_from(["post", "pre"]),
                "encoder_layers": st.integers(1, 9),
                "activation": st.just("gelu"),
            },
        ),
        "train": st.fixed_dictionaries(
            {},
            optional={
                "lr": st.just(0.0123),
                "warmup": st.just(77),
                "schedule": st.sampled_from(["paper", "linear"]),
                "steps": st.just(9),
                "epochs": st.just(3.5),
                "seed": st.just(8),
            },
        ),
        "data": st.fixed_dictionaries({}, optional={"batch_tokens": st.just(555)}),
        "decode": st.fixed_dictionaries({}, optional={"split_above": st.just(99)}),
        "tokenizer": st.fixed_dictionaries({}, optional={"regularisation": st.just(0.25)}),
    },
)


@given(CHOICES, st.sampled_from([60, 29_000, 10**6]), st.sampled_from([None, 1.0, 90.0]))
def test_what_a_person_chose_is_never_touched(
    raw: dict[str, dict[str, Any]], pairs: int, minutes: float | None
) -> None:
    found = chosen(pairs, minutes, raw).model_dump()
    for table, values in raw.items():
        for name, value in values.items():
            assert found[table][name] == value, f"{table}.{name}"
    ends = {"steps", "epochs"} & set(raw.get("train", {}))
    if ends or minutes:
        assert all(found["train"][name] is None for name in {"steps", "epochs"} - ends)


@pytest.mark.parametrize("preset", ["base", "big"])
def test_the_papers_presets_stay_the_papers(preset: str) -> None:
    found = choose_model(config.recipe(preset, TRANSLATION), facts(10**6), RATE, True)
    paper = config.resolve(config.recipe(preset, TRANSLATION), Settings)
    assert found.model == paper.model
    assert found.model.norm == "post"
    assert found.train == paper.train
    assert (found.train.schedule, found.train.lr, found.train.warmup) == ("paper", None, 4000)
    assert found.tokenizer == paper.tokenizer
    assert found.data == paper.data


def test_sizes_that_do_not_fit_together_are_told() -> None:
    with pytest.raises(ConfigError) as error:
        chosen(60, raw={"model": {"n_heads": 256}})
    assert str(error.value) == (
        "model.d_model = 128 is not a multiple of model.n_heads = 256; "
        "give model.d_head or change one of them"
    )


def test_the_penalty_is_hugging_faces_unless_anything_of_it_was_given() -> None:
    def penalty(**decode: float) -> tuple[float, float]:
        found = chosen(29_000, raw={"decode": decode}).decode
        return found.length_penalty, found.length_offset

    assert penalty() == (0.5, 0.0)
    assert penalty(length_penalty=1.8) == (1.8, 5.0)
    assert penalty(length_offset=5.0) == (0.6, 5.0)
    for preset in ("base", "big"):
        found = chosen(29_000, raw=config.recipe(preset, TRANSLATION)).decode
        assert (found.length_penalty, found.length_offset) == (0.6, 5.0)


def test_the_machine_is_measured() -> None:
    assert 1e8 < machine_rate(trials=1) < 1e14
    assert 1e8 < machine_rate(Precision("bfloat16"), trials=1) < 1e14


def test_only_the_products_of_a_step_are_faster(monkeypatch: pytest.MonkeyPatch) -> None:
    short = Precision("bfloat16", "cpu")
    for faster, low, high in ((1.0, 0.9, 1.0), (2.15, 1.45, 1.6), (4.25, 2.0, 2.1), (99, 3.0, 3.5)):
        monkeypatch.setattr(rate, "machine_rate", lambda p, trials, r=1e11 * faster: r)
        assert low < gain(short, 1e11) < high
    for usual in (Precision("float32", "cpu"), Precision("bfloat16", "cuda")):
        assert gain(usual, 1e11) == 1.0


@pytest.mark.parametrize(
    "ends",
    [
        {"epochs": 2},
        {"steps": 793},  # 29,000 pairs of 14 + 14 words are 396.5 batches of 2,048
        {"steps": 100_000, "epochs": 2},
        {"minutes": 10_000, "epochs": 2},
        {"steps": 396, "accumulate": 2},
    ],
)
def test_an_end_that_was_given_decides_warm_up_and_dropout(ends: dict[str, Any]) -> None:
    found = chosen(29_000, ends.get("minutes"), raw={"train": ends})
    assert found.train.warmup == pytest.approx(0.08 * 793 / ends.get("accumulate", 1), abs=1)
    assert found.model.dropout == 0.1
    assert found.tokenizer.regularisation == 0.0
    assert found.train.epochs == ends.get("epochs")


def test_the_steps_of_an_epoch_are_those_of_the_batch_that_was_given() -> None:
    found = chosen(29_000, raw={"train": {"epochs": 2}, "data": {"batch_tokens": 1024}})
    assert found.train.warmup == pytest.approx(0.08 * 2 * 793, abs=1)
