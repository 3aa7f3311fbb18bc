"""The page, the traces, and what protects both."""

from __future__ import annotations

import asyncio

import pytest
from serve_case import PAGE, Fake, app_of, ask, client, fake, model, post, refusal, run, until

from heedful.serve.translation.directions import Served

GOOD = {"q": "나는 학생이다.", "source": "ko", "target": "en"}


def test_the_page_and_its_files_are_served_from_memory() -> None:
    app = app_of()
    index = ask(app, "GET", "/")
    assert (index.content, index.headers["content-type"]) == (
        PAGE["index.html"],
        "text/html; charset=utf-8",
    )
    style, script = ask(app, "GET", "/page/style.css"), ask(app, "GET", "/page/main.js")
    assert style.headers["content-type"] == "text/css; charset=utf-8"
    assert script.headers["content-type"] == "text/javascript; charset=utf-8"
    assert refusal(ask(app, "GET", "/page/other.js"), 404) == "Not Found"
    assert ask(app, "GET", "/favicon.ico").status_code == 204


def test_a_trace_is_asked_for_with_its_choices() -> None:
    app = app_of()
    found = post(app, "/explain", **GOOD).json()
    assert found == {
        "schema": "heedful.trace/2",
        "text": "나는 학생이다.",
        "given": None,
        "layers": None,
        "heads": None,
        "decimals": 4,
        "values": True,
    }
    chosen = {"layers": [0, 2], "heads": [1], "decimals": 2, "values": False, "translation": "I"}
    found = post(app, "/explain", **GOOD, **chosen).json()
    assert {name: found[name] for name in ("layers", "heads", "decimals", "values")} == {
        name: chosen[name] for name in ("layers", "heads", "decimals", "values")
    }
    assert found["given"] == "I"
    form = {**GOOD, "layers": "0,2", "heads": "1", "decimals": "2", "values": "false"}
    assert ask(app, "POST", "/explain", data=form).json()["layers"] == [0, 2]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"q": ["a"]}, "Invalid request: q parameter is not a text"),
        ({"q": "x" * 1001}, "Invalid request: request (1001) exceeds text limit (1000)"),
        ({"translation": "x" * 1001}, "Invalid request: request (1001) exceeds text limit (1000)"),
        ({"source": "auto"}, "auto is not supported"),
        ({"source": "en"}, "Invalid request: no model translates en to en by itself"),
        ({"layers": "a"}, "Invalid request: layers parameter is not a number"),
        ({"layers": 5}, "Invalid request: layers parameter is not a list of numbers"),
        ({"heads": [-1]}, "Invalid request: heads parameter must be >= 0"),
        ({"heads": [0] * 257}, "Invalid request: request (257) exceeds text limit (256)"),
        ({"decimals": 9}, "Invalid request: decimals parameter must be <= 8"),
        ({"decimals": -1}, "Invalid request: decimals parameter must be >= 0"),
        ({"values": 3}, "Invalid request: values parameter is not true or false"),
        ({"layers": [6]}, "Invalid request: layer 6 is not there; the model has 6, the first is 0"),
    ],
)
def test_a_trace_that_cannot_be_is_refused(change: dict[str, object], text: str) -> None:
    assert refusal(post(app_of(), "/explain", **GOOD | change)) == text


def test_traces_wait_for_each_other_and_not_without_end() -> None:
    async def crowd() -> None:
        async with client(app_of(one, traces_at_once=2)) as web:
            body = {"q": "hold", "source": "en", "target": "ko"}
            held = [asyncio.ensure_future(web.post("/explain", json=body)) for _ in range(2)]
            await until(lambda: holding.at_once)
            refused = await web.post("/explain", json=body)
            assert refusal(refused, 503) == (
                "Slowdown: too many traces are waiting, try again in 5 s"
            )
            # Translating goes on meanwhile.
            assert (await web.post("/translate", json=body)).status_code == 200
            holding.gate.set()
            answers = await asyncio.gather(*held)
            assert [answer.status_code for answer in answers] == [200, 200]
        assert holding.most == 1

    class Holding(Fake):
        at_once = most = 0

        def trace(self, text: str, translation: str | None = None, **options: object) -> dict:
            self.at_once += 1
            self.most = max(self.most, self.at_once)
            assert self.gate.wait(20)
            self.at_once -= 1
            return {"schema": "heedful.trace/2"}

        def lines(self, *given: object, **more: object):  # type: ignore[no-untyped-def]
            held, self.gate = self.gate, other
            yield from super().lines(*given, **more)
            self.gate = held

    holding = Holding()
    other = fake(model()).gate
    holding.gate.clear()
    one = Served("model", "en", "ko", holding)
    run(crowd())


def test_every_answer_has_the_safe_headers() -> None:
    app = app_of()
    for answer in (
        ask(app, "GET", "/"),
        ask(app, "GET", "/page/main.js"),
        ask(app, "GET", "/health"),
        ask(app, "GET", "/nothing"),
        post(app, "/translate", q="a", source="en", target="zz"),
        post(app, "/translate", q="독", source="en", target="ko"),
    ):
        policy = answer.headers["content-security-policy"]
        assert policy == (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
            "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert "access-control-allow-origin" not in answer.headers
        assert "server" not in answer.headers


def test_other_origins_are_let_in_only_when_asked_for() -> None:
    origin = {"origin": "https://a.example"}
    preflight = origin | {"access-control-request-method": "POST"}
    closed = app_of()
    assert (
        "access-control-allow-origin" not in ask(closed, "GET", "/health", headers=origin).headers
    )
    assert ask(closed, "OPTIONS", "/translate", headers=preflight).status_code == 405
    app = app_of(cors=("https://a.example",))
    for path in ("/health", "/nothing"):
        allowed = ask(app, "GET", path, headers=origin).headers
        assert allowed["access-control-allow-origin"] == "https://a.example"
        assert "access-control-allow-credentials" not in allowed
    before = ask(app, "OPTIONS", "/translate", headers=preflight)
    assert before.status_code == 200
    assert "POST" in before.headers["access-control-allow-methods"]
    other = ask(app, "GET", "/health", headers={"origin": "https://b.example"}).headers
    assert "access-control-allow-origin" not in other
    everyone = ask(app_of(cors=("*",)), "GET", "/health", headers=origin).headers
    assert everyone["access-control-allow-origin"] == "*"


def test_a_prefix_may_be_taken_off_by_the_proxy_or_not() -> None:
    app = app_of(prefix="/tools/translator")
    for base in ("", "/tools/translator"):
        assert ask(app, "GET", f"{base}/health").json() == {"status": "ok"}
        assert ask(app, "GET", f"{base}/").content == PAGE["index.html"]
        assert ask(app, "GET", f"{base}/page/main.js").status_code == 200
        form = {"source": "ko", "target": "en"}
        files = {"file": ("a.txt", b"hi")}
        url = ask(app, "POST", f"{base}/translate_file", data=form, files=files).json()
        address = url["translatedFileUrl"]
        assert address.startswith("http://served/tools/translator/download_file/")
        assert ask(app, "GET", address).status_code == 200
        assert ask(app, "GET", address.replace("/tools/translator", "")).status_code == 200
    bare = ask(app, "GET", "/tools/translator")
    assert (bare.status_code, bare.headers["location"]) == (307, "/tools/translator/")
    assert ask(app, "GET", "/tools/translatorhealth").status_code == 404
    servers = ask(app, "GET", "/openapi.json").json()["servers"]
    assert servers == [{"url": "/tools/translator"}]
