from __future__ import annotations

from pathlib import Path

import pytest

from heedful.data.languages import check_language, guess_languages
from heedful.errors import DataError


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        ("train.ko train.en", "ko en"),
        ("corpus.de.gz corpus.en.gz", "de en"),
        ("train.lc.norm.tok.de.gz train.lc.norm.tok.en.gz", "de en"),
        ("x_fr.txt x_en.txt", "fr en"),
        ("corpus.de-en.de corpus.de-en.en", "de en"),
        ("de-en.source de-en.target", "de en"),
        ("english.txt korean.txt", "en ko"),
        ("train.pt-BR train.en-US", "pt en"),
        ("eng_Latn.devtest kor_Hang.devtest", "en ko"),
        ("eng-kor.tsv", "en ko"),
        ("eng-kor.tsv.gz:2,1", "ko en"),
        ("europarl.de-en.tsv", "de en"),
        ("EN-DE.tsv", "en de"),
        ("bible.eng-kor.tsv.gz other.tsv", "en ko"),
        ("data.jsonl:de,fra", "de fr"),
        ("a.ko b.txt", "ko und"),
        ("a.txt b.txt", "und und"),
        ("train.en train.en", "und und"),
        ("data.tsv", "und und"),
        ("", "und und"),
    ],
)
def test_languages_are_guessed_from_file_names(names: str, expected: str) -> None:
    assert " ".join(guess_languages([Path(name) for name in names.split()])) == expected


def test_the_keys_of_a_jsonl_may_name_the_languages() -> None:
    assert guess_languages([Path("data.jsonl")], ("de", "en")) == ("de", "en")


@pytest.mark.parametrize(
    ("code", "expected"),
    [
        *[("en", "en"), ("KOR", "ko"), ("ger", "de"), ("pt_br", "pt-BR"), ("zh-hans", "zh-Hans")],
        *[("und", "und"), ("yue", "yue"), ("es-419", "es-419")],
    ],
)
def test_a_language_code_is_put_into_its_usual_spelling(code: str, expected: str) -> None:
    assert check_language(code) == expected


@pytest.mark.parametrize(
    ("code", "hint"),
    [
        ("jp", "did you mean ja?"),
        ("korean", "did you mean ko?"),
        ("deutsch", "did you mean de?"),
        ("koo", "did you mean ko?"),
        ("qqq", "use und for any other"),
        ("", "use und for any other"),
    ],
)
def test_an_unknown_language_code_is_refused_with_the_nearest(code: str, hint: str) -> None:
    with pytest.raises(DataError) as error:
        check_language(code)
    assert str(error.value) == (
        f"unknown language code {code!r}; expected an ISO 639 code such as en, ko or de; {hint}"
    )


def test_a_malformed_part_of_a_language_code_is_refused() -> None:
    with pytest.raises(DataError) as error:
        check_language("en-")
    assert str(error.value) == (
        "language code 'en-' has the part ''; expected a region or script such as pt-BR or "
        "zh-Hans; leave it out: en"
    )
