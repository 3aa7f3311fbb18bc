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

__all__ = ["Upload", "parse_form", "parse_json", "parse_multipart", "parse_query", "parse_value"]

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


class _Part:
    """One part of a multipart body while it is read."""

    def __init__(self) -> None:
        self.name: str | None = None
        self.file: str | None = None
        self.data = bytearray()
        self.header = (bytearray(), bytearray())


class _Reader:
    """Collects the parts of a multipart body."""

    def __init__(self) -> None:
        self.fields: list[tuple[str, str]] = []
        self.files: dict[str, Upload] = {}
        self._part = _Part()

    def begin(self) -> None:
        """Start a part."""
        self._part = _Part()

    def header_name(self, data: bytes, start: int, end: int) -> None:
        """Take some of a header's name."""
        self._part.header[0].extend(data[start:end])

    def header_value(self, data: bytes, start: int, end: int) -> None:
        """Take some of its value."""
        self._part.header[1].extend(data[start:end])

    def header_end(self) -> None:
        """Read the names of the part from its Content-Disposition, the only header used."""
        from python_multipart.multipart import parse_options_header

        name, value = map(bytes, self._part.header)
        self._part.header = (bytearray(), bytearray())
        if name.lower() != b"content-disposition":
            return
        _, options = parse_options_header(value)
        if b"name" in options:
            self._part.name = options[b"name"].decode("utf-8")
        if b"filename" in options:
            self._part.file = options[b"filename"].decode("utf-8", "replace")

    def data(self, data: bytes, start: int, end: int) -> None:
        """Take some of the part."""
        self._part.data.extend(data[start:end])

    def end(self) -> None:
        """Close a part."""
        part = self._part
        if part.name is None:
            raise ValueError("a part has no name")
        if len(self.fields) + len(self.files) >= FIELDS:
            raise ValueError("too many parts")
        if part.file is None:
            self.fields.append((part.name, part.data.decode("utf-8")))
        elif part.name in self.files:
            raise ValueError("a file is given twice")
        else:
            self.files[part.name] = Upload(part.file, bytes(part.data))


def parse_multipart(body: bytes, content_type: str) -> tuple[Values, dict[str, Upload]]:
    """Read a multipart form: its fields and its files."""
    from python_multipart.multipart import MultipartParser, parse_options_header

    _, options = parse_options_header(content_type.encode("latin-1", "replace"))
    boundary = options.get(b"boundary", b"")
    if not 0 < len(boundary) <= 200:
        raise invalid(f"multipart form has no boundary: {clip(content_type)}")
    reader = _Reader()
    try:
        parser = MultipartParser(
            boundary,
            {
                "on_part_begin": reader.begin,
                "on_header_field": reader.header_name,
                "on_header_value": reader.header_value,
                "on_header_end": reader.header_end,
                "on_part_data": reader.data,
                "on_part_end": reader.end,
            },
        )
        parser.write(body)
        parser.finalize()
    except ValueError as error:  # from the parser, the decoding or the checks above
        raise invalid("multipart form is damaged") from error
    return _collect(reader.fields), reader.files
