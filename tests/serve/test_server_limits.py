"""Under load: one queue for all, refusals at once, and nobody waits for a client that left."""

from __future__ import annotations

import asyncio
from typing import Any

import httpx
import pytest
from serve_case import app_of, ask, client, fake, model, queue_of, refusal, run, translate, until
from starlette.applications import Starlette

from heedful.errors import ConfigError
from heedful.serve.options import ServeOptions


def body(text: object) -> dict[str, Any]:
    return {"q": text, "source": "en", "target": "ko"}


def test_requests_of_many_clients_are_translated_together() -> None:
    async def many() -> list[httpx.Response]:
        async with client(app_of(one)) as web:
            asked = (web.post("/translate", json=body([f"{n} a", f"{n} b"])) for n in range(20))
            return await asyncio.gather(*asked)

    one = model()
    found = run(many())
    assert [answer.json()["translatedText"] for answer in found] == [
        [f"ko:{n} a", f"ko:{n} b"] for n in range(20)
    ]
    assert len(fake(one).rounds) < 20
    assert all(name.startswith("heedful-translate") for name in fake(one).threads)


def test_a_full_queue_answers_503_at_once_with_retry_after() -> None:
    async def crowd() -> None:
        fake(one).gate.clear()
        async with client(app) as web:
            held = [asyncio.ensure_future(web.post("/translate", json=body("first")))]
            await until(lambda: fake(one).rounds)
            for _ in range(3):
                held.append(asyncio.ensure_future(web.post("/translate", json=body("x" * 100))))
            await until(lambda: any(task.done() for task in held))
            refused = next(task for task in held if task.done()).result()
            assert refusal(refused, 503).startswith("Slowdown: too many texts are waiting")
            assert int(refused.headers["retry-after"]) >= 1
            fake(one).gate.set()
            answers = await asyncio.gather(*held)
            assert sorted(answer.status_code for answer in answers) == [200, 200, 503, 503]

    one = model()
    app = app_of(one, queue=27, lanes=1)
    run(crowd())


def test_where_every_queue_is_full_a_body_is_not_even_read() -> None:
    async def crowd() -> None:
        fake(one).gate.clear()
        async with client(app) as web:
            held = [asyncio.ensure_future(web.post("/translate", json=body("first")))]
            await until(lambda: fake(one).rounds)
            held.append(asyncio.ensure_future(web.post("/translate", json=body("x" * 200))))
            await until(lambda: queue_of(app).full)

            async def never() -> Any:
                raise AssertionError("the body was read")

            status = await raw(app, never)
            assert status == 503
            fake(one).gate.set()
            await asyncio.gather(*held)

    one = model()
    app = app_of(one, queue=20, lanes=1)
    run(crowd())


async def raw(app: Starlette, receive: Any, path: str = "/translate") -> int:
    """A request whose body comes as a test has it."""
    sent: list[Any] = []
    scope = {
        "type": "http",
        "asgi": {"version": "3.0"},
        "http_version": "1.1",
        "method": "POST",
        "scheme": "http",
        "path": path,
        "query_string": b"",
        "root_path": "",
        "headers": [(b"content-type", b"application/json")],
        "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 2),
    }

    async def send(message: Any) -> None:
        sent.append(message)

    await app(scope, receive, send)
    status: int = sent[0]["status"]
    return status


def test_one_client_gets_429_where_others_are_served() -> None:
    async def crowd() -> None:
        fake(one).gate.clear()
        async with client(app) as web:
            held = [
                asyncio.ensure_future(web.post("/translate", json=body(f"text {n}")))
                for n in range(2)
            ]
            await until(lambda: fake(one).rounds)
            refused = await web.post("/translate", json=body("third"))
            assert refusal(refused, 429) == "Slowdown: 2 requests at once"
            assert refused.headers["retry-after"] == "1"
            other = httpx.ASGITransport(app, client=("10.0.0.7", 1))
            async with httpx.AsyncClient(transport=other, base_url="http://served") as another:
                held.append(asyncio.ensure_future(another.post("/translate", json=body("other"))))
                await asyncio.sleep(0)
                fake(one).gate.set()
                answers = await asyncio.gather(*held)
            assert [answer.status_code for answer in answers] == [200, 200, 200]
            assert (await web.post("/translate", json=body("again"))).status_code == 200

    one = model()
    app = app_of(one, client_limit=2)
    run(crowd())


def test_a_request_that_takes_too_long_is_given_up_and_leaves_the_queue() -> None:
    async def slow() -> None:
        fake(one).gate.clear()
        async with client(app) as web:
            answer = await web.post("/translate", json=body("slow"))
            assert refusal(answer, 503) == (
                "Slowdown: the request took longer than 0.05 s, try again in 1 s"
            )
            assert queue_of(app).waiting == 0
            fake(one).gate.set()

    one = model()
    app = app_of(one, timeout=0.05)
    run(slow())


def test_a_client_that_leaves_takes_its_lines_with_it() -> None:
    async def leave() -> None:
        fake(one).gate.clear()
        async with client(app) as web:
            held = asyncio.ensure_future(web.post("/translate", json=body("first")))
            await until(lambda: fake(one).rounds)
            messages = asyncio.Queue[Any]()
            payload = b'{"q": "nobody wants this", "source": "en", "target": "ko"}'
            messages.put_nowait({"type": "http.request", "body": payload})
            gone = asyncio.ensure_future(raw(app, messages.get))
            queue = queue_of(app)
            await until(lambda: queue.waiting)
            messages.put_nowait({"type": "http.disconnect"})
            assert await gone == 499
            assert queue.waiting == 0
            fake(one).gate.set()
            await held

    one = model()
    app = app_of(one, lanes=1)
    run(leave())
    assert fake(one).rounds == [["first"]]
    assert "heedful_dropped_total 1" in ask(app, "GET", "/metrics").text


def test_a_client_that_leaves_in_the_middle_of_its_body_is_no_error() -> None:
    async def half() -> int:
        messages = iter(
            [
                {"type": "http.request", "body": b'{"q":', "more_body": True},
                {"type": "http.disconnect"},
            ]
        )

        async def receive() -> Any:
            return next(messages)

        return await raw(app_of(), receive)

    assert run(half()) == 499


def test_a_body_is_measured_while_it_comes() -> None:
    async def flood() -> tuple[int, int]:
        count = 0

        async def receive() -> Any:
            nonlocal count
            count += 1
            return {"type": "http.request", "body": b"x" * 1000, "more_body": True}

        return await raw(app_of(body_limit=5000), receive), count

    assert run(flood()) == (413, 6)
    answer = translate(app_of(body_limit=5000), "x" * 6000)
    assert refusal(answer, 413) == "Invalid request: body exceeds limit (5000 bytes)"


def test_a_body_that_does_not_come_meets_its_deadline() -> None:
    async def dripping() -> int:
        messages = asyncio.Queue[Any]()
        messages.put_nowait({"type": "http.request", "body": b"{", "more_body": True})

        return await raw(app_of(body_timeout=0.02), messages.get)

    assert run(dripping()) == 408


def test_long_requests_do_not_hold_short_ones() -> None:
    async def both() -> None:
        fake(one).long_gate.clear()
        async with client(app_of(one)) as web:
            long = asyncio.ensure_future(web.post("/translate", json=body(["long one"] * 50)))
            await until(lambda: fake(one).rounds)
            short = await web.post("/translate", json=body("short"))
            assert short.json() == {"translatedText": "ko:short"}
            assert not long.done()
            fake(one).long_gate.set()
            assert (await long).status_code == 200

    one = model()
    run(both())


def test_a_text_that_breaks_the_model_is_a_500_without_its_text_and_spoils_no_other(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def both() -> list[httpx.Response]:
        async with client(app_of(one)) as web:
            asked = (web.post("/translate", json=body(text)) for text in ("비밀 독", "fine"))
            return await asyncio.gather(*asked)

    one = model()
    bad, good = run(both())
    assert refusal(bad, 500) == "Internal server error"
    assert good.json() == {"translatedText": "ko:fine"}
    assert caplog.text.count("ZeroDivisionError at ") == 1
    assert "serve_case.py:" in caplog.text
    assert "비밀" not in caplog.text


def test_files_at_once_are_few() -> None:
    async def crowd() -> None:
        fake(one).gate.clear()
        form = {"data": {"source": "en", "target": "ko"}, "files": {"file": ("a.txt", b"hi")}}
        async with client(app_of(one, files_at_once=1)) as web:
            held = asyncio.ensure_future(web.post("/translate_file", **form))
            await until(lambda: fake(one).rounds)
            refused = await web.post("/translate_file", **form)
            assert refusal(refused, 503) == (
                "Slowdown: too many files are being translated, try again in 5 s"
            )
            fake(one).gate.set()
            assert (await held).status_code == 200

    one = model()
    run(crowd())


@pytest.mark.parametrize(
    ("wrong", "text"),
    [
        ({"port": 65536}, "port 65536 is not a port; expected 0 to 65535"),
        ({"char_limit": 0}, "char_limit = 0 is not possible; expected > 0"),
        ({"timeout": float("nan")}, "timeout = nan is not possible; expected > 0"),
        ({"client_limit": -1}, "client_limit = -1 is negative; expected 0 or more"),
        ({"prefix": "a"}, "prefix 'a' is no path; expected such as /translator"),
        ({"prefix": "/a/../b"}, "prefix '/a/../b' is no path; expected such as /translator"),
        (
            {"cors": ("example.org",)},
            "origin 'example.org' is none; expected such as https://example.org, or *",
        ),
        ({"cors": ("https://a.b/",)}, "origin 'https://a.b/' ends with /; leave that out"),
    ],
)
def test_options_that_cannot_work_are_refused(wrong: dict[str, Any], text: str) -> None:
    with pytest.raises(ConfigError) as refused:
        ServeOptions(**wrong)
    assert str(refused.value) == text


def test_a_prefix_must_not_begin_like_an_endpoint() -> None:
    for prefix in ("/translate/x", "/models", "/page"):
        with pytest.raises(ConfigError) as refused:
            app_of(prefix=prefix)
        text = f"prefix '{prefix}' begins with the name of an endpoint; choose another"
        assert str(refused.value) == text
