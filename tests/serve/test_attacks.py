"""A list of attacks, each as it would be tried."""

from __future__ import annotations

import gc
import io
import json
import zipfile
from itertools import pairwise
from pathlib import Path
from typing import Any

import httpx
import pytest
from serve_case import app_of, ask, client, fake, model, post, refusal, run, running, translate

from heedful.serve.keys import Keys

SCRIPT = "<script>alert(1)</script><img src=x onerror=alert(1)>"
MARKUP = ("text/html", "image/svg+xml", "application/xhtml+xml", "text/xml")


def is_harmless(answer: httpx.Response) -> None:
    """Whatever a browser is made to open shows no markup and runs nothing."""
    assert answer.headers["content-type"].partition(";")[0] not in MARKUP
    assert answer.headers["x-content-type-options"] == "nosniff"
    policy = answer.headers["content-security-policy"]
    assert "'unsafe-inline'" not in policy
    assert policy.startswith("default-src 'none'; script-src 'self';")


def test_script_in_a_text_comes_back_as_data() -> None:
    app = app_of()
    for answer in (
        translate(app, SCRIPT),
        translate(app, SCRIPT, target=SCRIPT),
        translate(app, SCRIPT, source=SCRIPT),
        translate(app, "a", format=SCRIPT),
        post(app, "/detect", q=SCRIPT),
        post(app, "/explain", q=SCRIPT, source="en", target="ko"),
        ask(app, "POST", "/translate", params={"q": SCRIPT, "source": "en", "target": "ko"}),
        ask(app, "GET", f"/{SCRIPT}"),
        ask(app, "GET", f"/page/{SCRIPT}"),
        ask(app, "GET", f"/download_file/{SCRIPT}"),
    ):
        is_harmless(answer)
    assert translate(app, SCRIPT).json() == {"translatedText": f"ko:{SCRIPT}"}


def test_script_in_the_name_of_a_model_or_a_language_stays_data() -> None:
    served = model(f'en"{SCRIPT}', "ko", name=SCRIPT)
    app = app_of(served)
    for path in ("/frontend/settings", "/languages", "/metrics", "/openapi.json"):
        is_harmless(ask(app, "GET", path))
    assert ask(app, "GET", "/frontend/settings").json()["models"][0]["name"] == SCRIPT
    assert SCRIPT.encode() not in ask(app, "GET", "/").content


def test_script_in_the_name_of_a_file_is_nowhere() -> None:
    app = app_of()
    form = {"source": "en", "target": "ko"}
    files = {"file": (f"{SCRIPT}\r\nSet-Cookie: a=b\r\n.txt", SCRIPT.encode())}
    answer = ask(app, "POST", "/translate_file", data=form, files=files)
    is_harmless(answer)
    assert "script" not in answer.text
    found = ask(app, "GET", answer.json()["translatedFileUrl"])
    is_harmless(found)
    assert found.headers["content-disposition"] == 'attachment; filename="translated.txt"'
    assert "set-cookie" not in found.headers


def test_an_html_file_is_downloaded_and_never_shown() -> None:
    app = app_of()
    files = {"file": ("a.html", b"<p>Hello</p>")}
    answer = ask(app, "POST", "/translate_file", data={"source": "en", "target": "ko"}, files=files)
    found = ask(app, "GET", answer.json()["translatedFileUrl"])
    is_harmless(found)
    assert found.headers["content-disposition"].startswith("attachment; ")


@pytest.mark.parametrize(
    "name",
    [
        *("../../../etc/passwd", "..%2f..%2f..%2fetc%2fpasswd", "%2e%2e/%2e%2e/etc/passwd"),
        *("....//etc/passwd", "/etc/passwd", "%00", "a%00.txt", "..", ".", "%c0%ae%c0%ae/"),
        *(
            "index.html/../../app.py",
            "__init__.py",
            "~root",
            "C:%5Cboot.ini",
            "%5c..%5c..",
            "a" * 4000,
        ),
    ],
)
def test_no_path_leads_out(name: str) -> None:
    app = app_of()
    secret = Path("/etc/passwd").read_bytes()[:20]
    for start in ("/page/", "/download_file/", "/"):
        answer = ask(app, "GET", f"http://served{start}{name}")
        assert answer.status_code in (200, 404)
        assert secret not in answer.content
        if answer.status_code == 200:  # a client may have made it a path of ours
            assert answer.content == b"<!doctype html><title>Heedful</title>"


def test_raw_paths_that_no_client_would_clean_lead_nowhere() -> None:
    with running() as server:
        for path in (b"/page/../../../../etc/passwd", b"/download_file/..%2f..%2fetc/passwd"):
            with server.connect() as one:
                one.sendall(b"GET " + path + b" HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
                data = b""
                while part := one.recv(4096):
                    data += part
            assert data.startswith(b"HTTP/1.1 404 ")
            assert b"root:" not in data


def test_nothing_is_written_and_nothing_but_memory_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Uploads of several megabytes go to no disk, temporary files included."""
    import builtins
    import os

    app = app_of()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(tmp_path))

    def refuse(*given: Any, **more: Any) -> Any:
        raise AssertionError(f"opened {given}")

    with monkeypatch.context() as closed:
        closed.setattr(builtins, "open", refuse)
        closed.setattr(io, "open", refuse)
        closed.setattr(os, "open", refuse)
        data = b"Hello there.\n" * 200_000
        form = {"data": {"source": "en", "target": "ko"}, "files": {"file": ("a.txt", data)}}
        assert ask(app, "POST", "/translate_file", **form).status_code == 400  # too many characters
        assert translate(app, "Hello").status_code == 200
    assert list(tmp_path.iterdir()) == []


def test_bombs_are_refused() -> None:
    app = app_of()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("[Content_Types].xml", "<Types/>")
        bomb.writestr("word/document.xml", b"<a>" + b"0" * (200 << 20))
    tenfold = "".join(f'<!ENTITY {y} "{f"&{x};" * 10}">' for x, y in pairwise("abcdefghi"))
    laughs = f'<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "ha">{tenfold}]><w>&i;</w>'
    other = io.BytesIO()
    with zipfile.ZipFile(other, "w") as bomb:
        bomb.writestr("[Content_Types].xml", "<Types/>")
        bomb.writestr("word/document.xml", laughs)
    for data in (packed.getvalue(), other.getvalue()):
        answer = ask(
            app,
            "POST",
            "/translate_file",
            data={"source": "en", "target": "ko"},
            files={"file": ("a.docx", data)},
        )
        assert refusal(answer).startswith("Invalid request: ")


def test_json_bombs_are_refused_quickly_enough_to_go_on() -> None:
    app = app_of()
    header = {"content-type": "application/json"}
    for body in (
        b"[" * 900_000,
        b'{"q":' * 180_000,
        b'{"q":[' + b"[]," * 300_000 + b"[]]}",
        b'{"q":' + b"1" * 1_000_000 + b"}",
        b'{"q":"' + b"\\u0041" * 170_000 + b'"}',
        json.dumps({"q": {str(n): n for n in range(50_000)}}).encode(),
    ):
        answer = ask(app, "POST", "/translate", content=body, headers=header)
        assert answer.status_code == 400
        assert len(answer.content) < 200


def test_keys_cannot_be_found_in_memory_or_guessed_by_type() -> None:
    keys = Keys(["very-secret-key"])
    assert "very-secret" not in repr(keys) + repr(vars(keys))
    app = app_of(keys=keys)
    for wrong in (["very-secret-key"], {"$ne": ""}, True, 0, "very-secret-ke", "very-secret-key\0"):
        answer = translate(app, "a", api_key=wrong)
        assert answer.status_code in (400, 403), wrong
    assert translate(app, "a", api_key="very-secret-key").status_code == 200


def test_headers_that_lie_change_nothing() -> None:
    app = app_of()
    headers = {
        "host": "evil.example",
        "x-forwarded-host": "evil.example",
        "x-original-url": "/metrics",
        "x-http-method-override": "DELETE",
        "content-encoding": "gzip",
    }
    answer = ask(
        app, "POST", "/translate", headers=headers, data={"q": "a", "source": "en", "target": "ko"}
    )
    assert answer.json() == {"translatedText": "ko:a"}


def test_memory_is_level_after_many_bad_requests() -> None:
    async def many() -> int:
        async with client(app) as web:
            for number in range(200):
                await web.post(
                    "/translate", json={"q": f"x{number}", "source": "en", "target": "zz"}
                )
                await web.get(f"/{number}")
                await web.post("/translate", content=b"\xff" * number)
            gc.collect()
            return len(ask_metrics((await web.get("/metrics")).text))

    def ask_metrics(text: str) -> list[str]:
        return [line for line in text.splitlines() if line.startswith("heedful_requests_total")]

    app = app_of()
    assert run(many()) <= 4  # an address is no label


def test_a_model_never_sees_what_was_refused() -> None:
    one = model()
    app = app_of(one, char_limit=10)
    for text in ("x" * 11, "x\0", ["x", 1]):
        assert translate(app, text).status_code == 400
    assert fake(one).rounds == []
