"""Long lines into sentences, and over-long sentences into parts.

A model learns from sentences, so a long line is translated sentence by sentence and joined again.
A wrong cut costs more than a missing one (half a sentence is translated without the other half),
so whatever may be an abbreviation is not cut; `chop` takes care of what is too long then.
Nothing here knows tokens: `chop` is told how to measure.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

_WIDE = "。！？｡"
_CLOSERS = "\"'”’»›)\\]}」』】）〉》〕］｝"
_BOUNDARY = re.compile(
    rf"(?P<mark>[.!?…‼⁇⁈⁉؟۔।॥։።។။{_WIDE}]+)"
    rf"(?P<close>(?:[{_CLOSERS}]"
    rf"|(?<![{_WIDE}])[“«‹]"  # these close in German; behind a Chinese mark they open
    r"|[ \u00a0\u202f]»(?!\w))*)"  # French puts a space before its »
    r"(?P<space>\s*)"
    r"|\n[^\S\n]*\n\s*"  # an empty line ends a sentence, whatever stands before it
)
_KOREAN_ENDINGS = "다요까죠네군음함임됨"
"""Last syllables of a Korean sentence. Without a space behind the full stop only these count:
"한.미 정상" is no end."""
_OPENERS = "\"'“”„‚‘«»‹›([{¿¡「『【（〈《"
_LONGEST_WORD = 24
"""Characters looked back for an abbreviation, so that a line without spaces costs no more."""

_ABBREVIATIONS = {
    "en": "mr mrs ms messrs dr prof st rev hon gen col maj capt cmdr lt sgt gov sen rep pres vs cf "
    "viz approx mt e.g i.e",
    "de": "bzw ca vgl ggf evtl inkl exkl zzgl sog hr hrn fr frl dr prof dipl ing geb gest hl "
    "z.b d.h u.a u.ä o.ä o.g s.o s.u i.d.r v.a v.chr n.chr",
    "fr": "mm mme mmes mlle mlles mgr dr pr prof st ste vve env av apr cf p.ex c.-à-d",
    "es": "sr sra sres srta dr dra lic prof ud uds vd vds pág núm",
    "it": "sig sigg sig.ra dott dott.ssa dr avv ing prof prof.ssa",
    "pt": "sr sra dr dra exmo exma prof eng",
    "nl": "dhr mevr mw dr ir prof bijv o.a d.w.z t.o.v",
    "pl": "np tzn tzw prof dr inż mgr",
    "cs": "např tj tzv prof dr ing",
    "ru": "т.е т.к т.н им ул проф акад тов",
}
"""What is followed by the rest of its sentence even where a capital comes next. What may also end
a sentence ("etc.", "Inc.", "a.m.") is not here: a capital after it begins a sentence."""


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_BEFORE_NUMBERS = _words(
    "no nos nr nrn fig figs vol p pp s ss art ch chap sec eq tab abb kap ziff abs bd núm pág cap "
    "jan feb apr aug sept oct okt nov dec dez"
)
_MONTHS = _words(
    "Januar Jänner Februar März April Mai Juni Juli August September Oktober November Dezember "
    "January February March May June July October December"
)
_GERMAN_BEGINNINGS = _words(
    "Der Die Das Den Dem Des Ein Eine Einen Einem Er Sie Es Ich Wir Ihr Man Und Aber Doch Denn "
    "Dann Da Daher Dies Diese Dieser Dieses Dort Hier In Im Am An Auf Als Wenn Weil Nach Mit Bei "
    "Zu Zum Zur Von Vom Vor Für So Auch Nur Noch Nun Jetzt Seit Während Wie Was Wer Wo Warum "
    "Sein Seine Ihre Mein Meine Unser Unsere Alle Beide Kein Keine Danach Trotzdem Jedoch"
)


@lru_cache(maxsize=64)
def _abbreviations(language: str) -> frozenset[str]:
    own = _ABBREVIATIONS.get(language.split("-")[0].lower())
    return _words(own if own is not None else " ".join(_ABBREVIATIONS.values()))


def split_keeping(text: str, language: str = "und") -> list[tuple[str, str]]:
    """Give each sentence with the space that follows it; put together they are `text` exactly.

    Only the first sentence can be empty: where the line begins with spaces.
    """
    result = []
    start = len(text) - len(text.lstrip())
    if start:
        result.append(("", text[:start]))
    lower = not any(map(str.isupper, text))  # a capital can only be asked for where there are any
    for match in _BOUNDARY.finditer(text, start):
        if match.end() == len(text) or _ends_sentence(text, start, match, language, lower):
            result.append(_separate(text[start : match.end()]))
            start = match.end()
    if start < len(text):
        result.append(_separate(text[start:]))
    return result


def _separate(text: str) -> tuple[str, str]:
    sentence = text.rstrip()
    return sentence, text[len(sentence) :]


def _ends_sentence(text: str, start: int, match: re.Match[str], language: str, lower: bool) -> bool:
    """Judge a mark by what stands before and behind it; there is something behind it."""
    mark, close, space = match["mark"], match["close"], match["space"]
    if mark is None:
        return True
    following = text[match.end()]
    if following in ",;:，、；：":
        return False
    if mark[-1] in _WIDE:
        # 「行く。」と言った: the quotation is a part of its sentence
        return bool(space) or not (close and "\u3040" <= following <= "\u309f")
    if not space:
        # "간다."라고 말했다: the quotation is a part of its sentence here too
        before = text[match.start() - 1 : match.start()]
        return not close and _ends_without_space(mark, before, following)
    if following.islower() and not lower:
        return False
    if mark == "." and not close:
        from_here = max(start, match.start() - _LONGEST_WORD)
        words = text[from_here : match.start()].split()
        if not words or text[match.start() - 1].isspace():
            return True  # tokenised text: the mark is a word of its own
        word = words.pop().lstrip(_OPENERS)
        while words and len(words[-1]) == 2 and words[-1][1] == "." and word[1:2] in ("", "."):
            word = words.pop() + word  # z. B.
        if start == from_here and not text[start : match.start()].strip("0123456789. "):
            return False  # the number of a list, or a date: "2024. 3. 5."
        return not _goes_on(word, text, match.end(), language)
    return True


def _ends_without_space(mark: str, before: str, following: str) -> bool:
    if not ("\u3040" <= following <= "\u9fff" or "\uac00" <= following <= "\ud7a3"):
        return False
    if mark == ".":
        return before != "" and before in _KOREAN_ENDINGS
    return mark[-1] in "!?"


def _goes_on(word: str, text: str, after: int, language: str) -> bool:
    """Whether the full stop behind `word` is that of an abbreviation or a number."""
    following = text[after : after + _LONGEST_WORD].split(maxsplit=1)[0].rstrip(".,;:!?")
    if word.isdigit():
        if following in _MONTHS or re.match(r"\d{1,2}\.", text[after : after + 3]):
            return True
        ordinal = language.split("-")[0] == "de" and len(word) <= 2
        return ordinal and following not in _GERMAN_BEGINNINGS
    low = word.lower()
    if len(word) == 1:
        spelled = len(following) == 1 and text[after + 1 : after + 2] == "."  # z. B.
        return word.isupper() or (word.isalpha() and spelled)
    if low in _BEFORE_NUMBERS and following[:1].isdigit():
        return True
    if low in _abbreviations(language):
        return True
    letters = word.split(".")
    return len(letters) > 1 and all(len(part) == 1 and part.isupper() for part in letters)  # U.S.


_PAUSE = re.compile(r"[,;:.!?…–—)\]»”]\s+|[、，；：。！？]\s*")
_GAP = re.compile(r"\s+")
_STICKY = re.compile(r"[\u0300-\u036f\u0900-\u0903\u093a-\u094f\u200c\u200d\ufe00-\ufe0f🏻-🏿]")
"""Characters that belong to the one before them: no part begins with one."""


def chop(text: str, limit: int, length: Callable[[str], int]) -> list[str]:
    """Cut a sentence into parts of which none is longer than `limit`, losing no character.

    The best place is behind a comma or the like, then at a space, then anywhere. `length` is
    called on pieces of about `limit` only, so that a line of a megabyte takes time in proportion.
    A single character longer than `limit` is a part of its own: it cannot be cut.
    """
    parts = []
    start = 0
    guess = max(limit, 1)
    while start < len(text):
        end = _reach(text, start, guess, limit, length)
        guess = max(end - start, 1)
        if end < len(text):
            rest = len(text) - start
            # two parts of one size rather than a long one and a single word
            goal = start + rest // 2 if rest < 2 * guess else end
            end = _best_cut(text, start, end, min(goal, end))
            while end - start > 1 and length(text[start:end]) > limit:
                end = start + (end - start) // 2  # a longer text may have had fewer tokens
        parts.append(text[start:end])
        start = end
    return parts


def _reach(text: str, start: int, guess: int, limit: int, length: Callable[[str], int]) -> int:
    """Find the farthest end that still fits, by doubling and halving around a guess."""

    def fits(end: int) -> bool:
        return length(text[start:end]) <= limit

    fitting, end = start + 1, min(start + guess, len(text))
    while fits(end):
        fitting = end
        if end == len(text):
            return end
        end = min(start + 2 * (end - start), len(text))
    beyond = end
    while beyond - fitting > 1 + (fitting - start) // 50:  # the last percent is not worth a call
        middle = (fitting + beyond) // 2
        if fits(middle):
            fitting = middle
        else:
            beyond = middle
    return fitting


def _best_cut(text: str, start: int, end: int, goal: int) -> int:
    """Choose the cut nearest to `goal` of the best kind there is, past a third of the part."""
    low = start + (end - start) // 3
    for kind in (_PAUSE, _GAP):
        cuts = [match.end() for match in kind.finditer(text, low, end) if match.end() <= end]
        if cuts:
            return min(cuts, key=lambda cut: abs(cut - goal))
    cut = goal
    while cut > start + 1 and _STICKY.match(text, cut):
        cut -= 1
    return cut if cut > start + 1 or end == start + 1 else goal
