"""What every document is, and the plainest kind: a text file, line by line.

The encoding is found as for training: UTF-8, UTF-16 with a mark, else what `data/lines.py`
recognises, such as CP949. What is written is UTF-16 where that was read and UTF-8 otherwise, since
an older encoding has no letters for most other languages.
"""

from __future__ import annotations

import codecs
import re
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

from heedful.data.lines import recognise_encoding
from heedful.errors import DataError
from heedful.tasks.translation.documents.projection import Align

LINE_BREAK = re.compile(r"(\r\n|\r|\n)")
"""Splits a text into lines and what ends them, by turns."""

_SAMPLE = 1 << 16
_MARKS = (
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)


class DocumentError(DataError):
    """A file is damaged, dangerous, or of a kind that cannot be translated."""


class Document(ABC):
    """A file taken apart into texts, which puts itself together again around their translations."""

    extension: ClassVar[str]

    def __init__(self) -> None:
        self.texts: list[str] = []
        """What is to be translated, in the order of the file."""

    def rebuild(self, translations: Sequence[str], align: Align | None = None) -> bytes:
        """Give the file with a translation for each of its `texts`, all else as it was.

        `align` says which words of a text became which, for formatting within a text.
        """
        if len(translations) != len(self.texts):
            raise ValueError(f"{len(translations)} translations of {len(self.texts)} texts")
        lines = [re.sub(r"[\r\n]+", " ", text).strip() for text in translations]
        return self._write(lines, align)

    @abstractmethod
    def _write(self, translations: list[str], align: Align | None) -> bytes: ...


def has_letters(text: str) -> bool:
    """Whether there is anything to translate: numbers and signs stay as they are."""
    return any(map(str.isalpha, text))


def strip_spaces(text: str) -> tuple[str, str, str]:
    """Give the spaces before a text, the text without them, and those behind it."""
    body = text.lstrip()
    before = text[: len(text) - len(body)]
    bare = body.rstrip()
    return before, bare, body[len(bare) :]


@dataclass(frozen=True)
class Encoding:
    """How the text of a file is written as bytes."""

    name: str = "utf-8"
    mark: bytes = b""
    """The byte order mark before it."""
    read: str = "utf-8"
    """The encoding it was read in, where that is not to be written."""

    def encode(self, text: str) -> bytes:
        """Give the bytes of a file with this text."""
        return self.mark + text.encode(self.name, "replace")


def read_text(data: bytes) -> tuple[str, Encoding]:
    """Give the text of a file, and the encoding in which it is to be written again."""
    mark, name = next((one for one in _MARKS if data.startswith(one[0])), (b"", "utf-8"))
    body, read = data[len(mark) :], name
    try:
        text = body.decode(read)
    except UnicodeDecodeError as error:
        if not mark:
            begin = body.rfind(b"\n", 0, error.start) + 1
            read = recognise_encoding(body[begin : begin + _SAMPLE]) or read
        text = _decode(body, read)
    if "\0" in text:
        raise DocumentError(
            "the file contains NUL characters and is binary, or UTF-16 without a mark; "
            "expected text; save it as UTF-8"
        )
    return text, Encoding(name, mark, read)


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode(name)
    except UnicodeDecodeError as error:
        raise DocumentError(
            f"the file is not text in {name.upper()} (byte 0x{data[error.start]:02x} at "
            f"{error.start:,}) nor in any encoding known here; save it as UTF-8"
        ) from None


class TextFile(Document):
    """Plain text: every line is a text, line ends and blank lines stay."""

    extension = ".txt"

    def __init__(self, data: bytes) -> None:
        super().__init__()
        content, self._encoding = read_text(data)
        self._parts: list[str | None] = []  # None where a translation goes
        for part in LINE_BREAK.split(content):
            if has_letters(part):
                before, text, behind = strip_spaces(part)
                self._parts += [before, None, behind]
                self.texts.append(text)
            else:
                self._parts.append(part)

    def _write(self, translations: list[str], align: Align | None) -> bytes:
        rest = iter(translations)
        return self._encoding.encode(
            "".join(next(rest) if part is None else part for part in self._parts)
        )
