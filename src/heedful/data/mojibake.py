"""Text that was decoded wrongly somewhere on its way: "Ã©" for "é", "�", "ì•ˆ" for "안"."""

from __future__ import annotations

import re

# UTF-8 that was read as Windows-1252 or Latin-1 shows a letter for the first byte of a character
# ("Ã" of "Ã©", "ì" of "ì•ˆ") and symbols for the others. A single such pair can be correct text
# (German "Spaß”", French "café »", Czech "kéž…"), so the evidence has to be a pair that is hardly
# ever written, two pairs in a row, or a control character that no text has.

_FOLLOWING = "".join(
    bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0xC0)
) + "".join(map(chr, range(0x80, 0xA0)))
_LETTERS = "ŠŒŽšœžŸ"
_GAPS = "\u00a0\u00ad"
_INNOCENT = _LETTERS + _GAPS + "…’‘”“»›«‹–—•™©®°²³¹ªº·´§†€£"


def _one_of(chars: str, but: str = "") -> str:
    return "[" + re.escape("".join(char for char in chars if char not in but)) + "]"


_ANY, _ODD = _one_of(_FOLLOWING), _one_of(_FOLLOWING, but=_INNOCENT)
_search = re.compile(
    "|".join(
        [
            "[\ufffd\x80-\x84\x86-\x9f]",
            f"[ÂÃ]{_one_of(_FOLLOWING, but='…’‘”“–—')}",
            f"[ÄÅ](?:{_ODD}|[°±²³·¹º™©®§][a-zà-ÿ])",
            f"(?:[Ã-ß]{_one_of(_FOLLOWING, but=_LETTERS)}){{2}}",
            f"[à-ï](?:{_ODD}{_ANY}|{_ANY}{_ODD}|{_ANY}{_ANY}[à-ï]{_ANY}{_ANY})",
            f"[à-ï]{_one_of(_FOLLOWING, but=_LETTERS + _GAPS)}"
            f"{_one_of(_FOLLOWING, but=_LETTERS + _GAPS + '–—')}[a-zà-ÿ]",
            "â€",
            "ðŸ",
        ]
    )
).search


def broken(text: str) -> bool:
    """Whether a text was decoded wrongly.

    Normalising removes a part of the evidence, so ask before it where possible.
    """
    return not text.isascii() and _search(text) is not None
