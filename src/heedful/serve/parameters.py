"""The parameters of a request: its body is read against a limit and a deadline, and parsed.

They may come as JSON, as a form or in the address; where a name is in both, the body counts. What
they may be is in `requests.py`.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import Any, TypeVar

from starlette.requests import Request

from heedful.serve.errors import RequestError, busy, clip
from heedful.serve.forms import parse_form, parse_json, parse_multipart, parse_query

LARGE = 32 << 10
"""Bytes above which a body is parsed in a thread, so that it does not hold up other requests."""

Answer = TypeVar("Answer")


class ClientLeft(Exception):
    """The client closed the connection before the answer."""


async def read_parameters(request: Request, limit: int, seconds: float) -> dict[str, Any]:
    """Read and parse a request within its limit of bytes and its deadline."""
    values = parse_query(request.scope["query_string"])
    body = await _read_body(request, limit, seconds)
    if not body:
        return values
    header = request.headers.get("content-type", "")
    kind = header.partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        fields, files = await asyncio.to_thread(parse_multipart, body, header)
        return values | fields | files
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        parse = parse_json
    elif kind == "application/x-www-form-urlencoded":
        parse = parse_form
    else:
        raise RequestError(
            415,
            f"Invalid request: content type {clip(kind) or '(none)'} is not supported; expected "
            f"application/json, application/x-www-form-urlencoded or multipart/form-data",
        )
    found = parse(body) if len(body) <= LARGE else await asyncio.to_thread(parse, body)
    return values | found


async def _read_body(request: Request, limit: int, seconds: float) -> bytes:
    """Read a body within its limit of bytes and its deadline."""
    too_large = RequestError(413, f"Invalid request: body exceeds limit ({limit} bytes)")
    length = request.headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > limit):
        raise too_large
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientLeft
                body += message.get("body", b"")
                if len(body) > limit:
                    raise too_large
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError as error:
        text = f"Invalid request: body did not arrive within {seconds:g} seconds"
        # The connection is closed, since the rest of the body may still come.
        raise RequestError(408, text, {"Connection": "close"}) from error


async def accompany(request: Request, work: Awaitable[Answer], seconds: float) -> Answer:
    """Do some work; cancel it when the client leaves or the time is over."""
    task = asyncio.ensure_future(work)
    leaving = asyncio.ensure_future(_client_leaves(request))
    try:
        await asyncio.wait({task, leaving}, timeout=seconds, return_when="FIRST_COMPLETED")
        if task.done():
            return task.result()
        if leaving.done():
            raise ClientLeft
        raise busy(1, f"the request took longer than {seconds:g} s")
    finally:
        for one in (task, leaving):
            one.cancel()
        await asyncio.gather(task, leaving, return_exceptions=True)


async def _client_leaves(request: Request) -> None:
    while (await request.receive())["type"] != "http.disconnect":
        pass
