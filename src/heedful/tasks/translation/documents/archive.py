"""A zip file that may be hostile: checked as a whole before any member is used.

It is read in memory and nothing is ever written to a disk. Sizes are checked as declared and again
while unpacking, so a zip bomb is refused before it fills the memory.
"""

from __future__ import annotations

import io
import re
import struct
import zipfile
import zlib
from collections.abc import Mapping

from heedful.tasks.translation.documents.document import DocumentError

MOST_MEMBERS = 2_000
"""Files in an archive."""
LARGEST_UNPACKED = 256 << 20
"""Bytes of all of them together, unpacked."""
LARGEST_PART = 32 << 20
"""Bytes of one with text in it: it is kept in memory."""
HIGHEST_RATIO = 250
"""Bytes unpacked for each byte packed, of a file above `SMALL`; text is rarely above 30."""
SMALL = 1 << 20
LONGEST_NAME = 512

_CHUNK = 1 << 16
_ENTRY = b"PK\x01\x02"
_OLE = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED = 0x1
_DAMAGED = (
    *(zipfile.BadZipFile, zipfile.LargeZipFile, zlib.error, struct.error, EOFError, OSError),
    *(RuntimeError, ValueError, LookupError, OverflowError),
)
"""What the zip reader raises for files that are not what they should be."""


class Archive:
    """A zip file that passed every check; `parts` holds the members asked for, unpacked."""

    def __init__(self, data: bytes, kind: str, wanted: re.Pattern[str]) -> None:
        self._data, self._kind = data, kind
        if data.startswith(_OLE):
            raise DocumentError(
                f"the {kind} file is protected by a password, or is of an older format; "
                f"expected a plain {kind}; save it as one without a password"
            )
        if data.count(_ENTRY) > 4 * MOST_MEMBERS:  # before the reader makes objects of them
            raise self._refuse(
                f"more than {4 * MOST_MEMBERS:,} entries", f"at most {MOST_MEMBERS:,}"
            )
        try:
            with zipfile.ZipFile(io.BytesIO(data)) as opened:
                self._check(opened.infolist())
                self.parts = self._unpack(opened, wanted)
        except _DAMAGED as error:
            raise DocumentError(
                f"the {kind} file cannot be unpacked: it is damaged, cut off or of another kind; "
                f"expected a whole {kind}; send it again"
            ) from error

    def _refuse(self, found: str, expected: str) -> DocumentError:
        return DocumentError(
            f"the {self._kind} file has {found}; expected {expected}; "
            f"it is refused as a danger to the server"
        )

    def _check(self, members: list[zipfile.ZipInfo]) -> None:
        """Refuse what the list of members already shows to be wrong."""
        if len(members) > MOST_MEMBERS:
            raise self._refuse(f"{len(members):,} entries", f"at most {MOST_MEMBERS:,}")
        if len({member.orig_filename for member in members}) < len(members):
            raise self._refuse("two entries with one name", "each name once")
        for member in members:
            self._check_name(member.orig_filename)
            if member.flag_bits & _ENCRYPTED:
                raise DocumentError(
                    f"the {self._kind} file is encrypted; expected a plain {self._kind}; "
                    f"save it without a password"
                )
            if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
                raise self._refuse(
                    f"an entry packed by method {member.compress_type}", "none but 0 and 8"
                )
            ratio = member.file_size / max(member.compress_size, 1)
            if member.file_size > SMALL and ratio > HIGHEST_RATIO:
                raise self._refuse(
                    f"an entry that unpacks to {ratio:,.0f} times its size",
                    f"at most {HIGHEST_RATIO} times",
                )
        unpacked = sum(member.file_size for member in members)
        if unpacked > LARGEST_UNPACKED:
            raise self._refuse(f"{unpacked:,} bytes unpacked", f"at most {LARGEST_UNPACKED:,}")
        if sum(member.compress_size for member in members) > len(self._data):
            raise self._refuse("entries that overlap", "each in its own place")

    def _check_name(self, name: str) -> None:
        if (
            not name
            or len(name) > LONGEST_NAME
            or name.startswith(("/", "\\"))
            or ":" in name[:3]
            or ".." in re.split(r"[/\\]", name)
            or any(ord(char) < 32 for char in name)
        ):
            raise self._refuse("an entry with a forbidden name", "names inside the file")

    def _unpack(self, opened: zipfile.ZipFile, wanted: re.Pattern[str]) -> dict[str, bytes]:
        """Unpack every member once, so that no damage is found after the translation."""
        parts: dict[str, bytes] = {}
        for member in opened.infolist():
            keep = wanted.fullmatch(member.filename) is not None
            if keep and member.file_size > LARGEST_PART:
                raise self._refuse(
                    f"a text of {member.file_size:,} bytes", f"at most {LARGEST_PART:,}"
                )
            chunks: list[bytes] = []
            size = 0
            with opened.open(member) as stream:
                while chunk := stream.read(_CHUNK):
                    size += len(chunk)
                    if size > member.file_size:
                        raise self._refuse("an entry larger than it says", "honest sizes")
                    if keep:
                        chunks.append(chunk)
            if size != member.file_size:
                raise zipfile.BadZipFile("an entry is shorter than it says")
            if keep:
                parts[member.filename] = b"".join(chunks)
        return parts

    def replace(self, parts: Mapping[str, bytes]) -> bytes:
        """Give the archive with some members' content replaced, the others as they are."""
        output = io.BytesIO()
        with (
            zipfile.ZipFile(io.BytesIO(self._data)) as opened,
            zipfile.ZipFile(output, "w") as written,
        ):
            written.comment = opened.comment
            for member in opened.infolist():
                content = parts.get(member.filename)
                if content is None:
                    content = opened.read(member)
                written.writestr(_like(member), content)
        return output.getvalue()


def _like(member: zipfile.ZipInfo) -> zipfile.ZipInfo:
    """Copy what describes a member, but not where it stood in the old file."""
    fresh = zipfile.ZipInfo(member.filename, member.date_time)
    fresh.compress_type = member.compress_type
    fresh.external_attr, fresh.internal_attr = member.external_attr, member.internal_attr
    fresh.create_system, fresh.comment = member.create_system, member.comment
    return fresh
