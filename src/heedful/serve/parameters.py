"""What a request asks for: its body read against a limit and a deadline, its parameters checked.

Parameters may come as JSON, as a form or in the address; where a name is in both, the body counts.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Mapping
from typing import Any, TypeVar

from starlette.requests import Request

from heedful.serve.errors import (
    RequestError,
    body_too_large,
    busy,
    clip,
    invalid,
    missing,
    too_long,
    too_slow,
)
from heedful.serve.forms import (
    Upload,
    parse_form,
    parse_json,
    parse_multipart,
    parse_query,
    parse_value,
)

__all__ = ["ClientLeft", "Parameters", "accompany", "read_parameters", "to_json"]

LARGE = 32 << 10
"""Bytes above which a body is taken apart in a thread, for the others not to wait."""

Answer = TypeVar("Answer")


class ClientLeft(Exception):
    """Nobody is there any more to be answered."""


class Parameters:
    """The parameters of a request, each taken out as what it has to be."""

    def __init__(
        self, values: Mapping[str, Any], files: Mapping[str, Upload] | None = None
    ) -> None:
        self._values, self.files = values, dict(files or {})

    def text(self, name: str, default: str = "") -> str:
        """Give a parameter that is a text."""
        value = self._values.get(name)
        if value is None:
            return default
        return _text(name, value)

    def required(self, name: str) -> str:
        """Give a text that must not be empty."""
        value = self.text(name)
        if not value:
            raise missing(name)
        return value

    def texts(self, name: str, most: int) -> str | list[str]:
        """Give a text, or a list of at most so many."""
        value = self._values.get(name)
        if not isinstance(value, list):
            return self.required(name)
        if not value:
            raise missing(name)
        if len(value) > most:
            raise too_long(len(value), most)
        return [_text(name, one) for one in value]

    def number(self, name: str, default: int, most: int, least: int | None = None) -> int:
        """Give a whole number; one below `least` is as good as it where LibreTranslate says so."""
        value = self._values.get(name)
        if value is None or value == "":
            return default
        number = _number(name, value)
        if number > most:
            raise invalid(f"{name} parameter must be <= {most}")
        if least is not None and number < least:
            raise invalid(f"{name} parameter must be >= {least}")
        return number

    def numbers(self, name: str, most: int) -> list[int] | None:
        """Give a list of whole numbers, or none where it is not given; "0,2" in a form."""
        value = self._values.get(name)
        if value is None or value == "":
            return None
        if isinstance(value, str):
            value = value.split(",")
        if not isinstance(value, list):
            raise invalid(f"{name} parameter is not a list of numbers")
        if len(value) > most:
            raise too_long(len(value), most)
        found = [_number(name, one) for one in value]
        if min(found, default=0) < 0:
            raise invalid(f"{name} parameter must be >= 0")
        return found

    def flag(self, name: str, default: bool) -> bool:
        """Give a yes or no; "true" or "false" in a form."""
        value = self._values.get(name)
        if value is None or value == "":
            return default
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in ("true", "false"):
            return value.lower() == "true"
        raise invalid(f"{name} parameter is not true or false")

    def structure(self, name: str) -> object:
        """Give a JSON value, which a form holds as text; None where it is not given."""
        value = self._values.get(name)
        if isinstance(value, str):
            if not value.strip():
                return None
            try:
                value = parse_value(_text(name, value).encode())
            except RequestError as error:
                raise invalid(f"{name} parameter is not JSON") from error
        waiting = [value]
        while waiting:  # every text in it, however deep
            one = waiting.pop()
            if isinstance(one, str):
                _text(name, one)
            elif isinstance(one, dict):
                waiting += [*one, *one.values()]
            elif isinstance(one, list):
                waiting += one
        return value


def _text(name: str, value: object) -> str:
    if not isinstance(value, str):
        raise invalid(f"{name} parameter is not a text")
    if "\0" in value:
        raise invalid(f"{name} parameter holds a NUL character")
    if not value.isascii():
        try:
            value.encode("utf-8")
        except UnicodeEncodeError as error:
            raise invalid(f"{name} parameter holds half a surrogate pair") from error
    return value


def _number(name: str, value: object) -> int:
    if isinstance(value, str) and len(value) <= 20:
        text = value.strip()
        if text.isascii() and text.removeprefix("-").isdigit():
            return int(text)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, int) and not isinstance(value, bool):
        return value
    raise invalid(f"{name} parameter is not a number")


async def read_parameters(request: Request, limit: int, seconds: float) -> Parameters:
    """Read a request, as far as it is allowed to go."""
    values = parse_query(request.scope["query_string"])
    body = await _read_body(request, limit, seconds)
    if not body:
        return Parameters(values)
    header = request.headers.get("content-type", "")
    kind = header.partition(";")[0].strip().lower()
    if kind == "multipart/form-data":
        fields, files = await asyncio.to_thread(parse_multipart, body, header)
        return Parameters(values | fields, files)
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
    return Parameters(values | found)


async def _read_body(request: Request, limit: int, seconds: float) -> bytes:
    """Read a body while it is within its limit and its time."""
    length = request.headers.get("content-length", "0")
    if length.isascii() and length.isdigit() and (len(length) > 18 or int(length) > limit):
        raise body_too_large(limit)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            while True:
                message = await request.receive()
                if message["type"] == "http.disconnect":
                    raise ClientLeft
                body += message.get("body", b"")
                if len(body) > limit:
                    raise body_too_large(limit)
                if not message.get("more_body", False):
                    return bytes(body)
    except TimeoutError as error:
        raise too_slow(seconds) from error


async def accompany(request: Request, work: Awaitable[Answer], seconds: float) -> Answer:
    """Do some work while the client is there and the time is not over; otherwise stop it."""
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


def to_json(value: object) -> bytes:
    """Write JSON as LibreTranslate does: as it is spelled, not escaped."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
