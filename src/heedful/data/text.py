"""What is done to every line before anything else looks at it, and which script it is in.

`normalise` is the definition; `normalisation_rules` says the same as a table that sentencepiece
compiles into its model, so that an exported model normalises as we do. Splitting into sentences is
in `sentences.py`, reading files in `reading.py`.

NFC and never NFKC: compatibility forms carry meaning (Korean "ㅋㅋ" is written in compatibility
jamo, "x²" is not "x2"), while canonical forms are only two spellings of one text.
"""

from __future__ import annotations

import re
import sys
import unicodedata
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from itertools import product

_ZERO_WIDTH = "\u00ad\u200b\u2060\ufeff"
"""Soft hyphen, zero-width space, word joiner, byte order mark. The two joiners U+200C and U+200D
stay: Persian and the Indic scripts are spelled with them, and emoji are tied together by them."""

_SPACES = (
    "\t\n\v\f\r\x1c\x1d\x1e\x1f \x85\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006"
    "\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000▁"
)
"""What becomes an ordinary space: every Unicode space, TAB, the control characters that separate
(line feed, form feed, NEL, ...), and U+2581, which sentencepiece cannot tell from a space."""

_CONTROLS = map(chr, (*range(0x20), *range(0x7F, 0xA0)))
_VANISHING = _ZERO_WIDTH + "".join(char for char in _CONTROLS if char not in _SPACES)
_VANISH = re.compile(f"[{re.escape(_VANISHING)}]+")


def normalise(text: str) -> str:
    """Give the one spelling of a line: composed, with single ordinary spaces, nothing invisible.

    Doing it twice changes nothing. The invisible characters go first, since an accent may stand
    behind one; then letters and accents are composed; then every run of spaces becomes one.
    """
    if not text.isprintable():  # only then can there be a control, zero-width or odd space
        text = _VANISH.sub("", text)
    if not text.isascii():
        text = unicodedata.normalize("NFC", text).replace("▁", " ")
    return " ".join(text.split())


@lru_cache(maxsize=1)
def normalisation_rules() -> list[str]:
    """Give `normalise` as sentencepiece's `normalization_rule_tsv`: lines of "hex hex<TAB>hex".

    Collapsing and stripping spaces is left to sentencepiece's `remove_extra_whitespaces`.
    sentencepiece rewrites in one pass, the longest match first, so three things of `normalise`
    cannot be said in a table: accents in an unusual order on a letter for which no composed
    character has them all, an accent behind a character that vanishes, and U+0000. Text that has
    been through `normalise` is never changed by the table.
    """
    rules = {}
    for spelling in _decomposed_spellings():
        composed = unicodedata.normalize("NFC", spelling)
        if spelling != composed:
            rules[spelling] = composed
    rules.update(dict.fromkeys(_SPACES, " "))
    del rules[" "]
    rules.update(dict.fromkeys(_VANISHING, ""))
    del rules["\0"]  # ends a string inside sentencepiece
    return sorted(f"{_hex(left)}\t{_hex(right)}" for left, right in rules.items())


def _hex(text: str) -> str:
    return " ".join(f"{ord(char):X}" for char in text)


def _decomposed_spellings() -> Iterator[str]:
    """Every string that is canonically the same as one character."""
    leads, vowels = range(0x1100, 0x1113), range(0x1161, 0x1176)
    tails = [chr(code) for code in range(0x11A8, 0x11C3)]
    for lead, vowel in product(leads, vowels):
        jamo = chr(lead) + chr(vowel)
        yield jamo
        syllable = unicodedata.normalize("NFC", jamo)
        for tail in tails:
            yield jamo + tail
            yield syllable + tail

    whole: dict[str, list[str]] = {}  # a decomposition of one step, to the characters that have it
    composed = []
    for char in map(chr, range(sys.maxunicode + 1)):
        parts = unicodedata.decomposition(char)
        if parts and not parts.startswith("<"):
            whole.setdefault("".join(chr(int(part, 16)) for part in parts.split()), []).append(char)
            composed.append(char)
    for char in composed:
        yield from _equivalents(unicodedata.normalize("NFD", char), whole)


def _equivalents(decomposed: str, whole: dict[str, list[str]]) -> set[str]:
    """All spellings reached by composing any part and by swapping accents that do not interact."""
    found = {decomposed}
    queue = [decomposed]
    while queue:
        text = queue.pop()
        following = []
        for i in range(len(text)):
            for width in (1, 2):
                for char in whole.get(text[i : i + width], ()):
                    following.append(text[:i] + char + text[i + width :])
            pair = text[i : i + 2]
            classes = [unicodedata.combining(char) for char in pair]
            if len(pair) == 2 and 0 not in classes and classes[0] != classes[1]:
                following.append(text[:i] + pair[::-1] + text[i + 2 :])
        fresh = [spelling for spelling in following if spelling not in found]
        found.update(fresh)
        queue.extend(fresh)
    return found


SCRIPTS = (
    *("latin", "greek", "cyrillic", "armenian", "hebrew", "arabic", "devanagari", "bengali"),
    *("tamil", "telugu", "thai", "georgian", "ethiopic", "khmer", "hangul", "kana", "han", "other"),
)
"""The names `script_of` gives, in the order of the bits of `scripts_in`."""

_NAMED_OTHERWISE = {
    **dict.fromkeys(("FEMININE", "MASCULINE"), "latin"),  # ª and º
    **dict.fromkeys(("HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA"), "kana"),
    **dict.fromkeys(("CJK", "IDEOGRAPHIC"), "han"),
}
_FORMS = ("FULLWIDTH", "HALFWIDTH")
_WEIGHTS = [{"hangul": 2, "kana": 2, "han": 3}.get(name, 1) for name in SCRIPTS]
"""Letters a character stands for, so that "Windows를 설치한다" is not taken for English."""


class _ScriptTable(dict[str, int]):
    """The bit number of a character's script, found once for each character; -1 for no letter.

    The script is the first word of the character's name in Unicode: LATIN SMALL LETTER A.
    """

    def __missing__(self, char: str) -> int:
        category = unicodedata.category(char)
        words = unicodedata.name(char, "").split()
        first = next((word for word in words if word not in _FORMS), "")
        script = _NAMED_OTHERWISE.get(first, first.lower())
        if category[0] in "LM" and script in SCRIPTS:
            number = SCRIPTS.index(script)
        else:
            number = SCRIPTS.index("other") if category in ("Lu", "Ll", "Lt", "Lo") else -1
        self[char] = number
        return number


_SCRIPT_NUMBER = _ScriptTable()


def _letters(text: str) -> dict[int, int]:
    """Give the letters of each script, as the number of its bit and a count.

    Most lines are in one script, so which there are is asked before they are counted.
    """
    if text.isascii():
        return {_SCRIPT_NUMBER["a"]: 1} if any(map(str.isalpha, text)) else {}
    numbers = set(map(_SCRIPT_NUMBER.__getitem__, set(text))) - {-1}
    if len(numbers) < 2:
        return dict.fromkeys(numbers, 1)
    counts = Counter(map(_SCRIPT_NUMBER.__getitem__, text))
    return {number: counts[number] * _WEIGHTS[number] for number in numbers}


def script_of(text: str) -> str:
    """Name the script most of the letters are in; "none" where there are no letters.

    A Hangul or kana character counts as two letters and a Han character as three, about as much
    as they say.
    """
    letters = _letters(text)
    return SCRIPTS[max(letters, key=letters.__getitem__)] if letters else "none"


def scripts_in(text: str) -> int:
    """Give the scripts that make up a fifth or more of the letters, as bits in order of `SCRIPTS`.

    One script alone is too strict a question for a line of a corpus: a Korean sentence may name
    three American companies and still be Korean.
    """
    letters = _letters(text)
    if len(letters) == 1:
        return 1 << next(iter(letters))
    total = sum(letters.values())
    return sum(1 << number for number, count in letters.items() if 5 * count >= total)


def is_unspaced(text: str) -> bool:
    """Whether a text is in a script that puts no spaces between words."""
    return script_of(text) in ("han", "kana", "thai", "khmer")


def one_word(left: str, right: str) -> bool:
    """Whether two characters side by side are of one word; a particle behind Latin is another."""
    alike = left.isalnum() and right.isalnum() and script_of(left) == script_of(right)
    return alike and not is_unspaced(left)
