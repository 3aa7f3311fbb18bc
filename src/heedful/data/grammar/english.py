"""English inflection: plurals, the three verb forms, articles, do-support and the forms of be."""

from __future__ import annotations

from heedful.data.grammar.words import Agreement, EnglishVerb, Tense

_PRESENT, _PAST, _FUTURE = Tense.PRESENT, Tense.PAST, Tense.FUTURE


def with_s(word: str) -> str:
    """Give the regular plural of a noun, or a verb's third person; others are in the lexicon."""
    if word.endswith(("s", "x", "ch", "sh", "go")):
        return word + "es"
    if word.endswith("y") and word[-2] not in "aeiou":
        return word[:-1] + "ies"
    return word + "s"


def verb(base: str, past: str = "", third: str = "") -> EnglishVerb:
    """Give a verb; what is not said is regular."""
    if not past:
        stem = base[:-1] + "i" if base.endswith("y") and base[-2] not in "aeiou" else base
        past = base + "d" if base.endswith("e") else stem + "ed"
    return EnglishVerb(base, third or with_s(base), past)


def article(following: str) -> str:
    """Choose a or an; no word of the lexicon is spelled otherwise than it sounds here."""
    return "an" if following[0] in "aeiou" else "a"


def be(tense: Tense, negative: bool, who: Agreement) -> str:
    """Give the form of be."""
    if tense is _FUTURE:
        return "won't be" if negative else "will be"
    first = who is Agreement.JE
    if tense is _PRESENT:
        form = "am" if first else "is" if who.third else "are"
    else:
        form = "was" if first or who.third else "were"
    return form + " not" if negative else form


def finite(word: EnglishVerb, tense: Tense, negative: bool, who: Agreement) -> str:
    """Give the verb of a statement, with do or will where English wants them."""
    if tense is _FUTURE:
        return ("won't " if negative else "will ") + word.base
    if tense is _PAST:
        return "didn't " + word.base if negative else word.past
    if negative:
        return ("doesn't " if who.third else "don't ") + word.base
    return word.third if who.third else word.base


def ask(word: EnglishVerb, tense: Tense, who: Agreement) -> tuple[str, str]:
    """Give what stands before and after the subject in a yes-no question."""
    if tense is _FUTURE:
        return "will", " " + word.base
    if tense is _PAST:
        return "did", " " + word.base
    return ("does" if who.third else "do"), " " + word.base
