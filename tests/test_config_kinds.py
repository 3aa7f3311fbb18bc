"""A table of settings that may be of several kinds: its mistakes are told like all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Literal

import pytest
from pydantic import Field, model_validator

from heedful import config
from heedful.errors import ConfigError
from heedful.settings import Table


class TransformerTable(Table):
    kind: Literal["transformer"] = "transformer"
    d_model: int = Field(default=8, ge=2)
    n_heads: int = Field(default=2, ge=1)
    norm: Literal["post", "pre"] = "post"

    @model_validator(mode="after")
    def _fits(self) -> TransformerTable:
        if self.d_model % self.n_heads:
            raise ValueError(
                f"model.d_model = {self.d_model} is not a multiple of model.n_heads = "
                f"{self.n_heads}; change one of them"
            )
        return self


class LstmTable(Table):
    kind: Literal["lstm"]
    d_hidden: int = Field(default=16, ge=1)
    n_layers: int = Field(default=1, ge=1)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    direction: Literal["both", "forward"]


class TrainTable(Table):
    lr: float | None = Field(default=None, gt=0)


class Whole(Table):
    model: Annotated[TransformerTable | LstmTable, Field(discriminator="kind")] = TransformerTable()
    train: TrainTable = TrainTable()

    @model_validator(mode="after")
    def _slow_where_deep(self) -> Whole:
        if isinstance(self.model, TransformerTable) and self.model.d_model > 99 and self.train.lr:
            raise ValueError("train.lr is too high for model.d_model; lower it")
        return self


class Required(Table):
    model: Annotated[LstmTable | TransformerTable, Field(discriminator="kind")]


def refusal(raw: Mapping[str, object], table: type[Table] = Whole) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.part(table, raw, "")
    return str(caught.value).splitlines()


LSTM = {"kind": "lstm", "direction": "both"}
KINDS = "is not allowed; expected one of transformer, lstm"
WHOLE = "expected a whole number, at least 1"


@pytest.mark.parametrize(
    ("model", "told"),
    [
        ({"kind": "lstn"}, f'model.kind = "lstn" {KINDS}; did you mean lstm?'),
        ({"kind": "zzz"}, f'model.kind = "zzz" {KINDS}'),
        ({"kind": 3}, f"model.kind = 3 {KINDS}"),
        ({"kind": []}, f"model.kind = [] {KINDS}"),
        (3, "model = 3 is not a table; model has kind, d_model, n_heads, norm"),
        ({"n_head": 2}, "model.n_head is not a setting; did you mean model.n_heads?"),
        (LSTM | {"layers": 2}, "model.layers is not a setting; did you mean model.n_layers?"),
        (LSTM | {"lr": 2}, "model.lr is not a setting; did you mean train.lr?"),
        (
            LSTM | {"norm": "pre"},
            "model.norm is not a setting; model has kind, d_hidden, n_layers, dropout, direction",
        ),
        (LSTM | {"d_hidden": 0}, f"model.d_hidden = 0 is out of range; {WHOLE}"),
        (LSTM | {"d_hidden": "x"}, f'model.d_hidden = "x" is not allowed; {WHOLE}'),
        (
            LSTM | {"dropout": float("nan")},
            "model.dropout = nan is out of range; expected a finite number, at least 0 and below 1",
        ),
        ({"kind": "lstm"}, "model.direction is missing"),
        ({"norm": "mid"}, 'model.norm = "mid" is not allowed; expected one of post, pre'),
        (
            {"d_model": 9},
            "model.d_model = 9 is not a multiple of model.n_heads = 2; change one of them",
        ),
    ],
)
def test_a_mistake_in_a_table_of_several_kinds_is_one_line(model: object, told: str) -> None:
    assert refusal({"model": model}) == [told]


def test_all_mistakes_in_it_come_at_once() -> None:
    raw = {"model": LSTM | {"d_hidden": 0, "zzz": 1, "n_layers": True}, "train": {"lr": -1}}
    assert refusal(raw) == [
        "model.zzz is not a setting; model has kind, d_hidden, n_layers, dropout, direction",
        "model.d_hidden = 0 is out of range; expected a whole number, at least 1",
        "model.n_layers = true is not allowed; expected a whole number, at least 1",
        "train.lr = -1 is out of range; expected a number, above 0",
    ]


def test_a_table_of_an_unknown_kind_causes_no_second_complaint() -> None:
    told = 'model.kind = "gru" is not allowed; expected one of lstm, transformer'
    assert refusal({"model": {"kind": "gru", "d_hidden": 0}}, Required) == [told]
    assert refusal({}, Required) == ["model is missing"]


def test_where_no_kind_is_given_the_default_applies() -> None:
    found = config.part(Whole, {"model": {"d_model": 4.0}}, "")
    assert found.model == TransformerTable(d_model=4)
    assert config.part(Whole, {"model": {}}, "") == config.part(Whole, {}, "") == Whole()
    first = config.part(Required, {"model": {"direction": "both", "d_hidden": 3e1}}, "")
    assert first.model == LstmTable(kind="lstm", d_hidden=30, direction="both")


def test_mistakes_between_tables_are_told_of_kinds_too() -> None:
    raw = {"model": {"d_model": 100}, "train": {"lr": 1.0}}
    assert refusal(raw) == ["train.lr is too high for model.d_model; lower it"]
    assert config.part(Whole, {"model": LSTM, "train": {"lr": 1.0}}, "").model.kind == "lstm"


def test_the_settings_are_those_of_the_kind_asked_for() -> None:
    usual = ["model.kind", "model.d_model", "model.n_heads", "model.norm", "train.lr"]
    assert list(config._keys(Whole)) == usual
    assert "model.d_hidden" in list(config._keys(Whole, raw={"model": {"kind": "lstm"}}))
    assert list(config._keys(Whole, raw={"model": {"kind": "?"}})) == usual
