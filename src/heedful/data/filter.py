"""What is said of one pair alone: broken characters, and whether to train on it.

`examine` in `doctor.py` judges a whole corpus by the same rules, from numbers; a test holds the two
together.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from heedful.data.findings import Kind, Report
from heedful.data.text import normalise, scripts_in
from heedful.settings import DataSettings

__all__ = ["SLACK", "Filter", "broken", "search_broken"]

SLACK = 3.0
"""Characters added to both lengths before they are compared: short lines vary more."""

# UTF-8 that was read as Windows-1252 or Latin-1 shows a letter for the first byte of a character
# ("Ã" of "Ã©", "ì" of "ì•ˆ") and symbols for the others. A single such pair can be innocent (German
# "Spaß”", French "café »", Czech "kéž…"), so what is believed is a pair hardly anybody writes, a
# run of two, or a control character that no text has.

_FOLLOWING = "".join(
    bytes([byte]).decode("cp1252", "ignore") or chr(byte) for byte in range(0x80, 0xC0)
) + "".join(map(chr, range(0x80, 0xA0)))
_LETTERS = "ŠŒŽšœžŸ"
_GAPS = "\u00a0\u00ad"
_INNOCENT = _LETTERS + _GAPS + "…’‘”“»›«‹–—•™©®°²³¹ªº·´§†€£"


def _one_of(chars: str, but: str = "") -> str:
    return "[" + re.escape("".join(char for char in chars if char not in but)) + "]"


_ANY, _ODD = _one_of(_FOLLOWING), _one_of(_FOLLOWING, but=_INNOCENT)
search_broken = re.compile(
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
"""Find what `broken` tells; of lines that are not ASCII."""


def broken(text: str) -> bool:
    """Tell text that was decoded wrongly somewhere on its way: "Ã©" for "é", "�", "ì•ˆ" for "안".

    A part of the evidence goes when text is normalised; ask before that where possible.
    """
    return not text.isascii() and search_broken(text) is not None


@dataclass(frozen=True)
class Filter:
    """Says of a pair, seen alone, whether to train on it."""

    settings: DataSettings
    ratio: float = 1.0
    """Characters of the source for each of the target, in the middle of the corpus."""
    source_scripts: int = 0
    """Scripts of the side as bits in order of `SCRIPTS`; 0 allows all."""
    target_scripts: int = 0

    @classmethod
    def of(cls, report: Report, settings: DataSettings) -> Filter:
        """Judge as `examine` judged, repetitions and leaks apart: those need the other pairs."""
        return cls(settings, report.ratio, report.source_scripts, report.target_scripts)

    def __call__(self, source: str, target: str) -> Kind | None:
        """Give None to keep the pair, or why it is dropped; as it was read, or normalised."""
        longest = self.settings.max_characters
        if len(source) > longest or len(target) > longest:
            return "over-long"
        spoilt = broken(source) or broken(target)
        source, target = normalise(source), normalise(target)
        if not source or not target:
            return "empty-side"
        if spoilt:
            return "broken-characters"
        if source == target and self.settings.drop_equal:
            return "equal-sides"
        if self.settings.drop_wrong_script and (
            _is_foreign(scripts_in(source), self.source_scripts)
            or _is_foreign(scripts_in(target), self.target_scripts)
        ):
            return "wrong-script"
        ours = len(source) + SLACK
        theirs = len(target) * self.ratio + SLACK
        if max(ours, theirs) > self.settings.max_ratio * min(ours, theirs):
            return "length-ratio"
        return None


def _is_foreign(scripts: int, own: int) -> bool:
    return scripts != 0 and own != 0 and scripts & own == 0
