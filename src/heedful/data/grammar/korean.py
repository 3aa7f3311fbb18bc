"""Korean inflection: endings on the principal parts of a stem; particles: `data/particles.py`.

The style is the plain one throughout: statements in -다, questions in -니.
"""

from __future__ import annotations

from heedful.data.grammar.words import Mood, Stem, Tense
from heedful.data.particles import RIEUL, attach, coda, ends_in_consonant

_N, _SS = 4, 20  # ㄴ and ㅆ among the ends of a syllable, as `RIEUL` is


def _ending_in(word: str, end: int) -> str:
    return word[:-1] + chr(ord(word[-1]) - coda(word) + end)


def stem(parts: str, *, verb: bool = True, modifier: str = "") -> Stem:
    """Read a stem: "걷/걸으/걸어", or "사랑하" for the regular stems in 하."""
    if "/" not in parts:
        assert parts.endswith("하"), f"{parts} needs its three principal parts"
        parts = f"{parts}/{parts}/{parts[:-1]}해"
    plain, opened, vowel = parts.split("/")
    return Stem(plain, opened, vowel, verb, modifier)


def negate(old: Stem) -> Stem:
    """Give the stem of -지 않다."""
    base = old.plain + "지 "
    return Stem(base + "않", base + "않으", base + "않아", old.verb)


BE_AT = Stem("있", "있으", "있어", verb=False)
NOT_BE_AT = Stem("없", "없으", "없어", verb=False)


def able(old: Stem, negative: bool) -> Stem:
    """Give the stem of -ㄹ 수 있다, or of -ㄹ 수 없다."""
    base = _ending_in(old.open, RIEUL) + " 수 "
    end = NOT_BE_AT if negative else BE_AT
    return Stem(base + end.plain, base + end.open, base + end.vowel, verb=False)


def must(old: Stem) -> Stem:
    """Give the stem of -아야 하다."""
    return stem(old.vowel + "야 하")


def want(old: Stem, own: bool) -> Stem:
    """Give the stem of -고 싶다, which one says of oneself, or -고 싶어 하다, of others."""
    if own:
        base = old.plain + "고 싶"
        return Stem(base, base + "으", base + "어", verb=False)
    return stem(old.plain + "고 싶어 하")


def _without_l(plain: str) -> str:
    return _ending_in(plain, 0) if coda(plain) == RIEUL else plain


_STATED = {Mood.STATE: "다", Mood.ASK: "니", Mood.AND: "고", Mood.BUT: "지만", Mood.REPORT: "다고"}
_AHEAD = {
    Mood.STATE: " 것이다",
    Mood.ASK: " 거니",
    Mood.AND: " 것이고",
    Mood.BUT: " 것이지만",
    Mood.REPORT: " 것이라고",
    Mood.MODIFY: "",
}


def conjugate(word: Stem, tense: Tense, mood: Mood) -> str:
    """Give the finite form."""
    if tense is Tense.FUTURE:
        return _ending_in(word.open, RIEUL) + _AHEAD[mood]
    if tense is Tense.PAST:
        if mood is Mood.MODIFY:
            return _ending_in(word.open, _N)
        return _ending_in(word.vowel, _SS) + _STATED[mood]
    if mood is Mood.MODIFY:
        if word.modifier:
            return word.modifier
        return _without_l(word.plain) + "는" if word.verb else _ending_in(word.open, _N)
    if mood is Mood.ASK:
        return _without_l(word.plain) + "니"
    if mood in (Mood.AND, Mood.BUT) or not word.verb:
        return word.plain + _STATED[mood]
    if coda(word.plain) not in (0, RIEUL):
        return word.plain + "는" + _STATED[mood]
    return _ending_in(word.plain, _N) + _STATED[mood]


_BECOME = Stem("되", "되", "되어")
_NOT_BE = Stem("아니", "아니", "아니어", verb=False)


def copula(noun: str, tense: Tense, negative: bool, mood: Mood) -> str:
    """Give "is a <noun>". What one will be one becomes: 의사가 될 것이다."""
    if tense is Tense.FUTURE:
        become = negate(_BECOME) if negative else _BECOME
        return f"{attach(noun, 'subject')} {conjugate(become, tense, mood)}"
    if negative:
        if mood is Mood.REPORT and tense is Tense.PRESENT:
            return f"{attach(noun, 'subject')} 아니라고"
        return f"{attach(noun, 'subject')} {conjugate(_NOT_BE, tense, mood)}"
    closed = ends_in_consonant(noun)
    if tense is Tense.PAST:
        return noun + ("이었" if closed else "였") + _STATED[mood]
    ending = "라고" if mood is Mood.REPORT else _STATED[mood]
    return noun + ("이" if closed else "") + ending
