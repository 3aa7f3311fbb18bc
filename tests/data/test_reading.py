from __future__ import annotations

import gzip
import json
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.lines import count_roughly, recognise_encoding
from heedful.data.reading import (
    Source,
    UnequalLines,
    check_language,
    guess_languages,
    open_text,
    sources,
)
from heedful.errors import DataError

KOREAN = "나는 학생입니다.\n오늘은 날씨가 매우 좋다.\n그는 학교에 갔다.\n"
GERMAN = "Fünf große Bäume.\nÄpfel und Öl.\n"


def write(path: Path, content: str | bytes) -> Path:
    data = content.encode() if isinstance(content, str) else content
    path.write_bytes(gzip.compress(data) if path.suffix == ".gz" else data)
    return path


def refused(path: Path, encoding: str = "utf-8") -> str:
    with pytest.raises(DataError) as error:
        list(open_text(path, encoding))
    assert "\n" not in str(error.value)
    return str(error.value).replace(str(path), "FILE")


# -- lines ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["a.txt", "a.txt.gz"])
def test_only_line_ends_end_a_line(tmp_path: Path, name: str) -> None:
    text = "\ufeffone\r\ntwo\rthree\n\nfi\u2028v\x85e\x0b\x0c\x1c \ufeff\nlast"
    assert list(open_text(write(tmp_path / name, text))) == [
        *("one", "two", "three", ""),
        "fi\u2028v\x85e\x0b\x0c\x1c \ufeff",
        "last",
    ]


@given(st.lists(st.text(st.characters(exclude_characters="\r\n\0", exclude_categories=["Cs"]))))
def test_line_n_is_line_n_whatever_is_in_it(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str]
) -> None:
    path = tmp_path_factory.getbasetemp() / "drawn.txt"
    write(path, "first\n" + "".join(line + "\n" for line in lines))
    assert list(open_text(path)) == ["first", *lines]


@pytest.mark.parametrize("encoding", ["cp949", "utf-16", "utf-16-le", "utf-8-sig"])
def test_another_encoding_is_read_when_named(tmp_path: Path, encoding: str) -> None:
    path = write(tmp_path / "a.ko", KOREAN.encode(encoding))
    assert list(open_text(path, encoding)) == KOREAN.splitlines()


def test_gzip_is_recognised_whatever_the_name(tmp_path: Path) -> None:
    path = write(tmp_path / "a.ko", gzip.compress(KOREAN.encode()))
    assert list(open_text(path)) == KOREAN.splitlines()


def test_a_file_left_half_read_is_closed(tmp_path: Path) -> None:
    lines = open_text(write(tmp_path / "a.txt.gz", "one\ntwo\n"))
    assert next(lines) == "one"
    del lines  # an open file would warn, and warnings are errors


def test_files_that_cannot_be_read_say_why(tmp_path: Path) -> None:
    assert refused(tmp_path / "none.ko") == (
        "FILE does not exist; expected a text, TSV or JSONL file, plain or .gz; check the name"
    )
    assert refused(tmp_path) == (
        "FILE is a folder; expected a file with one sentence a line; name a file"
    )
    for name in ("empty.ko", "empty.ko.gz"):
        assert refused(write(tmp_path / name, "")) == (
            "FILE is empty; expected one sentence a line; check how it was made"
        )
    (tmp_path / "zero.gz").write_bytes(b"")
    assert "FILE is empty" in refused(tmp_path / "zero.gz")
    os.mkfifo(tmp_path / "pipe")
    assert refused(tmp_path / "pipe") == (
        "FILE is not a regular file; it must be one, since it is read more than once; "
        "save the text in a file first"
    )
    assert refused(write(tmp_path / "a.ko", KOREAN), "cp9499") == (
        "unknown encoding 'cp9499'; expected one such as utf-8, cp949, utf-16 or latin-1; "
        "leave --encoding out for UTF-8"
    )
    assert "unknown encoding 'base64'" in refused(tmp_path / "a.ko", "base64")


def test_a_file_that_may_not_be_read_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "a.ko", KOREAN)

    def denied(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", denied)
    assert refused(path) == "FILE cannot be read (Permission denied); check its permissions"


def test_damaged_gzip_says_so(tmp_path: Path) -> None:
    whole = gzip.compress(os.urandom(100_000).hex().encode())
    path = tmp_path / "a.ko.gz"
    path.write_bytes(whole[:-1000])
    assert refused(path) == (
        "FILE cannot be unpacked as gzip: it ends too early; expected a whole .gz file; "
        "fetch or compress it again"
    )
    path.write_bytes(whole[:60_000] + b"\xff" * 100 + whole[60_100:])
    assert "FILE cannot be unpacked as gzip: its data is damaged;" in refused(path)
    path.write_bytes(b"plain text\n")
    assert refused(path) == (
        "FILE is not gzip data although its name says so (it begins with 0x706c); "
        "take .gz off the name or compress it"
    )


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"ascii\n\n" + KOREAN.encode("cp949"),
            "FILE is not UTF-8 (byte 0xb3 in line 3); it looks like CP949: add --encoding cp949",
        ),
        (
            b"one\rtwo\r\n" + GERMAN.encode("latin-1"),
            "FILE is not UTF-8 (byte 0xfc in line 3); it looks like Latin-1: "
            "add --encoding latin-1",
        ),
        (
            "Er sagte: „Gut“ für 5 €.\n".encode("cp1252"),
            "FILE is not UTF-8 (byte 0x84 in line 1); it looks like Windows-1252: "
            "add --encoding cp1252",
        ),
        (
            KOREAN.encode("utf-16"),
            "FILE is not UTF-8; it looks like UTF-16: add --encoding utf-16",
        ),
        (
            KOREAN.encode("utf-16-le"),
            "FILE is not UTF-8; it looks like UTF-16 (little-endian): add --encoding utf-16-le",
        ),
        (
            GERMAN.encode("utf-16-be"),
            "FILE is not UTF-8; it looks like UTF-16 (big-endian): add --encoding utf-16-be",
        ),
        (
            b"text\nmore\0text\n",
            "FILE contains NUL bytes (the first in line 2) and is binary or damaged; "
            "expected plain text; give the text itself",
        ),
        (
            b"text\n" * 20_000 + b"and a \0 late\n",
            "FILE contains NUL bytes (the first in line 20001) and is binary or damaged; "
            "expected plain text; give the text itself",
        ),
        (
            bytes(range(1, 256)) * 3,
            "FILE is not UTF-8 (byte 0x80 in line 3) and is binary or damaged; "
            "expected plain text; mend the line",
        ),
    ],
    ids=["cp949", "latin-1", "cp1252", "utf-16", "utf-16-le", "utf-16-be", "nul", "late", "binary"],
)
@pytest.mark.parametrize("name", ["a.ko", "a.ko.gz"])
def test_an_encoding_other_than_utf_8_is_recognised_and_named(
    tmp_path: Path, data: bytes, message: str, name: str
) -> None:
    assert refused(write(tmp_path / name, data)) == message


def test_a_wrong_encoding_asked_for_is_told_too(tmp_path: Path) -> None:
    assert refused(write(tmp_path / "a.ko", "\n한국어"), "cp949") == (
        "FILE is not CP949 (byte 0xed in line 2); it looks like UTF-8: leave --encoding out"
    )
    assert refused(write(tmp_path / "a.de", b"a\0\n\xd8b\0"), "utf-16-le") == (
        "FILE is not UTF-16 (little-endian) (illegal UTF-16 surrogate); expected the encoding of "
        "the file; leave --encoding out to have it recognised"
    )


@pytest.mark.parametrize(
    ("text", "encoding"),
    [
        (KOREAN, "cp949"),
        ("똠방각하는 펲시콜라를 마셨다.\n" + KOREAN, "cp949"),
        ("This is mostly English, 한글 is rare.\n", "cp949"),
        (GERMAN, "latin-1"),
        ("Élève français, où êtes-vous\xa0? À Noël.\n", "latin-1"),
        ("Ärger\n", "latin-1"),
        ("It’s “fine”\n", "cp1252"),
        ("Съешь же ещё этих мягких французских булок\n", "cp1251"),
        ("Съешь же ещё этих мягких французских булок\n", "koi8-r"),
        ("これは日本語の文章です。漢字もあります。\n", "cp932"),
        ("これは日本語の文章です。漢字もあります。\n", "euc_jp"),
        ("这是一个中文句子，我们正在学习。\n", "gb18030"),
        ("한국어\n", "utf-8"),
    ],
)
def test_an_encoding_is_recognised_from_a_line_or_two(text: str, encoding: str) -> None:
    assert recognise_encoding(text.encode(encoding)) == encoding


def test_the_lines_of_a_file_are_estimated_well_enough_for_a_progress_bar(tmp_path: Path) -> None:
    text = "".join(f"this is line {i}\n" for i in range(20_000))
    for name in ("a.txt", "a.txt.gz"):
        assert 19_000 < count_roughly(write(tmp_path / name, text)) < 21_000
    assert count_roughly(write(tmp_path / "b.txt", "one\ntwo\nthree\n")) == 3


# -- sources -------------------------------------------------------------------------------------


def pairs(*paths: Path | str, columns: tuple[str, str] | None = None) -> list[tuple[int, str, str]]:
    given_paths = [Path(path) for path in paths]
    return [pair for source in sources(given_paths, columns) for pair in source.pairs()]


def test_two_files_are_read_line_by_line(tmp_path: Path) -> None:
    one = write(tmp_path / "a.de", "eins\r\nzwei\r\n")
    two = write(tmp_path / "a.en.gz", "one\ntwo")
    assert pairs(one, two) == [(1, "eins", "one"), (2, "zwei", "two")]
    source = sources([one, two])[0]
    assert source == Source("files", (one, two))
    assert source.place(2) == f"{one}:2"
    assert list(source.pairs()) == list(source.pairs())


def test_several_parts_are_read_in_order(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.de", "eins\n"), write(tmp_path / "a.en", "one\n")
    three = write(tmp_path / "b.tsv", "zwei\ttwo\n")
    four = write(tmp_path / "c.jsonl.gz", '{"source": "drei", "target": "three"}\n')
    assert [pair[1:] for pair in pairs(one, two, three, four)] == [
        ("eins", "one"),
        ("zwei", "two"),
        ("drei", "three"),
    ]


def test_a_tsv_is_read_by_columns_and_short_lines_have_an_empty_side(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv", 'x\tein "Wort\ta word\tmore\nx\tzwei\n\nx\t\t\n')
    assert pairs(path) == [(1, "x", 'ein "Wort'), (2, "x", "zwei"), (3, "", ""), (4, "x", "")]
    expected = [(1, "a word", 'ein "Wort'), (2, "", "zwei"), (3, "", ""), (4, "", "")]
    assert pairs(path, columns=("3", "2")) == expected
    assert pairs(f"{path}:3,2") == expected
    assert pairs(f"{path}:3,2", columns=("1", "2")) == expected


def test_a_file_whose_name_has_a_colon_is_that_file(tmp_path: Path) -> None:
    path = write(tmp_path / "a.tsv:2,1", "x\ty\n")
    other = write(tmp_path / "b", "z\n")
    assert pairs(path, other) == [(1, "x\ty", "z")]


@pytest.mark.parametrize(
    ("records", "columns", "expected"),
    [
        ([{"de": "ein", "en": "a", "id": 5}], None, ("ein", "a")),
        ([{"target": "a", "source": "ein"}], None, ("ein", "a")),
        ([{"tgt": "a", "src": "ein", "note": "x"}], None, ("ein", "a")),
        ([{"id": "7", "translation": {"de": "ein", "en": "a"}}], None, ("ein", "a")),
        ([{"id": "7", "translation": {"de": "ein", "en": "a"}}], ("en", "de"), ("a", "ein")),
        ([{"de": "ein", "en": "a", "fr": "un"}], ("fr", "de"), ("un", "ein")),
    ],
)
def test_jsonl_keys_are_found(
    tmp_path: Path,
    records: list[object],
    columns: tuple[str, str] | None,
    expected: tuple[str, str],
) -> None:
    path = write(tmp_path / "a.jsonl", "".join(json.dumps(record) + "\n" for record in records))
    assert pairs(path, columns=columns) == [(1, *expected)]


def test_a_jsonl_line_without_both_texts_has_an_empty_side(tmp_path: Path) -> None:
    lines = ['{"de": "ein", "en": "a"}', '{"de": "zwei"}', "", "5", '{"de": 5, "en": "\\ud800x"}']
    assert pairs(write(tmp_path / "a.jsonl", "\n".join(lines))) == [
        (1, "ein", "a"),
        (2, "zwei", ""),
        (3, "", ""),
        (4, "", ""),
        (5, "", "\ufffdx"),
    ]


def mistake(*paths: Path | str, columns: tuple[str, str] | None = None) -> str:
    with pytest.raises(DataError) as error:
        pairs(*paths, columns=columns)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_mistakes_in_naming_files_are_told(tmp_path: Path) -> None:
    one, two = write(tmp_path / "a.de", "eins\n"), write(tmp_path / "b.tsv", "zwei\ttwo\n")
    assert mistake() == "no files given; expected two text files, or a .tsv or a .jsonl; name them"
    missing = (
        f"target missing for {one}; expected text files two by two, source and target; "
        f"add the other file, or name one that holds both .tsv or .jsonl"
    )
    assert mistake(one) == missing
    assert mistake(one, two, one) == missing
    assert mistake(one, tmp_path / "a.en").startswith(f"{tmp_path / 'a.en'} does not exist;")
    assert mistake(two, columns=("de", "en")) == (
        f"{two} has no column 'de'; expected a number from 1; write b.tsv:1,2 for the first two"
    )
    assert mistake(f"{two}:1") == (
        f"{two}:1 names the columns '1'; expected two with a comma; write {two}:1,2"
    )


def test_mistakes_in_jsonl_are_told(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", '{"de": "ein", "en": "a", "fr": "un"}\n')
    assert mistake(path) == (
        f"{path}:1 has 3 keys with text (de, en, fr); expected two; "
        f"name them, such as a.jsonl:source,target"
    )
    assert mistake(path, columns=("de", "ko")) == (
        f"{path}:1 has no text under the key 'ko'; it has de, en, fr; "
        f"name two of them, such as a.jsonl:source,target"
    )
    write(path, '{"de": "ein", "en": "a"}\n{"de":\n')
    assert mistake(path) == (
        f"{path}:2 is not JSON (Expecting value: line 1 column 7 (char 6)); "
        f"expected one object a line; mend or remove the line"
    )


def test_unequal_counts_name_both_and_where_they_drift_apart(tmp_path: Path) -> None:
    lengths = [5 + (7 * i * i + 3 * i) % 83 for i in range(300)]
    one = write(tmp_path / "a.de", "".join("x" * n + "\n" for n in lengths))
    two = write(
        tmp_path / "a.en", "".join("y" * (n + n // 9) + "\n" for n in lengths[:120] + lengths[121:])
    )
    assert mistake(one, two) == (
        f"{one} has 300 lines and {two} has 299; expected as many in both; "
        f"they seem to drift apart around line 121: look there"
    )
    write(two, "".join("y" * n + "\n" for n in lengths[:250]))
    assert mistake(two, one) == (
        f"{two} has 250 lines and {one} has 300; expected as many in both; "
        f"they agree as far as {two} goes: complete it or cut the other"
    )
    write(two, "one line\n")
    with pytest.raises(UnequalLines, match="compare them from the top") as error:
        pairs(one, two)
    assert error.value.counts == (300, 1)
    assert error.value.begins is None


# -- languages -----------------------------------------------------------------------------------


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
