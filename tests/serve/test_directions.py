"""Which model translates what, and by way of which language."""

from __future__ import annotations

from pathlib import Path

import pytest
from serve_case import Fake, model

from heedful.errors import ConfigError
from heedful.serve.app import build_app
from heedful.serve.errors import RequestError
from heedful.serve.translation.directions import Directions, Line, translate_lines


def test_there_is_a_way_through_one_model_or_two() -> None:
    found = Directions([model("ko", "en", "a"), model("en", "fr", "b"), model("en", "ko", "c")])
    names = [[one.name for one in found.way(*pair)] for pair in (("ko", "en"), ("ko", "fr"))]
    assert names == [["a"], ["a", "b"]]
    assert found.way("fr", "fr") == ()
    assert found.languages == ["ko", "en", "fr"]
    assert found.listed() == [
        {"code": "ko", "name": "Korean", "targets": ["en", "fr", "ko"]},
        {"code": "en", "name": "English", "targets": ["en", "fr", "ko"]},
        {"code": "fr", "name": "French", "targets": ["fr"]},
    ]


def test_english_is_the_third_language_where_there_is_a_choice() -> None:
    ways = [("ko", "de"), ("de", "fr"), ("ko", "en"), ("en", "fr")]
    found = Directions([model(*way) for way in ways])
    assert [one.target for one in found.way("ko", "fr")] == ["en", "fr"]


def test_where_there_is_no_way_it_is_said_in_libretranslates_words() -> None:
    found = Directions([model("en", "ko")])
    with pytest.raises(RequestError) as refused:
        found.way("ko", "en")
    assert refused.value.status == 400
    assert refused.value.text == (
        "English (en) is not available as a target language from Korean (ko)"
    )


def test_of_two_models_of_one_direction_the_first_is_used_and_it_is_said() -> None:
    told: list[str] = []
    found = Directions([model(name="one"), model(name="two")], told.append)
    assert [one.name for one in found.models] == ["one"]
    assert told == ["two is not used: one translates en to ko already"]


def test_a_model_into_its_own_language_is_used() -> None:
    for code in ("und", "en"):
        assert len(Directions([model(code, code)]).way(code, code)) == 1


def test_languages_are_found_however_they_are_spelled() -> None:
    found = Directions([model("en", "ko"), model("pt-BR", "zh-Hans")])
    asked = ("en", "EN", "en-US", "en_GB", "ko_KR", "pt_br", "zh-hans")
    assert [found.language(code) for code in asked] == [
        *("en", "en", "en", "en", "ko", "pt-BR", "zh-Hans")
    ]
    for code in ("zz", "zh", "e", "auto"):
        with pytest.raises(RequestError) as refused:
            found.language(code)
        assert refused.value.text == f"{code} is not supported"


def test_nothing_to_serve_is_a_mistake() -> None:
    with pytest.raises(ConfigError) as wrong:
        build_app([])
    assert str(wrong.value) == "no model to serve; name one model folder or more"


def test_lines_that_want_as_many_translations_are_one_call() -> None:
    lines: list[Line] = [("a", 1), ("b", 6), ("c", 1), ("d", 6)]
    fake = Fake()
    found = translate_lines(fake, beam=2)(lines)
    assert fake.rounds == [["a", "c"], ["b", "d"]]
    assert [one.text for one in found] == ["ko:a", "ko:b", "ko:c", "ko:d"]
    assert [len(one.candidates) for one in found] == [1, 6, 1, 6]


def test_a_folder_that_is_none_is_refused_by_name(tmp_path: Path) -> None:
    from heedful.errors import ModelFolderError
    from heedful.serve.api import load
    from heedful.serve.options import ServeOptions

    with pytest.raises(ModelFolderError, match=r"nothing"):
        load(tmp_path / "nothing", ServeOptions())
