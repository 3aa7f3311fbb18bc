from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from heedful.data.lines import count_roughly, open_text, recognise_encoding
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
