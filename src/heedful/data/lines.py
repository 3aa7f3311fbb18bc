"""A file's bytes into lines of text, strictly, or one line that says why not.

Nothing is guessed silently: a file that is not in the encoding asked for is refused, and what it
seems to be in is named with the flag that reads it. Which lines form pairs is in `reading.py`.
"""

from __future__ import annotations

import codecs
import gzip
import io
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from heedful.errors import DataError

_SAMPLE = 1 << 16
_GZIP = b"\x1f\x8b"
_SHOWN = {
    "utf-8": "UTF-8",
    "utf-16": "UTF-16",
    "utf-16-le": "UTF-16 (little-endian)",
    "utf-16-be": "UTF-16 (big-endian)",
    "cp949": "CP949",
    "euc_jp": "EUC-JP",
    "cp932": "Shift-JIS",
    "gb18030": "GB18030",
    "cp1251": "Windows-1251",
    "koi8-r": "KOI8-R",
    "latin-1": "Latin-1",
    "iso8859-1": "Latin-1",
    "cp1252": "Windows-1252",
}


def open_text(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    r"""Give the lines of a plain or gzip-compressed file one by one, without their ends.

    Only \n, \r\n and \r end a line. Other characters that Unicode counts as line ends stay inside
    theirs: line n here is line n for `wc`, for an editor and for the file beside it.
    """
    codec = _codec(encoding)
    if not path.exists():
        raise DataError(
            f"{path} does not exist; expected a text, TSV or JSONL file, plain or .gz; "
            f"check the name"
        )
    if path.is_dir():
        raise DataError(
            f"{path} is a folder; expected a file with one sentence a line; name a file"
        )
    if not path.is_file():
        raise DataError(
            f"{path} is not a regular file; it must be one, since it is read more than once; "
            f"save the text in a file first"
        )
    with _told(path), _open_bytes(path) as stream:
        head = stream.read(_SAMPLE)
    if not head:
        raise DataError(f"{path} is empty; expected one sentence a line; check how it was made")
    _check_head(path, head, codec)
    return _lines(path, codec)


def count_roughly(path: Path) -> int:
    """Estimate the lines of a file from its first ones and its size, for telling progress."""
    with _told(path):
        with _open_bytes(path) as stream:
            head = stream.read(_SAMPLE)
        size = path.stat().st_size
        if _is_compressed(path):
            with path.open("rb") as raw:  # gzip ends with the size of what it holds
                raw.seek(-4, io.SEEK_END)
                size = max(size, int.from_bytes(raw.read(4), "little"))
    lines = max(1, _line_of(head, len(head)) - 1)
    return lines if len(head) < _SAMPLE else max(lines, lines * size // len(head))


def _codec(encoding: str) -> str:
    try:
        io.TextIOWrapper(io.BytesIO(), encoding)  # refuses base64 and the like, too
    except LookupError:
        raise DataError(
            f"unknown encoding {encoding!r}; expected one such as utf-8, cp949, utf-16 or latin-1; "
            f"leave --encoding out for UTF-8"
        ) from None
    return codecs.lookup(encoding).name


@contextmanager
def _told(path: Path) -> Iterator[None]:
    """Turn the ways in which reading can fail into one line about the file."""
    try:
        yield
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        reason = "it ends too early" if isinstance(error, EOFError) else "its data is damaged"
        raise DataError(
            f"{path} cannot be unpacked as gzip: {reason}; expected a whole .gz file; "
            f"fetch or compress it again"
        ) from None
    except OSError as error:
        raise DataError(
            f"{path} cannot be read ({error.strerror or error}); check its permissions"
        ) from None


def _is_compressed(path: Path) -> bool:
    with path.open("rb") as stream:
        begin = stream.read(2)
    if path.suffix.lower() == ".gz" and begin and begin != _GZIP:
        raise DataError(
            f"{path} is not gzip data although its name says so (it begins with 0x{begin.hex()}); "
            f"take .gz off the name or compress it"
        )
    return begin == _GZIP


def _open_bytes(path: Path) -> io.BufferedReader | gzip.GzipFile:
    return gzip.open(path, "rb") if _is_compressed(path) else path.open("rb")


def _check_head(path: Path, head: bytes, codec: str) -> None:
    """Refuse what would decode, but not to text: UTF-16 read as bytes, and binary files."""
    if codec.startswith(("utf-16", "utf-32")):
        return
    marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
    found = "utf-16" if marked else _unmarked_utf16(head)
    if found:
        raise DataError(
            f"{path} is not {_SHOWN.get(codec, codec)}; it looks like {_SHOWN[found]}: "
            f"add --encoding {found}"
        )
    if b"\0" in head:
        raise _nul(path, _line_of(head, head.index(b"\0")))


def _nul(path: Path, line: int) -> DataError:
    return DataError(
        f"{path} contains NUL bytes (the first in line {line}) and is binary or damaged; "
        f"expected plain text; give the text itself"
    )


def _line_of(data: bytes, position: int) -> int:
    """Count the lines as `open_text` does."""
    return 1 + len(re.findall(rb"\r\n|\n|\r", data[:position]))


def _unmarked_utf16(head: bytes) -> str | None:
    """Tell UTF-16 without a mark: read as such it is printable, with spaces or line ends in it."""
    if head.count(0) < 2:
        return None
    for name in ("utf-16-le", "utf-16-be"):
        text = head[: len(head) // 2 * 2].decode(name, "replace")
        gaps = text.count(" ") + text.count("\n")
        good = gaps + sum(char.isprintable() and char != "\ufffd" for char in text)
        if 50 * gaps > len(text) and good > 0.95 * len(text):
            return name
    return None


def _lines(path: Path, codec: str) -> Iterator[str]:
    try:
        with (
            _told(path),
            _open_bytes(path) as raw,
            io.TextIOWrapper(raw, codec, newline=None) as stream,
        ):
            for number, line in enumerate(stream, start=1):
                if "\0" in line:
                    raise _nul(path, number)
                if number == 1:
                    line = line.removeprefix("\ufeff")
                yield line.removesuffix("\n")
    except UnicodeDecodeError as error:
        raise _undecodable(path, codec, error) from None


def _undecodable(path: Path, codec: str, error: UnicodeDecodeError) -> DataError:
    """Look for the bad byte once more, with line ends counted, and for the right encoding."""
    shown = _SHOWN.get(codec, codec)
    if codec.startswith(("utf-16", "utf-32")):
        return DataError(
            f"{path} is not {shown} ({error.reason}); expected the encoding of the file; "
            f"leave --encoding out to have it recognised"
        )
    line = 1
    with _open_bytes(path) as stream:
        for data in stream:
            try:
                data.decode(codec)
            except UnicodeDecodeError as bad:
                line += _line_of(data, bad.start) - 1
                byte = data[bad.start]
                found = recognise_encoding(data + stream.read(_SAMPLE))
                break
            line += _line_of(data, len(data)) - 1
        else:  # only whole lines of an odd codec (UTF-7 and the like) come here
            return DataError(f"{path} is not {shown} ({error.reason}); give its --encoding")
    where = f"{path} is not {shown} (byte 0x{byte:02x} in line {line})"
    if found is None:
        return DataError(f"{where} and is binary or damaged; expected plain text; mend the line")
    if found == "utf-8":
        return DataError(f"{where}; it looks like UTF-8: leave --encoding out")
    return DataError(f"{where}; it looks like {_SHOWN[found]}: add --encoding {found}")


def recognise_encoding(sample: bytes) -> str | None:
    """Name the encoding that makes most sense of some lines; None where none makes text.

    The multi-byte encodings come first: a text of another kind is hardly ever valid in them with
    the right script. What is left is one of the single-byte encodings, in which any byte is valid.
    """
    sample = sample[: sample.rfind(b"\n") + 1] or sample
    controls = sum(sample.count(code) for code in range(32) if code not in b"\t\n\r\f\x1a\x1b")
    high = sum(len(run) for run in re.findall(rb"[\x80-\xff]+", sample))
    if controls > len(sample) / 100:
        return None
    # Pairs of bytes common in a double-byte encoding, which accented letters of a single-byte one
    # seldom make. For Korean they are the syllables of KS X 1001, nearly all that a text has.
    double = {"cp949": rb"[\xb0-\xc8][\xa1-\xfe]", "gb18030": rb"[\xa1-\xfe]{2}"}
    for name, pattern, share in (
        ("utf-8", "", 0.0),
        ("cp949", "[가-힣]", 0.8),
        ("euc_jp", "[ぁ-ヿ]", 0.2),
        ("cp932", "[ぁ-ヿ]", 0.2),
        ("gb18030", "[一-鿿]", 0.6),
    ):
        try:
            text = sample.decode(name)
        except UnicodeDecodeError:
            continue
        if name in double and 2 * len(re.findall(double[name], sample)) < 0.7 * high:
            continue
        wide = len(re.findall("[^\x00-\x7f]", text))
        if len(re.findall(pattern, text)) >= share * wide:
            return name
    letters = len(re.findall(rb"[A-Za-z]", sample))
    # Cyrillic: most letters are small, and the two encodings put those in other places.
    if high > letters:
        small = len(re.findall(rb"[\xe0-\xff]", sample))
        return "cp1251" if 2 * small > high else "koi8-r"
    return "cp1252" if re.search(rb"[\x80-\x9f]", sample) else "latin-1"
