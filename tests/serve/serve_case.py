"""A server over translators that are none: every test of serving stands on it."""

from __future__ import annotations

import asyncio
import contextlib
import socket
import threading
import time
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

import httpx
from starlette.applications import Starlette

from heedful.errors import DataError
from heedful.serve.app import build_app
from heedful.serve.options import ServeOptions
from heedful.serve.run import listen, make_server
from heedful.serve.translation.directions import Served
from heedful.settings import DecodeSettings
from heedful.tasks.translation.using import Candidate, Translation

Given = TypeVar("Given")

PAGE = {
    "index.html": b"<!doctype html><title>Heedful</title>",
    "style.css": b"body{}",
    "main.js": b"export {}",
}
LATER = 20.0
"""Seconds after which something that must happen has not: never waited for when it does."""


class Fake:
    """Says `<target>:text`; keeps what it was given, and waits where a test tells it to."""

    def __init__(self, target: str = "ko") -> None:
        self.target = target
        self.rounds: list[list[str]] = []
        self.threads: set[str] = set()
        self.gate = threading.Event()
        self.gate.set()
        self.long_gate = threading.Event()
        self.long_gate.set()
        self.busy = threading.Semaphore(0)
        self.poison = "독"

    def lines(
        self, texts: Iterable[str], decode: DecodeSettings | None = None, n_best: int = 1
    ) -> Iterator[Translation]:
        assert decode is None or decode.beam >= n_best
        given = list(texts)
        self.rounds.append(given)
        self.threads.add(threading.current_thread().name)
        self.busy.release()
        assert self.gate.wait(LATER)
        if any("long" in text for text in given):
            assert self.long_gate.wait(LATER)
        for text in given:
            if self.poison in text:
                raise ZeroDivisionError(text)
            if "refuse" in text:
                raise DataError("this text cannot be used")
            guards = ("length",) if "endless" in text else ()
            told = [f"{self.target}:{text}", *(f"{self.target}{n}:{text}" for n in range(2, 30))]
            yield Translation(tuple(Candidate(t, 0.0, 0.0, guards) for t in told[:n_best]))

    def decoding(self, **options: Any) -> DecodeSettings:
        return DecodeSettings(**({"beam": 4} | options))

    def trace(self, text: str, translation: str | None = None, **options: Any) -> dict[str, Any]:
        if options["layers"] and max(options["layers"]) > 5:
            raise DataError("layer 6 is not there; the model has 6, the first is 0")
        return {"schema": "heedful.trace/2", "text": text, "given": translation, **options}

    def align(self, text: str, translation: str) -> list[tuple[int, int]]:
        return list(enumerate(range(min(len(text.split()), len(translation.split())))))


def model(source: str = "en", target: str = "ko", name: str = "model") -> Served:
    return Served(name, source, target, Fake(target))


def fake(served: Served) -> Fake:
    assert isinstance(served.translator, Fake)
    return served.translator


def queue_of(app: Starlette) -> Any:
    """The queue before the model from English to Korean."""
    return app.state.apis[0].service.queues["en", "ko"]


def app_of(*models: Served, note: Callable[[str], object] = str, **options: Any) -> Starlette:
    chosen = models or (model(), model("ko", "en"))
    return build_app(chosen, ServeOptions(**options), page=PAGE, note=note)


def run(work: Coroutine[Any, Any, Given]) -> Given:
    async def within() -> Given:
        async with asyncio.timeout(3 * LATER):
            return await work

    return asyncio.run(within())


def client(app: Starlette, base: str = "http://served") -> httpx.AsyncClient:
    return httpx.AsyncClient(
        transport=httpx.ASGITransport(app, raise_app_exceptions=True), base_url=base
    )


def ask(app: Starlette, method: str, path: str, **more: Any) -> httpx.Response:
    async def once() -> httpx.Response:
        async with client(app) as one:
            return await one.request(method, path, **more)

    return run(once())


def post(app: Starlette, path: str, /, **values: Any) -> httpx.Response:
    return ask(app, "POST", path, json=values)


def translate(app: Starlette, q: object, **more: Any) -> httpx.Response:
    return post(app, "/translate", **{"q": q, "source": "en", "target": "ko"} | more)


def refusal(answer: httpx.Response, status: int = 400) -> str:
    """The one line a refused client gets."""
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/json"
    body = answer.json()
    assert list(body) == ["error"]
    assert "\n" not in body["error"]
    text: str = body["error"]
    return text


async def until(condition: Callable[[], object]) -> None:
    """Let others go on until something holds."""
    async with asyncio.timeout(LATER):
        while not condition():
            await asyncio.sleep(0.002)


def wait_for(condition: Callable[[], object]) -> None:
    """The same outside of a loop."""
    end = time.monotonic() + LATER
    while not condition():
        assert time.monotonic() < end, "it never came"
        time.sleep(0.002)


@dataclass(frozen=True)
class Running:
    """A server that listens."""

    app: Starlette
    server: Any
    port: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def connect(self) -> socket.socket:
        return socket.create_connection(("127.0.0.1", self.port), timeout=LATER)


@contextlib.contextmanager
def running(*models: Served, page: Mapping[str, bytes] = PAGE, **options: Any) -> Iterator[Running]:
    """A server of uvicorn's on a free port, in a thread."""
    chosen = ServeOptions(port=0, **options)
    app = build_app(models or (model(), model("ko", "en")), chosen, page=page, note=str)
    listener = listen(chosen)
    server = make_server(app, chosen)
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listener]})
    thread.start()
    try:
        wait_for(lambda: server.started)
        yield Running(app, server, listener.getsockname()[1])
    finally:
        server.should_exit = True
        server.force_exit = True
        thread.join(LATER)
        listener.close()
        assert not thread.is_alive()


def received(connection: socket.socket) -> bytes:
    """Everything until the other side closes; a connection that is cut off ends too."""
    found = b""
    with contextlib.suppress(ConnectionError):
        while data := connection.recv(65536):
            found += data
    return found
