"""Files in, files out: kept in memory, for a while, under names no one guesses."""

from __future__ import annotations

from typing import Any

import httpx
import pytest
from serve_case import app_of, ask, model, refusal
from starlette.applications import Starlette

from heedful.serve.downloads import Downloads
from heedful.serve.errors import RequestError


def send(
    app: Starlette, data: bytes = b"Hello\n", name: str | None = "a.txt", **more: Any
) -> httpx.Response:
    fields = {"source": "en", "target": "ko"} | more
    files = {} if name is None else {"file": (name, data)}
    if not files:
        return ask(app, "POST", "/translate_file", data=fields)
    return ask(app, "POST", "/translate_file", data=fields, files=files)


def fetch(app: Starlette, answer: httpx.Response) -> httpx.Response:
    assert answer.status_code == 200, answer.text
    (url,) = answer.json().values()
    assert url.startswith("http://served/download_file/")
    return ask(app, "GET", url)


def test_a_file_is_translated_and_can_be_fetched() -> None:
    app = app_of()
    found = fetch(app, send(app, b"Hello\n\nWorld"))
    assert found.content.splitlines() == [b"ko:Hello", b"", b"ko:World"]
    assert found.headers["content-disposition"] == 'attachment; filename="translated.txt"'
    assert found.headers["content-type"] == "application/octet-stream"
    assert found.headers["x-content-type-options"] == "nosniff"


def test_its_language_can_be_found_out() -> None:
    app = app_of()
    found = fetch(app, send(app, "이것은 한국어 문장이다.".encode(), source="auto", target="en"))
    assert found.content.strip() == "en:이것은 한국어 문장이다.".encode()


def test_a_file_through_a_third_language() -> None:
    app = app_of(model("ko", "en"), model("en", "fr"))
    found = fetch(app, send(app, "안녕".encode(), source="ko", target="fr"))
    assert found.content.strip() == "fr:en:안녕".encode()


def test_a_large_file_goes_bit_by_bit_and_all_of_it_comes_back_in_order() -> None:
    lines = [f"Sentence {number}." for number in range(3000)]
    app = app_of(queue=20_000, round_pieces=500)
    found = fetch(app, send(app, "\n".join(lines).encode()))
    assert found.text.split("\n")[:3000] == [f"ko:{line}" for line in lines]


@pytest.mark.parametrize(
    ("how", "text"),
    [
        ({"name": None}, "missing file parameter"),
        ({"source": ""}, "missing source parameter"),
        ({"target": ""}, "missing target parameter"),
        ({"data": b""}, "empty file"),
        ({"name": "a.exe"}, "file format not supported"),
        ({"name": "txt"}, "file format not supported"),
        ({"name": ".txt"}, "file format not supported"),
        ({"data": b"x" * 51}, "request (51) exceeds text limit (50)"),
        ({"terms": "["}, "terms parameter is not JSON"),
    ],
)
def test_what_is_wrong_with_a_file_is_said(how: dict[str, Any], text: str) -> None:
    app = app_of(file_char_limit=50)
    assert refusal(send(app, **how)) == f"Invalid request: {text}"


def test_languages_of_a_file_are_checked() -> None:
    assert refusal(send(app_of(), source="zz")) == "zz is not supported"
    assert refusal(send(app_of(), target="zz")) == "zz is not supported"


def test_a_damaged_file_is_the_clients_mistake() -> None:
    for name, data in (("a.docx", b"no zip"), ("a.txt", b"\xff\xfe\xff")):
        answer = send(app_of(), data, name)
        assert answer.status_code in (200, 400), name
    assert send(app_of(), b"no zip", "a.docx").status_code in (200, 400)


def test_a_file_may_be_larger_than_a_text_but_not_endless() -> None:
    app = app_of(body_limit=1000, file_limit=5000)
    assert send(app, b"a\n" * 1000).status_code == 200
    assert refusal(send(app, b"a\n" * 3000), 413) == (
        "Invalid request: body exceeds limit (5000 bytes)"
    )


def test_a_name_of_a_file_never_becomes_a_path() -> None:
    app = app_of()
    for name in ("../../etc/passwd.txt", "..\\..\\x.txt", "C:\\a.txt", "<script>.txt", "a\0b.txt"):
        answer = send(app, name=name)
        (url,) = answer.json().values()
        kept = url.rsplit("/", 1)[1]
        assert kept.endswith(".txt")
        assert len(kept) == 32 + len(".txt")
        assert "script" not in fetch(app, answer).headers["content-disposition"]


def test_an_address_that_is_none_is_not_said_back() -> None:
    app = app_of()
    data = {"source": "en", "target": "ko"}
    for host in ("evil.example/x?", 'a"b', "<script>", "a b", ""):
        answer = ask(
            app,
            "POST",
            "/translate_file",
            data=data,
            files={"file": ("a.txt", b"hi")},
            headers={"host": host},
        )
        (url,) = answer.json().values()
        assert url.startswith("http://served/download_file/")


def test_downloads_are_kept_up_to_a_number_a_size_and_an_age() -> None:
    now = 0.0
    downloads = Downloads(count=3, size=10, age=60, clock=lambda: now)
    names = [downloads.put(b"x" * size, ".txt") for size in (2, 3, 4)]
    assert len({*names}) == 3
    last = downloads.put(b"x", ".txt")
    for name in (*names[1:], last):
        downloads.get(name)
    with pytest.raises(RequestError, match=r"^Invalid filename$"):
        downloads.get(names[0])  # of four, the oldest
    downloads.put(b"x" * 9, ".txt")  # room for one byte beside it
    with pytest.raises(RequestError):
        downloads.get(names[2])
    assert downloads.get(last) == b"x"
    now = 61.0
    with pytest.raises(RequestError) as gone:
        downloads.get(last)
    assert gone.value.status == 404
    with pytest.raises(RequestError) as large:
        downloads.put(b"x" * 11, ".txt")
    assert large.value.text == (
        "Invalid request: translated file (11 bytes) exceeds limit (10 bytes)"
    )
