"""Checks every request that costs something: its API key, its client's share, its limits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, TypeVar

from starlette.requests import Request

from heedful.serve.errors import RequestError
from heedful.serve.options import ServeOptions
from heedful.serve.parameters import accompany, read_parameters
from heedful.serve.requests import Keyed, check

Given = TypeVar("Given")
Asked = TypeVar("Asked", bound=Keyed)


class RequestGuard:
    """Reads and checks requests before their work begins."""

    def __init__(self, options: ServeOptions) -> None:
        self._options = options
        self._clients: Counter[str] = Counter()

    async def admit(
        self,
        request: Request,
        model: type[Asked],
        work: Callable[[Asked], Awaitable[Given]],
        limit: int | None = None,
        seconds: float | None = None,
    ) -> Given:
        """Read and check a request, then do its work until the client leaves or time is over.

        `limit` (bytes) and `seconds` are those of the options where none are given.
        """
        options = self._options
        with self._counted(request):
            found = await read_parameters(
                request, limit or options.body_limit, options.body_timeout
            )
            self.check_key(request, found)
            asked = check(model, found)
            return await accompany(request, work(asked), seconds or options.timeout)

    def check_key(self, request: Request, parameters: Mapping[str, Any]) -> None:
        """Refuse a request without a valid key, which is a parameter or a bearer token."""
        keys, given = self._options.keys, check(Keyed, parameters).api_key
        if keys is None:
            return
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if not given and scheme.lower() == "bearer":
            given = token.strip()
        if not given:
            raise RequestError(400, "Please contact the server operator to get an API key")
        if not keys.know(given):
            raise RequestError(403, "Invalid API key")

    @contextmanager
    def _counted(self, request: Request) -> Iterator[None]:
        limit = self._options.client_limit
        if not limit:
            yield
            return
        address = request.client.host if request.client else ""
        if self._clients[address] >= limit:
            raise RequestError(429, f"Slowdown: {limit} requests at once", {"Retry-After": "1"})
        self._clients[address] += 1
        try:
            yield
        finally:
            self._clients[address] -= 1
            if not self._clients[address]:
                del self._clients[address]
