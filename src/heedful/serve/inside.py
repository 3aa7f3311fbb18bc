"""The endpoints of the page: its files, and the traces it shows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heedful.serve.errors import RequestError, invalid
from heedful.serve.guard import RequestGuard
from heedful.serve.options import ServeOptions
from heedful.serve.requests import Explain, limited
from heedful.serve.translation import Service

__all__ = ["Inside"]

KINDS = {
    ".css": "text/css; charset=utf-8",
    ".html": "text/html; charset=utf-8",
    ".ico": "image/x-icon",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
    ".png": "image/png",
    ".svg": "image/svg+xml",
    ".woff2": "font/woff2",
}
INDEX = "index.html"


class Inside:
    """The endpoints of the page."""

    def __init__(
        self,
        service: Service,
        guard: RequestGuard,
        options: ServeOptions,
        page: Mapping[str, bytes],
    ) -> None:
        self._service, self._guard, self._options, self._page = service, guard, options, page
        self._model = limited(Explain, options)

    def routes(self) -> list[Route]:
        """Give the endpoints with their addresses."""
        return [
            Route("/explain", self.explain, methods=["POST"]),
            Route("/", self.index, methods=["GET"]),
            Route("/page/{name}", self.file, methods=["GET"]),
            Route("/favicon.ico", self.icon, methods=["GET"]),
        ]

    async def explain(self, request: Request) -> Response:
        """POST /explain: what happened inside while a text was translated."""
        return await self._guard.admit(request, self._model, self._explain)

    async def _explain(self, asked: Explain) -> Response:
        directions = self._service.directions
        source, target = directions.language(asked.source), directions.language(asked.target)
        way = directions.way(source, target)
        if len(way) != 1:
            raise invalid(f"no model translates {source} to {target} by itself")
        options = asked.model_dump(include={"translation", "layers", "heads", "decimals", "values"})
        found = await self._service.explain(way[0], asked.q, options)
        return Response(found, 200, {"Cache-Control": "no-store"}, media_type="application/json")

    async def index(self, request: Request) -> Response:
        """GET /: the page."""
        return self._file(INDEX)

    async def file(self, request: Request) -> Response:
        """GET /page/NAME: one of its files, all of which are in memory."""
        return self._file(request.path_params["name"])

    async def icon(self, request: Request) -> Response:
        """GET /favicon.ico: browsers ask for it whatever the page says."""
        return Response(status_code=204)

    def _file(self, name: str) -> Response:
        data = self._page.get(name)
        kind = KINDS.get(PurePosixPath(name).suffix)
        if data is None or kind is None:
            raise RequestError(404, "Not Found")
        return Response(data, headers={"Cache-Control": "no-cache", "Content-Type": kind})
