"""The application: its routes, and the shell around every request."""

from __future__ import annotations

import asyncio
import logging
import time
import traceback
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.middleware.cors import CORSMiddleware
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from heedful.errors import ConfigError, DataError
from heedful.machine import give_memory_back
from heedful.serve.api import Model, Shared, load, make_apis
from heedful.serve.errors import RequestError, invalid
from heedful.serve.explain import Explainer
from heedful.serve.forms import parse_query
from heedful.serve.guard import RequestGuard
from heedful.serve.metrics import CONTENT_TYPE, ServerMetrics, total
from heedful.serve.openapi import Endpoint, answer_json, describe, get, ref, to_json
from heedful.serve.options import ServeOptions
from heedful.serve.page import page_endpoints, plain_page
from heedful.serve.parameters import ClientLeft
from heedful.settings import Table
from heedful.tasks import registry

logger = logging.getLogger("heedful.serve")

HEADERS = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
}
"""Sent with every answer, whatever it is."""
_SAFE = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
REST, TIDY = 0.5, 5.0
"""Seconds after which freed memory goes back to the system: when idle, and under load."""
LONGEST = 500
"""Characters of an error that may quote what a client sent."""
CLIENT_LEFT = 499
"""Status that is counted for a client that left; nobody receives it."""


def build_app(
    models: Sequence[Model | Path],
    options: ServeOptions | None = None,
    page: Mapping[str, bytes] | None = None,
    note: Callable[[str], object] = logger.info,
) -> Starlette:
    """Make the application that serves some models; `page` has the files of the page, or ours."""
    options = options or ServeOptions()
    opened = [load(one, options, note) if isinstance(one, Path) else one for one in models]
    if not opened:
        raise ConfigError("no model to serve; name one model folder or more")
    _check_own(opened, options)
    metrics, guard = ServerMetrics(), RequestGuard(options)
    apis = make_apis(opened, Shared(options, guard, metrics, note))
    served = [one for api in apis for one in api.models]
    explainer = Explainer(apis, guard, options)
    if page is None:
        page = next((api.page for api in apis if api.page), None) or plain_page(served)

    async def health(request: Request) -> Response:
        return answer_json({"status": "ok"})

    async def list_models(request: Request) -> Response:
        told = [{"name": one.name, "task": one.task, "about": one.about} for one in served]
        return answer_json(told)

    async def show_metrics(request: Request) -> Response:
        guard.check_key(request, parse_query(request.scope["query_string"]))
        return Response(metrics.render(), headers={"Content-Type": CONTENT_TYPE})

    async def openapi(request: Request) -> Response:
        return Response(description, media_type="application/json")

    text, counters = {"type": "string"}, "Counters in Prometheus' text format."
    counted = get(counters, text, "text/plain", keyed=options.keys is not None)
    own = [(api, one) for api in apis for one in api.endpoints()]
    endpoints = [
        *(one for _, one in own),
        *explainer.endpoints(),
        *page_endpoints(page),
        Endpoint("/models", list_models, get("The models.", ref("ServedModel", True))),
        Endpoint("/health", health, get("Whether the server is there.", ref("Health"))),
        Endpoint("/metrics", show_metrics, counted),
        Endpoint("/openapi.json", openapi, get("This document.", {"type": "object"})),
    ]
    if any(one.path.split("/")[:2] == options.prefix.split("/")[:2] for one in endpoints):
        raise ConfigError(
            f"prefix {options.prefix!r} begins with the name of an endpoint; choose another"
        )
    said = [one for api in apis for one in api.answers]
    sentence = " ".join(api.sentence for api in apis)
    description = to_json(describe(sentence, endpoints, said, options.prefix or "/"))

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        tidying = asyncio.create_task(_tidy(metrics))
        yield
        tidying.cancel()
        explainer.close()
        for api in apis:
            api.queues.close()

    def client_left(request: Request, error: Exception) -> Response:
        metrics.dropped.inc()
        return Response(status_code=CLIENT_LEFT)

    # Refusing early skips the CORS headers, without which a page elsewhere cannot read it.
    rooms = {one.path: api.queues.no_room for api, one in own if one.costly and not options.cors}
    paths = [one.path for one in endpoints]
    middleware = [Middleware(Shell, options=options, metrics=metrics, paths=paths, rooms=rooms)]
    if options.cors:
        middleware.append(
            Middleware(
                CORSMiddleware,
                allow_origins=list(options.cors),
                allow_methods=["GET", "POST"],
                allow_headers=["Authorization", "Content-Type"],
                max_age=3600,
            )
        )
    app = Starlette(
        routes=[one.route() for one in endpoints],
        middleware=middleware,
        exception_handlers={
            **dict.fromkeys((RequestError, HTTPException, DataError, ConfigError), _refuse),
            ClientLeft: client_left,
        },
        lifespan=lifespan,
    )
    app.router.redirect_slashes = False  # the shell removes a slash at the end
    app.state.apis = apis
    return app


def _check_own(models: Sequence[Model], options: ServeOptions) -> None:
    """Refuse an option that no task of these models has."""
    names = sorted({one.task for one in models})
    known = {
        field
        for name in names
        for field in registry.find(name).options.get("serve", Table).model_fields
    }
    for name in sorted(options.own.keys() - known):
        flag = f"--{name.replace('_', '-')}"
        raise ConfigError(f"{flag} is no option of the task {' or '.join(names)}; leave it out")


async def _tidy(metrics: ServerMetrics) -> None:
    """Give freed memory back to the system: when idle at once, under load every `TIDY` seconds.

    The allocator keeps what each thread has freed for that thread, so the process would grow.
    """
    seen, since = 0.0, 0.0
    while True:
        await asyncio.sleep(REST)
        since += REST
        answered, at_rest = total(metrics.requests), not total(metrics.under_way)
        if answered != seen and (at_rest or since >= TIDY):
            seen, since = answered, 0.0
            await asyncio.to_thread(give_memory_back)


def _refuse(request: Request | None, error: Exception) -> Response:
    """Answer with an error: ours, starlette's, or a mistake in what was asked."""
    if isinstance(error, HTTPException):
        error = RequestError(error.status_code, error.detail, error.headers)
    elif not isinstance(error, RequestError):
        error = invalid("; ".join(str(error).splitlines())[:LONGEST])
    response = answer_json({"error": error.text}, error.status)
    response.headers.update(error.headers)
    return response


class Shell:
    """Does for every request: prefix, safe headers, metrics, and a log that never holds a text."""

    def __init__(
        self,
        app: ASGIApp,
        options: ServeOptions,
        metrics: ServerMetrics,
        paths: Sequence[str],
        rooms: Mapping[str, Callable[[], RequestError | None]],
    ) -> None:
        """`rooms` has, for each costly path, what says that there is no room."""
        self._app, self._prefix, self._metrics = app, options.prefix, metrics
        self._paths, self._rooms, self._log = paths, rooms, options.access_log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; an unexpected error is a 500 and one line in the log."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.perf_counter(), 0

        async def send_safely(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = [*message["headers"], *_SAFE]
            await send(message)

        path = self._route(scope)
        name = self._endpoint(path or "/")
        under_way = self._metrics.under_way.labels(name)
        under_way.inc()
        try:
            if path is None:  # without the slash the page would load its files from one level up
                move = Response(status_code=307, headers={"Location": f"{self._prefix}/"})
                await move(scope, receive, send_safely)
            elif path in self._rooms and (refused := self._rooms[path]()):
                await _refuse(None, refused)(scope, receive, send_safely)
            else:
                await self._app(scope, receive, send_safely)
        except Exception as error:
            logger.error("%s", _where(error))
            if not status:
                wrong = answer_json({"error": "Internal server error"}, 500)
                await wrong(scope, receive, send_safely)
        finally:
            under_way.dec()
            seconds = time.perf_counter() - began
            self._metrics.requests.labels(name, str(status)).inc()
            self._metrics.seconds.labels(name).observe(seconds)
            if self._log:
                logger.info("%s %s %d %.0f ms", _method(scope), name, status, 1000 * seconds)

    def _route(self, scope: Scope) -> str | None:
        """Find the path below the prefix, whether a proxy has taken it off or not."""
        path: str = scope["path"]
        prefix = self._prefix
        if prefix and path == prefix:
            return None
        path = path.removeprefix(prefix) if path.startswith(f"{prefix}/") else path
        path = "/" + path.strip("/")
        scope["root_path"], scope["path"] = prefix, prefix + path
        return path

    def _endpoint(self, path: str) -> str:
        """Give the endpoint of a path, without the part a user chose."""
        for name in self._paths:
            start = name.partition("{")[0]
            if path == name or (start != name and path.startswith(start)):
                return name
        return "other"


def _method(scope: Scope) -> str:
    known = ("GET", "POST", "HEAD", "OPTIONS", "PUT", "DELETE", "PATCH")
    return scope["method"] if scope["method"] in known else "OTHER"


def _where(error: BaseException) -> str:
    """Give an error's type and place, but not its message, which may quote a user's text."""
    places: list[Any] = traceback.extract_tb(error.__traceback__)
    trail = " > ".join(f"{Path(place.filename).name}:{place.lineno}" for place in places[-4:])
    return f"{type(error).__name__} at {trail or 'an unknown place'}"
