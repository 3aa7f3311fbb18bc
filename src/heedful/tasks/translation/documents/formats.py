"""Files to translate: which formats there are, and pages of HTML.

A file's name is used for its ending only. Text files are in `document.py`, subtitles in
`subtitles.py`, word processors' files in `office.py`; what is refused is a `DocumentError`.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from heedful.tasks.translation.documents.document import (
    Document,
    DocumentError,
    TextFile,
    read_text,
)
from heedful.tasks.translation.documents.markup import Markup
from heedful.tasks.translation.documents.office import OpenText, Word
from heedful.tasks.translation.documents.projection import Align
from heedful.tasks.translation.documents.subtitles import SubRip, WebVtt

__all__ = ["SUPPORTED", "Document", "DocumentError", "Page", "open_document"]

_CHARSET = re.compile(
    rb"<meta[^<>]{0,200}?charset\s{0,8}=\s{0,8}[\"']?\s{0,8}([\w.:-]{2,40})", re.I
)
_CODECS = {
    **dict.fromkeys(("euc-kr", "ks_c_5601-1987", "ksc5601", "windows-949", "cp949"), "cp949"),
    **dict.fromkeys(("shift_jis", "shift-jis", "sjis", "windows-31j"), "cp932"),
    **dict.fromkeys(("gb2312", "gbk", "gb18030"), "gb18030"),
    **dict.fromkeys(("iso-8859-1", "latin1", "us-ascii", "ascii", "windows-1252"), "cp1252"),
    **{name: name for name in ("euc-jp", "big5", "koi8-r", "koi8-u")},
    **{f"iso-8859-{n}": f"iso-8859-{n}" for n in (2, 3, 4, 5, 6, 7, 8, 10, 13, 14, 15, 16)},
    **{f"windows-125{n}": f"cp125{n}" for n in (0, 1, 3, 4, 5, 6, 7, 8)},
}
"""Names of encodings in pages, to the encoding browsers take for each; all others are UTF-8."""


class Page(Document):
    """An .html file, written in the encoding it names; other characters become references."""

    extension = ".html"

    def __init__(self, data: bytes) -> None:
        super().__init__()
        content, self._codec, self._mark = _read_page(data)
        self._markup = Markup(content)
        self.texts = self._markup.texts

    def _write(self, translations: list[str], align: Align | None) -> bytes:
        page = self._markup.rebuild(translations, align)
        return self._mark + page.encode(self._codec, "xmlcharrefreplace")


def _read_page(data: bytes) -> tuple[str, str, bytes]:
    """Give the text of a page, its encoding and its byte order mark."""
    named = _CHARSET.search(data[:4096])
    name = named[1].decode("ascii", "replace").lower() if named else ""
    if data.isascii():  # references are ASCII, so any encoding the browser takes will do
        return data.decode("ascii"), "utf-8" if name == "utf-8" else "ascii", b""
    try:
        return data.decode(_CODECS[name]), _CODECS[name], b""
    except (KeyError, UnicodeDecodeError):  # UTF-8, or not what it says
        text, encoding = read_text(data)
        return text, encoding.read, encoding.mark


_KINDS: dict[str, Callable[[bytes], Document]] = {
    ".txt": TextFile,
    ".srt": SubRip,
    ".vtt": WebVtt,
    ".html": Page,
    ".htm": Page,
    ".docx": Word,
    ".odt": OpenText,
}
LARGEST_FILE = 64 << 20
"""Bytes of a file; a server may allow less."""
SUPPORTED: tuple[str, ...] = tuple(_KINDS)
"""The endings of files that can be translated."""


def open_document(name: str, data: bytes) -> Document:
    """Take a file apart; of its name only the ending is looked at."""
    match = re.search(r"\.[A-Za-z0-9]{1,8}\Z", name)
    ending = match[0].lower() if match else ""
    if ending not in _KINDS:
        raise DocumentError(
            f"files with the ending {ending or 'none'!r} cannot be translated; "
            f"expected one of {', '.join(SUPPORTED)}; save it as one of them"
        )
    if len(data) > LARGEST_FILE:
        raise DocumentError(
            f"the file has {len(data):,} bytes; expected at most {LARGEST_FILE:,}; send it in parts"
        )
    return _KINDS[ending](data)
