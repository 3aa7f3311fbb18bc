from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest
import torch

from heedful import config
from heedful.errors import ConfigError
from heedful.mistakes import OTHER_NAMES
from heedful.models.transformer import Transformer
from heedful.settings import ModelSettings, TokenIds, TrainSettings
from heedful.tasks.translation.settings import Settings

TRANSLATION = "heedful.tasks.translation"

IDS = TokenIds(size=53, pad=52, start=52)


def refusal(raw: Mapping[str, object]) -> list[str]:
    with pytest.raises(ConfigError) as caught:
        config.resolve(raw, Settings)
    return str(caught.value).splitlines()


def test_a_preset_is_found_by_its_name_as_text_or_as_a_path() -> None:
    assert config.recipe("tiny", TRANSLATION) == config.recipe(Path("tiny"), TRANSLATION)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    with pytest.raises(ConfigError) as caught:
        config.read(path)
    assert str(caught.value) == f"{path} does not exist; give the path of a TOML file"


def test_a_folder_is_not_a_recipe(tmp_path: Path) -> None:
    with pytest.raises(ConfigError) as caught:
        config.recipe(tmp_path, TRANSLATION)
    assert str(caught.value) == f"{tmp_path} is a folder; give the path of a TOML file"


def test_bad_toml_is_reported_with_its_line(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_text("[train]\nlr = \n")
    with pytest.raises(ConfigError) as caught:
        config.read(path)
    assert str(caught.value) == (
        f"{path} is not valid TOML: Invalid value at line 2, column 6; mend it there"
    )


def test_a_file_in_another_encoding_is_reported_with_the_byte(tmp_path: Path) -> None:
    path = tmp_path / "my.toml"
    path.write_bytes('source = "한"'.encode("cp949"))
    with pytest.raises(ConfigError) as caught:
        config.read(path)
    assert str(caught.value) == f"{path} is not UTF-8 text: byte 10 is 0xc7; save it as UTF-8"


SIZES = ["base", "big", "small", "tiny"]
SHIPPED = "base, big, demo, multi30k-tok, small, tiny"


def test_the_shipped_presets_are_the_four_sizes_and_the_runs_of_the_project() -> None:
    assert ", ".join(config.presets(TRANSLATION)) == SHIPPED
    for name in config.presets(TRANSLATION):
        config.resolve(config.recipe(name, TRANSLATION), Settings)


@pytest.mark.parametrize("name", SIZES)
def test_the_head_of_each_size_tells_how_large_it_truly_is(name: str) -> None:
    settings = config.resolve(config.recipe(name, TRANSLATION), Settings)
    vocab = settings.tokenizer.vocab_size
    with torch.device("meta"):
        model = Transformer(settings.model, TokenIds(size=vocab, pad=vocab - 1, start=vocab - 1))
    millions = model.parameters_total / 1e6
    shown = f"{millions:.1f}" if millions < 10 else f"{millions:.0f}"
    text = (
        Path(config.__file__)
        .parent.joinpath("tasks/translation/recipes", f"{name}.toml")
        .read_text()
    )
    s = settings.model
    assert text.startswith(
        f"# {name}: {shown} million parameters, {s.encoder_layers} + {s.decoder_layers} "
        f"layers of width {s.d_model}"
    )


def test_base_and_big_are_the_papers_models() -> None:
    base, big = (
        config.resolve(config.recipe(name, TRANSLATION), Settings) for name in ("base", "big")
    )
    assert base.model == ModelSettings()  # the defaults are the paper's base
    assert big.model == ModelSettings(d_model=1024, d_ff=4096, n_heads=16, dropout=0.3)
    assert (base.train.steps, base.train.average) == (100_000, 5)
    assert (big.train.steps, big.train.average) == (300_000, 20)
    for paper in (base, big):
        assert paper.train.warmup == 4000
        assert paper.train.label_smoothing == 0.1
        assert paper.tokenizer.vocab_size == 37_000
        assert paper.data.batch_tokens == 50_000


def test_an_unknown_preset_gets_the_nearest_known_one() -> None:
    with pytest.raises(ConfigError) as caught:
        config.recipe("smal", TRANSLATION)
    assert str(caught.value) == (
        f"'smal' is not a preset; the presets are {SHIPPED}; did you mean small?"
    )
    with pytest.raises(ConfigError) as caught:
        config.recipe("gigantic", TRANSLATION)
    assert str(caught.value) == (
        f"'gigantic' is not a preset; the presets are {SHIPPED}; "
        f"take one of them or the path of a TOML file"
    )


def test_a_recipe_can_be_a_file_with_or_without_its_usual_ending(tmp_path: Path) -> None:
    for path in (tmp_path / "mine.toml", tmp_path / "mine"):
        path.write_text("[train]\nseed = 7\n")
        assert config.recipe(str(path), TRANSLATION) == {"train": {"seed": 7}}
    with pytest.raises(ConfigError, match=r"^other\.toml does not exist; give the path"):
        config.recipe("other.toml", TRANSLATION)


def test_overrides_are_toml_values_and_bare_words_are_strings() -> None:
    raw = config.parse_overrides(
        [
            "train.lr=3e-4",
            "model.norm = pre",
            "train.steps=1_000",
            "decode.guards=false",
            "model.dropout=.3",
            'source="ko"',
            "target=en=x",
            "model.norm=post",
        ]
    )
    assert raw == {
        "train": {"lr": 3e-4, "steps": 1000},
        "model": {"norm": "post", "dropout": 0.3},
        "decode": {"guards": False},
        "source": "ko",
        "target": "en=x",
    }


@pytest.mark.parametrize("value", ["[1, 2]", "2024-01-01", "1\nother = 2", "{a = 1}"])
def test_an_override_that_is_no_scalar_stays_text(value: str) -> None:
    assert config.parse_overrides([f"source={value}"]) == {"source": value}


@pytest.mark.parametrize("override", ["train.lr", "=3", "train.lr=", "train..lr=3", "a b=3"])
def test_an_override_of_another_form_is_refused(override: str) -> None:
    with pytest.raises(ConfigError) as caught:
        config.parse_overrides([override])
    assert str(caught.value) == (
        f"{override!r} does not set anything; write it as table.name=value, "
        f"for example train.lr=3e-4"
    )


def test_merging_goes_table_by_table_and_the_later_wins_without_touching_its_parts() -> None:
    first = {"train": {"lr": 1.0, "seed": 2}, "source": "de"}
    second = {"train": {"lr": 3.0}, "model": {"norm": "pre"}}
    merged = config.merge(first, second)
    assert merged == {
        "train": {"lr": 3.0, "seed": 2},
        "source": "de",
        "model": {"norm": "pre"},
    }
    merged["train"]["seed"] = 5
    merged["model"]["norm"] = "post"
    assert first == {"train": {"lr": 1.0, "seed": 2}, "source": "de"}
    assert second == {"train": {"lr": 3.0}, "model": {"norm": "pre"}}
    assert config.merge() == {}
    assert config.merge({"train": 5}, {"train": {"lr": 1}}) == {"train": {"lr": 1}}


def test_what_a_person_chose_is_known_even_where_it_equals_the_default() -> None:
    raw = {"model": {"d_model": 512}}
    assert config.chosen(raw, "model.d_model")
    assert config.chosen(raw, "model")
    assert not config.chosen(raw, "model.d_ff")
    assert not config.chosen(raw, "train.lr")
    assert not config.chosen(raw, "model.d_model.more")


def test_nothing_resolves_to_the_defaults() -> None:
    assert config.resolve({}, Settings) == Settings()


def test_a_whole_number_may_be_written_with_an_exponent() -> None:
    settings = config.resolve({"train": {"steps": 1e5, "lr": 1}}, Settings)
    assert settings.train.steps == 100_000
    assert isinstance(settings.train.steps, int)
    assert isinstance(settings.train.lr, float)


@pytest.mark.parametrize(
    ("key", "meant"),
    [
        ("train.learning_rate", "train.lr"),
        ("train.warmpu", "train.warmup"),
        ("train.warmup_steps", "train.warmup"),
        ("model.lr", "train.lr"),
        ("lr", "train.lr"),
        ("trian.lr", "train.lr"),
        ("data.batch_size", "data.batch_tokens"),
        ("data.batch_token", "data.batch_tokens"),
        ("decode.beam_size", "decode.beam"),
        ("model.num_layers", "model.encoder_layers"),
        ("model.d_k", "model.d_head"),
        ("sourse", "source"),
    ],
)
def test_an_unknown_key_gets_the_one_that_was_meant(key: str, meant: str) -> None:
    raw = config.parse_overrides([f"{key}=1"])
    assert refusal(raw) == [f"{key} is not a setting; did you mean {meant}?"]


def test_every_foreign_name_leads_to_a_setting_that_exists() -> None:
    known = set(config._keys(Settings))
    assert set(OTHER_NAMES.values()) <= known
    own = {key.rpartition(".")[2] for key in known}
    assert not own & set(OTHER_NAMES)


def test_an_older_setting_that_is_off_is_passed_over_and_one_that_is_on_is_named(
    tmp_path: Path,
) -> None:
    path = tmp_path / "config.toml"
    path.write_text("[train]\nema = 0.0\nsteps = 7\n")
    assert config.resolve(config.recipe(path, TRANSLATION), Settings) == Settings(
        train=TrainSettings(steps=7)
    )
    path.write_text("[train]\nema = 0.999\nsteps = 7\n")
    assert refusal(config.recipe(path, TRANSLATION)) == [
        "train.ema is gone: train.average averages the last checkpoints instead; leave it out"
    ]
    assert "ema" not in config.dump(
        config.resolve(config.upgrade(config.recipe(path, TRANSLATION)), Settings)
    )


def test_an_unknown_key_like_no_other_gets_the_list_of_its_table() -> None:
    assert refusal({"ids": {}, "tokenizer": {"zzz": 1}, "zzz": {}}) == [
        "tokenizer.zzz is not a setting; tokenizer has "
        + ", ".join(Settings().tokenizer.model_dump()),
        "zzz is not a setting; expected one of task, source, target, model, tokenizer, data, "
        "train, decode",
    ]


@pytest.mark.parametrize(
    ("override", "message"),
    [
        ("train.lr=-1", "train.lr = -1 is out of range; expected a number, above 0"),
        ("train.lr=fast", 'train.lr = "fast" is not allowed; expected a number, above 0'),
        (
            "data.max_ratio=inf",
            "data.max_ratio = inf is out of range; expected a finite number, above 1",
        ),
        (
            "model.dropout=1.5",
            "model.dropout = 1.5 is out of range; expected a number, at least 0 and below 1",
        ),
        (
            "train.steps=2.5",
            "train.steps = 2.5 is not allowed; expected a whole number, at least 1",
        ),
        (
            "train.seed=true",
            "train.seed = true is not allowed; expected a whole number, at least 0",
        ),
        ("decode.guards=1", "decode.guards = 1 is not allowed; expected true or false"),
        ("source=3", "source = 3 is not allowed; expected a string"),
        ("model.norm=mid", 'model.norm = "mid" is not allowed; expected one of post, pre'),
        (
            "train.lr.peak=3",
            "train.lr = {'peak': 3} is not allowed; expected a number, above 0",
        ),
        (
            "tokenizer=3",
            "tokenizer = 3 is not a table; tokenizer has "
            + ", ".join(Settings().tokenizer.model_dump()),
        ),
    ],
)
def test_a_bad_value_is_told_with_what_was_expected(override: str, message: str) -> None:
    assert refusal(config.parse_overrides([override])) == [message]


def test_a_long_value_is_cut_in_the_message() -> None:
    (line,) = refusal({"model": {"norm": "x" * 100}})
    assert line == f'model.norm = "{"x" * 56}... is not allowed; expected one of post, pre'


def test_all_problems_come_at_once_even_those_between_fields() -> None:
    raw = {
        "model": {"d_model": 10, "n_heads": 3, "d_ff": 0},
        "train": {"learning_rate": 1, "seed": -2},
    }
    assert refusal(raw) == [
        "train.learning_rate is not a setting; did you mean train.lr?",
        "model.d_ff = 0 is out of range; expected a whole number, at least 1",
        "train.seed = -2 is out of range; expected a whole number, at least 0",
        "model.d_model = 10 is not a multiple of model.n_heads = 3; "
        "give model.d_head or change one of them",
    ]


def test_a_default_that_stands_in_for_a_bad_value_causes_no_second_complaint() -> None:
    assert refusal({"model": {"d_model": 0, "n_heads": 3}}) == [
        "model.d_model = 0 is out of range; expected a whole number, at least 2"
    ]


def test_settings_come_back_exactly_as_they_were_written(tmp_path: Path) -> None:
    settings = Settings(
        source="ko",
        model=ModelSettings(d_model=6, n_heads=3, norm="pre", dropout=1 / 3),
        train=TrainSettings(lr=1e-17, minutes=5e30, epsilon=2**-60),
    )
    path = tmp_path / "config.toml"
    for ids in (None, IDS):
        path.write_text(config.dump(settings, ids and {"ids": ids.model_dump()}))
        raw = config.read(path)
        assert config.resolve(raw, Settings) == settings
    assert raw["format"] == 1
    assert config.token_ids(raw) == IDS
    assert "steps" not in raw["train"]  # TOML has no word for None


@pytest.mark.parametrize(
    ("raw", "message"),
    [
        ({}, "the table [ids] is missing; it says which token ids are special"),
        ({"ids": {"size": 5}}, "ids.pad is missing\nids.start is missing"),
        (
            {"ids": {"size": 5, "pad": 5, "start": -1}},
            "ids.pad = 5 is outside the vocabulary; expected 0 to 4\n"
            "ids.start = -1 is outside the vocabulary; expected 0 to 4",
        ),
        (
            {"ids": {"size": 5, "pad": 4, "start": 4, "bos": 1}},
            "ids.bos is not a setting; did you mean ids.eos?",
        ),
    ],
)
def test_bad_token_ids_are_refused(raw: dict[str, object], message: str) -> None:
    with pytest.raises(ConfigError, match=f"^{re.escape(message)}$"):
        config.token_ids(raw)
