from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from heedful.errors import DataError, HeedfulError
from heedful.tasks.translation.documents import formats
from heedful.tasks.translation.documents.formats import SUPPORTED, DocumentError, open_document


def shout(texts: list[str]) -> list[str]:
    return [f"{text}!" for text in texts]


def test_the_endings_are_those_promised() -> None:
    assert {".txt", ".srt", ".vtt", ".html", ".docx", ".odt"} <= set(SUPPORTED)
    assert issubclass(DocumentError, DataError)
    assert issubclass(DocumentError, HeedfulError)


@pytest.mark.parametrize(
    ("name", "ending"),
    [("x.pdf", ".pdf"), ("x", "none"), ("", "none"), ("docx", "none"), ("a.docx/b", "none")],
)
def test_other_endings_are_refused_by_name(name: str, ending: str) -> None:
    with pytest.raises(DocumentError) as caught:
        open_document(name, b"")
    assert str(caught.value) == (
        f"files with the ending {ending!r} cannot be translated; expected one of "
        f".txt, .srt, .vtt, .html, .htm, .docx, .odt; save it as one of them"
    )


def test_only_the_ending_of_a_name_is_looked_at() -> None:
    for name in ("../../etc/passwd.txt", "C:\\x\\y.TXT", "<script>.txt", "\0.txt", "a\nb.txt"):
        assert open_document(name, b"Hello").texts == ["Hello"]


def test_every_kind_says_what_it_is_and_may_be_empty() -> None:
    for ending, data in ((".txt", b""), (".srt", b""), (".vtt", b"WEBVTT\n"), (".html", b"")):
        document = open_document(f"x{ending}", data)
        assert document.extension == ending
        assert document.texts == []
        assert document.rebuild([]) == data


def test_lines_blank_lines_and_line_ends_stay() -> None:
    data = "Hello  world\r\n\r\n\t안녕 세상 \r--- 42 ---\n\nlast".encode()
    document = open_document("x.txt", data)
    assert document.texts == ["Hello  world", "안녕 세상", "last"]
    assert document.rebuild(document.texts) == data
    assert document.rebuild(["a", "b\nc", "<d>"]) == b"a\r\n\r\n\tb c \r--- 42 ---\n\n<d>"


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
def test_marked_text_is_written_as_it_was_read(encoding: str) -> None:
    data = "첫 줄\nsecond line\n".encode(encoding)
    document = open_document("x.txt", data)
    assert document.texts == ["첫 줄", "second line"]
    assert document.rebuild(document.texts) == data


def test_big_endian_text_stays_so() -> None:
    data = b"\xfe\xff" + "첫 줄\n".encode("utf-16-be")
    document = open_document("x.txt", data)
    assert document.rebuild(["é"]) == b"\xfe\xff" + "é\n".encode("utf-16-be")


@pytest.mark.parametrize(
    ("encoding", "text"),
    [
        ("cp949", "어제저녁에 비가 와서 우리는 영화관에 갔다.\n재미있었다.\n"),
        ("cp932", "昨日の夜は雨が降っていたので、映画館に行きました。\n"),
        ("latin-1", "Nous avons oublié nos clés à la gare.\n"),
        ("cp1251", "Вчера вечером мы пошли в кино.\n"),
    ],
)
def test_older_encodings_are_recognised_and_written_as_utf8(encoding: str, text: str) -> None:
    ahead = "plain line\n" * 10_000  # further on than any sample from the beginning
    document = open_document("x.txt", (ahead + text).encode(encoding))
    assert document.texts[10_000:] == text.splitlines()
    assert document.rebuild(document.texts).decode() == ahead + text


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            b"text\0text",
            "the file contains NUL characters and is binary, or UTF-16 without a mark; "
            "expected text; save it as UTF-8",
        ),
        (
            bytes([1, 2, 3, 255, 254, 200]) * 50,
            "the file is not text in UTF-8 (byte 0xff at 3) nor in any encoding known here; "
            "save it as UTF-8",
        ),
        (
            b"\xff\xfea",
            "the file is not text in UTF-16-LE (byte 0x61 at 0) nor in any encoding known here; "
            "save it as UTF-8",
        ),
    ],
)
def test_what_is_no_text_is_refused_in_one_line(data: bytes, message: str) -> None:
    with pytest.raises(DocumentError) as caught:
        open_document("x.txt", data)
    assert str(caught.value) == message


def test_a_file_too_large_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(formats, "LARGEST_FILE", 1_000)
    for ending in SUPPORTED:
        with pytest.raises(DocumentError) as caught:
            open_document(f"x{ending}", b"x" * 1_001)
        assert str(caught.value) == (
            "the file has 1,001 bytes; expected at most 1,000; send it in parts"
        )


def test_a_wrong_number_of_translations_is_a_mistake_of_ours() -> None:
    with pytest.raises(ValueError, match=r"^0 translations of 1 texts$"):
        open_document("x.txt", b"Hello").rebuild([])


@settings(max_examples=100)
@given(st.binary(max_size=200) | st.text(max_size=100).map(str.encode))
def test_any_bytes_are_read_or_refused(data: bytes) -> None:
    for ending in (".txt", ".srt", ".vtt", ".html", ".docx", ".odt"):
        try:
            document = open_document(f"x{ending}", data)
        except DocumentError:
            continue
        document.rebuild(shout(document.texts))


@settings(max_examples=100)
@given(st.text(alphabet=st.characters(exclude_categories=["Cs"], exclude_characters="\0")))
def test_any_text_untranslated_is_the_same_file(text: str) -> None:
    for ending in (".txt", ".html"):
        document = open_document(f"x{ending}", text.encode())
        if not text.startswith("\ufeff"):
            assert document.rebuild(document.texts) == text.encode()


# -- pages ---------------------------------------------------------------------------------------


def test_a_page_goes_through_the_markup() -> None:
    data = b'<meta charset="utf-8"><p>The <b>dog</b>.</p>'
    document = open_document("x.HTM", data)
    assert document.texts == ["The dog."]
    done = document.rebuild(["Le chien <3."], lambda _, __: [(0, 0), (1, 1)])
    assert done == b'<meta charset="utf-8"><p>Le <b>chien</b> &lt;3.</p>'


@pytest.mark.parametrize(
    ("data", "translation", "result"),
    [
        ("<p>안녕</p>".encode(), "é", "<p>é</p>".encode()),
        (b"<p>Hello</p>", "안녕", b"<p>&#50504;&#45397;</p>"),
        (
            b"<meta charset=utf-8><p>Hello</p>",
            "안녕",
            "<meta charset=utf-8><p>안녕</p>".encode(),
        ),
        (
            "<meta http-equiv=Content-Type content='text/html; charset=EUC-KR'><p>안녕</p>".encode(
                "cp949"
            ),
            "세상 é",
            b"<meta http-equiv=Content-Type content='text/html; charset=EUC-KR'><p>"
            + "세상 &#233;</p>".encode("cp949"),
        ),
        (
            "<meta charset=euc-kr><p>안녕 세상</p>".encode(),
            "세상",
            "<meta charset=euc-kr><p>세상</p>".encode(),
        ),
        ("\ufeff<p>안녕</p>".encode("utf-16-le"), "é", "\ufeff<p>é</p>".encode("utf-16-le")),
    ],
)
def test_a_page_is_written_so_that_a_browser_reads_it(
    data: bytes, translation: str, result: bytes
) -> None:
    assert open_document("x.html", data).rebuild([translation]) == result
