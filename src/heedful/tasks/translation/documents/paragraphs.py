"""The text in the XML of word processors, with the bytes where it stands.

Only characters of text are ever replaced, so whatever else stands there stays byte for byte. A
document type or an entity declaration is refused before anything can be expanded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape
from typing import Any
from xml.parsers import expat

from heedful.tasks.translation.documents.document import DocumentError

_WORD = (
    "http://schemas.openxmlformats.org/wordprocessingml/2006/main",
    "http://purl.oclc.org/ooxml/wordprocessingml/main",
)
_TEXT = ("urn:oasis:names:tc:opendocument:xmlns:text:1.0",)
_PRESERVE = "http://www.w3.org/XML/1998/namespace space"
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class Dialect:
    """What the elements of one kind of XML mean; names are of its own namespaces."""

    namespaces: tuple[str, ...]
    paragraphs: frozenset[str]
    texts: frozenset[str]
    """Elements whose characters are text."""
    breaks: frozenset[str]
    """What separates texts within a paragraph: tabs and line breaks."""
    transparent: frozenset[str]
    """What may stand inside a run or between two without separating them."""
    formatting: str
    """The element that holds the formatting of the one it is in; nothing in OpenDocument."""


DOCX = Dialect(
    _WORD,
    frozenset({"p"}),
    frozenset({"t"}),
    frozenset({"tab", "br", "cr", "ptab"}),
    frozenset(
        {"r", "t", "rPr", "proofErr", "bookmarkStart", "bookmarkEnd", "lastRenderedPageBreak"}
    ),
    "rPr",
)
ODT = Dialect(
    _TEXT,
    frozenset({"p", "h"}),
    frozenset({"p", "h", "span", "a"}),
    frozenset({"tab", "line-break"}),
    frozenset({"span", "a", "soft-page-break", "bookmark", "bookmark-start", "bookmark-end"}),
    "",
)


@dataclass
class Slot:
    """A stretch of characters: where its bytes are and what it is formatted like."""

    start: int
    end: int
    text: str
    format: object
    group: int
    """Neighbours of one format and one group are one run to the reader."""
    tag: int = -1
    """Where the start tag before it begins, if spaces need to be protected there."""


class Part:
    """One XML file: its texts, each a list of slots."""

    def __init__(self, data: bytes, dialect: Dialect, kind: str) -> None:
        self._data, self._dialect, self._kind = data, dialect, kind
        self.segments: list[list[Slot]] = []
        self._paragraphs: list[list[Slot]] = []
        self._elements: list[tuple[str, int]] = []  # our names of the open ones ("" for foreign)
        self._count = 0
        self._group = 0
        self._slot: Slot | None = None
        self._read: list[str] = []
        self._cdata = False
        self._formatting: list[object] = []
        self._in_formatting = 0
        self._unprotected = -1
        if data.startswith((b"\xff\xfe", b"\xfe\xff")):
            raise self._encoded("UTF-16")
        parser = self._parser = expat.ParserCreate(namespace_separator=" ")
        parser.buffer_text = False
        parser.XmlDeclHandler = self._declared
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._doctype
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._characters
        parser.StartCdataSectionHandler = self._start_cdata
        parser.EndCdataSectionHandler = self._end_cdata
        parser.CommentHandler = lambda _: self._end_slot()
        parser.ProcessingInstructionHandler = lambda *_: self._end_slot()
        try:
            parser.Parse(data, True)
        except expat.ExpatError as error:
            raise DocumentError(
                f"the {kind} file has XML that cannot be read (line {error.lineno}: "
                f"{expat.ErrorString(error.code)}); expected a whole {kind}; save it again"
            ) from None

    def _encoded(self, name: str) -> DocumentError:
        return DocumentError(
            f"the {self._kind} file has XML in {name}; expected UTF-8; save it again"
        )

    def _declared(self, version: str, encoding: str | None, standalone: int) -> None:
        if encoding is not None and encoding.lower() not in ("utf-8", "us-ascii"):
            raise self._encoded(encoding[:20])

    def _doctype(self, *_: Any) -> None:
        raise DocumentError(
            f"the {self._kind} file declares XML entities; expected none; "
            f"it is refused as a danger to the server"
        )

    def _name(self, name: str) -> str:
        namespace, _, local = name.rpartition(" ")
        return local if namespace in self._dialect.namespaces else ""

    def _start(self, full: str, attributes: dict[str, str]) -> None:
        self._end_slot()
        name, dialect = self._name(full), self._dialect
        self._count += 1
        self._elements.append((name, self._count))
        if self._in_formatting or (name and name == dialect.formatting):
            self._in_formatting += 1
            self._formatting.append((full, tuple(sorted(attributes.items()))))
        elif name in dialect.paragraphs:
            self._paragraphs.append([])
            self._group += 1
        elif name in dialect.breaks:
            self._break()
        elif name == "r" and dialect.formatting:
            self._formatting = []
        elif name not in dialect.transparent:
            self._group += 1
        if name == "t" and dialect.formatting and attributes.get(_PRESERVE) != "preserve":
            self._unprotected = self._parser.CurrentByteIndex

    def _end(self, full: str) -> None:
        self._end_slot()
        name, _ = self._elements.pop()
        if self._in_formatting:
            self._in_formatting -= 1
        elif name in self._dialect.paragraphs and self._paragraphs:
            self._break()
            self._paragraphs.pop()
            self._group += 1
        elif name not in self._dialect.transparent:
            self._group += 1

    def _break(self) -> None:
        """End a text; the next slot begins another one."""
        if self._paragraphs and self._paragraphs[-1]:
            self.segments.append(self._paragraphs[-1])
            self._paragraphs[-1] = []

    def _start_cdata(self) -> None:
        self._end_slot()
        self._cdata = True

    def _end_cdata(self) -> None:
        self._cdata = False
        self._group += 1

    def _characters(self, text: str) -> None:
        name, _ = self._elements[-1]
        if name not in self._dialect.texts or not self._paragraphs or self._cdata:
            return
        if self._slot is None:
            start = self._parser.CurrentByteIndex
            self._slot = Slot(start, start, "", self._format(), self._group, self._unprotected)
        self._read.append(text)

    def _format(self) -> object:
        """Give the formatting of a slot, and the element (a link, say) its run is in."""
        if not self._dialect.formatting:
            return self._elements[-1][1]
        holder = self._elements[-3][1] if len(self._elements) > 2 else 0
        return holder, tuple(self._formatting)

    def _end_slot(self) -> None:
        self._unprotected = -1
        if self._slot is not None:
            self._slot.end = self._parser.CurrentByteIndex
            self._slot.text = "".join(self._read)
            self._paragraphs[-1].append(self._slot)
            self._slot, self._read = None, []

    def patch(self, texts: Mapping[int, str]) -> bytes:
        """Give the XML with new text in some slots, told by where they start."""
        slots = {slot.start: slot for segment in self.segments for slot in segment}
        parts, done = [], 0
        for start in sorted(texts):
            slot, text = slots[start], texts[start]
            written = escape(_FORBIDDEN.sub("", text), quote=False)
            if slot.tag >= 0 and text != text.strip():
                parts += [self._data[done : start - 1], b' xml:space="preserve">']
            else:
                parts.append(self._data[done:start])
            parts.append(written.encode("utf-8", "replace"))
            done = slot.end
        return b"".join([*parts, self._data[done:]])
