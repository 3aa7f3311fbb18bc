"""The bodies of requests, read strictly: JSON, URL-encoded and multipart forms.

Everything stays in memory and nothing is guessed: invalid UTF-8, a key given twice, nesting too
deep or a number of a million digits is an error of the client, told in one line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any, NoReturn
from urllib.parse import parse_qsl

from heedful.serve.errors import RequestError, clip, invalid

FIELDS = 1_024
"""Fields of a form, at most."""

Values = dict[str, Any]


@dataclass(frozen=True)
class Upload:
    """A file of a form; its name is the client's and never used as a path."""

    name: str
    data: bytes


def parse_json(body: bytes) -> Values:
    """Read a JSON object."""
    value = parse_value(body)
    if not isinstance(value, dict):
        raise RequestError(400, "Invalid JSON format")
    return value


def parse_value(body: bytes) -> Any:
    """Read any JSON value."""
    try:
        return json.loads(
            body.decode("utf-8"), object_pairs_hook=_pairs, parse_constant=_no_constant
        )
    except (ValueError, RecursionError) as error:
        # Bad JSON, bad UTF-8, a number too long or nesting too deep.
        raise RequestError(400, "Invalid JSON format") from error


def _pairs(pairs: list[tuple[str, Any]]) -> Values:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key is given twice")
    return found


def _no_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")


def parse_query(query: bytes) -> Values:
    """Read the part of an address behind the question mark."""
    return parse_form(query, "query")


def parse_form(body: bytes, what: str = "form") -> Values:
    """Read a URL-encoded form; a name given several times is a list of its values."""
    try:
        pairs = parse_qsl(
            body.decode("utf-8"),  # characters that are not escaped are allowed
            keep_blank_values=True,
            encoding="utf-8",
            errors="strict",
            max_num_fields=FIELDS,
        )
    except ValueError as error:
        raise invalid(f"{what} is not URL-encoded UTF-8 of at most {FIELDS} fields") from error
    return _collect(pairs)


def _collect(pairs: list[tuple[str, str]]) -> Values:
    found: Values = {}
    for name, value in pairs:
        value = value.replace("\r\n", "\n")  # forms send line breaks as CRLF
        if name not in found:
            found[name] = value
        elif isinstance(found[name], list):
            found[name].append(value)
        else:
            found[name] = [found[name], value]
    return found


def parse_multipart(body: bytes, content_type: str) -> tuple[Values, dict[str, Upload]]:
    """Read a multipart form: its fields and its files."""
    from python_multipart.multipart import Field, File, FormParser, parse_options_header

    _, options = parse_options_header(content_type.encode("latin-1", "replace"))
    boundary = options.get(b"boundary", b"")
    if not 0 < len(boundary) <= 200:
        raise invalid(f"multipart form has no boundary: {clip(content_type)}")
    fields: list[tuple[str, str]] = []
    files: dict[str, Upload] = {}

    def room() -> None:
        if len(fields) + len(files) >= FIELDS:
            raise ValueError("too many parts")

    def on_field(field: Field) -> None:
        room()
        fields.append(((field.field_name or b"").decode(), (field.value or b"").decode()))

    def on_file(file: File) -> None:
        room()
        name = (file.field_name or b"").decode()
        if name in files:
            raise ValueError("a file is given twice")
        file.file_object.seek(0)
        data = file.file_object.read()
        files[name] = Upload((file.file_name or b"").decode("utf-8", "replace"), data)

    try:
        # All of the body fits into memory, so nothing of it is written to a disk.
        in_memory = {"MAX_MEMORY_FILE_SIZE": len(body) + 1, "UPLOAD_ERROR_ON_BAD_CTE": True}
        parser = FormParser(
            "multipart/form-data", on_field, on_file, boundary=boundary, config=in_memory
        )
        parser.write(body)
        parser.finalize()
    except ValueError as error:  # from the parser, the decoding or the checks above
        raise invalid("multipart form is damaged") from error
    return _collect(fields), files
