"""The page, served from memory, or a plain one that says what is served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heedful.serve.api import Model
from heedful.serve.errors import RequestError
from heedful.serve.openapi import Schema, get

__all__ = ["Page", "plain_page"]

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
PATHS: Schema = {"/": get("The page.", {"type": "string"}, "text/html")}


def plain_page(models: Sequence[Model]) -> dict[str, bytes]:
    """Make the page of models that have none: their names, and where programs are told how."""
    told = "".join(
        f"<li>{escape(' · '.join(filter(None, (one.name, one.task, one.about))))}</li>"
        for one in models
    )
    text = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Heedful</title>'
        f"<h1>Heedful</h1><p>Models that are served:</p><ul>{told}</ul>"
        '<p>For programs: <a href="openapi.json">openapi.json</a>.</p></html>'
    )
    return {INDEX: text.encode()}


class Page:
    """The endpoints of a page: its files, all of which are in memory."""

    def __init__(self, files: Mapping[str, bytes]) -> None:
        self._files = files

    def routes(self) -> list[Route]:
        """Give the endpoints with their addresses."""
        return [
            Route("/", self.index, methods=["GET"]),
            Route("/page/{name}", self.file, methods=["GET"]),
            Route("/favicon.ico", self.icon, methods=["GET"]),
        ]

    async def index(self, request: Request) -> Response:
        """GET /: the page."""
        return self._file(INDEX)

    async def file(self, request: Request) -> Response:
        """GET /page/NAME: one of its files."""
        return self._file(request.path_params["name"])

    async def icon(self, request: Request) -> Response:
        """GET /favicon.ico: browsers ask for it whatever the page says."""
        return Response(status_code=204)

    def _file(self, name: str) -> Response:
        data = self._files.get(name)
        kind = KINDS.get(PurePosixPath(name).suffix)
        if data is None or kind is None:
            raise RequestError(404, "Not Found")
        return Response(data, headers={"Cache-Control": "no-cache", "Content-Type": kind})
