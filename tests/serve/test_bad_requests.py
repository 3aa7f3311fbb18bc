"""Requests that are damaged, hostile or absurd: always 4xx, always one line."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from serve_case import app_of, ask, refusal, translate

from heedful.serve.errors import RequestError
from heedful.serve.forms import parse_form, parse_json, parse_multipart

JSON = {"content-type": "application/json"}
FORM = {"content-type": "application/x-www-form-urlencoded"}
MULTIPART = {"content-type": "multipart/form-data; boundary=b"}


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[1]",
        b'"q"',
        b"null",
        b"\xff\xfe",
        b'{"q": "\xff"}',
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"q": ' + b"9" * 100_000 + b"}",
        b'{"q": NaN}',
        b'{"q": -Infinity}',
        b'{"q": "a", "q": "b"}',
        b'{"q": "a", "terms": {"x": "y", "x": "z"}}',
        b'{"q": "a\x00b"}',
    ],
)
def test_json_that_is_none_or_a_bomb_is_refused(body: bytes) -> None:
    answer = ask(app_of(), "POST", "/translate", content=body, headers=JSON)
    assert refusal(answer) == "Invalid JSON format"


def test_texts_that_are_no_unicode_are_refused() -> None:
    app = app_of()
    base = {"q": "a", "source": "en", "target": "ko"}
    for name in base:
        for bad, why in (
            ("x\0y", "holds a NUL character"),
            ("x\ud800", "holds half a surrogate pair"),
        ):
            body = json.dumps(base | {name: bad})
            answer = ask(app, "POST", "/translate", content=body, headers=JSON)
            assert refusal(answer) == f"Invalid request: {name} parameter {why}"
    body = json.dumps(base | {"terms": {"a": "\udfff"}})
    answer = ask(app, "POST", "/translate", content=body, headers=JSON)
    assert refusal(answer) == "Invalid request: terms parameter holds half a surrogate pair"


def test_numbers_beyond_reason_are_refused() -> None:
    app = app_of()
    for number in ("1e999", "1.5", "123456789012345678901234567890", '"' + "9" * 5000 + '"'):
        body = f'{{"q": "a", "source": "en", "target": "ko", "alternatives": {number}}}'
        answer = ask(app, "POST", "/translate", content=body, headers=JSON)
        assert refusal(answer).startswith("Invalid request: alternatives parameter ")
    assert translate(app, "a", alternatives=2.0).status_code == 200


@pytest.mark.parametrize(
    ("headers", "body", "text"),
    [
        (FORM, b"q=%ff", "form is not URL-encoded UTF-8 of at most 1024 fields"),
        (FORM, b"q=\xff", "form is not URL-encoded UTF-8 of at most 1024 fields"),
        (FORM, b"a&" * 5000, "form is not URL-encoded UTF-8 of at most 1024 fields"),
        (FORM, b"q=%00&source=en&target=ko", "q parameter holds a NUL character"),
        (MULTIPART, b"nothing", "multipart form is damaged"),
        (MULTIPART, b"--b\r\nA: b\r\n\r\nx\r\n--b--\r\n", "multipart form is damaged"),
        ({"content-type": "multipart/form-data"}, b"x", None),
    ],
)
def test_forms_that_are_damaged_are_refused(
    headers: dict[str, str], body: bytes, text: str | None
) -> None:
    said = refusal(ask(app_of(), "POST", "/translate", content=body, headers=headers))
    expected = text or "multipart form has no boundary: multipart/form-data"
    assert said == f"Invalid request: {expected}"


def test_an_address_that_is_damaged_is_refused() -> None:
    said = refusal(ask(app_of(), "POST", "/translate?q=%ff&source=en&target=ko"))
    assert said == "Invalid request: query is not URL-encoded UTF-8 of at most 1024 fields"


def test_other_kinds_of_bodies_are_refused() -> None:
    for kind in ("text/plain", "application/xml", "application/octet-stream"):
        answer = ask(
            app_of(), "POST", "/translate", content=b'{"q":1}', headers={"content-type": kind}
        )
        assert refusal(answer, 415) == (
            f"Invalid request: content type {kind} is not supported; expected application/json, "
            "application/x-www-form-urlencoded or multipart/form-data"
        )


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"format": ["html"]}, "Invalid request: format parameter is not a text"),
        ({"format": "\ud800"}, "Invalid request: format parameter holds half a surrogate pair"),
        ({"q": [[]] * 600}, "Invalid request: q parameter is not a text"),
        ({"q": {"a": "b"}}, "Invalid request: q parameter is not a text"),
        ({"terms": "\ud800"}, "Invalid request: terms parameter is not JSON"),
        ({"terms": {"a": {"b": "\0"}}}, "Invalid request: terms parameter holds a NUL character"),
        ({"alternatives": {}}, "Invalid request: alternatives parameter is not a number"),
        ({"api_key": 7}, "Invalid request: api_key parameter is not a text"),
    ],
)
def test_what_is_of_the_wrong_kind_is_named(change: dict[str, object], text: str) -> None:
    body = json.dumps({"q": "a", "source": "en", "target": "ko"} | change)
    assert refusal(ask(app_of(), "POST", "/translate", content=body, headers=JSON)) == text


def test_no_parameters_at_all_is_a_missing_text() -> None:
    for path in ("/translate", "/detect", "/explain"):
        assert refusal(ask(app_of(), "POST", path)) == "Invalid request: missing q parameter"


@settings(max_examples=60)
@given(st.binary(max_size=300))
def test_any_bytes_are_read_or_refused(body: bytes) -> None:
    for parse in (
        parse_json,
        parse_form,
        lambda data: parse_multipart(data, "multipart/form-data; boundary=b"),
        lambda data: parse_multipart(b"--b\r\n" + data, "multipart/form-data; boundary=b"),
    ):
        try:
            parse(body)
        except RequestError as refused:
            assert refused.status == 400  # noqa: PT017


JSONS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=6,
)
NAMES = st.sampled_from(
    ["q", "source", "target", "format", "alternatives", "terms", "api_key", "layers", "values"]
)


@settings(max_examples=60)
@given(st.dictionaries(NAMES, JSONS | st.sampled_from(["en", "ko", "auto", "html"])))
def test_any_parameters_are_answered_without_5xx(values: dict[str, object]) -> None:
    body = json.dumps(values).encode("utf-8", "surrogatepass")
    for path in ("/translate", "/detect", "/explain"):
        answer = ask(APP, "POST", path, content=body, headers=JSON)
        assert answer.status_code in (200, 400), answer.text
        assert answer.json() is not None


APP = app_of()
