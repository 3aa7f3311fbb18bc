"""The page, served from memory, or a plain one that says what is served."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from html import escape
from pathlib import PurePosixPath

from starlette.requests import Request
from starlette.responses import Response

from heedful.serve.api import Model
from heedful.serve.errors import RequestError
from heedful.serve.openapi import Endpoint, get

KINDS = {".css": "text/css", ".html": "text/html", ".js": "text/javascript"}
INDEX = "index.html"


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


def page_endpoints(files: Mapping[str, bytes]) -> list[Endpoint]:
    """Give the endpoints of a page, all of whose files are in memory."""

    def read(name: str) -> Response:
        kind = KINDS.get(PurePosixPath(name).suffix)
        if name not in files or kind is None:
            raise RequestError(404, "Not Found")
        return Response(files[name], headers={"Cache-Control": "no-cache"}, media_type=kind)

    async def index(request: Request) -> Response:
        return read(INDEX)

    async def file(request: Request) -> Response:
        return read(request.path_params["name"])

    async def icon(request: Request) -> Response:  # browsers ask for it whatever the page says
        return Response(status_code=204)

    page = get("The page.", {"type": "string"}, "text/html")
    return [
        Endpoint("/", index, page),
        Endpoint("/page/{name}", file, page, hidden=True),
        Endpoint("/favicon.ico", icon, page, hidden=True),
    ]
