"""Which of the served languages a text is in, without any download.

The model is py3langid's: naive Bayes over byte n-grams of 139 languages. Here are the writing
systems of the languages, what helps with single words, and how sure an answer is.
"""

from __future__ import annotations

import math
import re
import threading
import unicodedata
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache
from string import punctuation
from typing import Any

CHARACTERS_READ = 2000
"""Of a text: more would not change the answer."""

_UNSERVED = 0.02
"""Prior probability of a language that is not served, relative to one that is."""

_NOT_TEXT = re.compile(r"https?://\S+|www\.\S+|[\w.+-]{1,64}@[\w.-]+|<[^<>]{1,200}>|&[a-z]{2,8};")

_ALIASES = "nb:no pb:pt zt:zh fil:tl prs:fa ckb:sdh ff:fuv gn:gug ki:kik kok:gom"
_NAMED = dict(entry.split(":") for entry in _ALIASES.split())
"""The model's code for a language: its own name for it, or the nearest relative it knows."""

_TABLE = """
CYRILLIC:ru,uk,be,bg,mk,sr,bs,kk,ky,mn,tg,tt,ba,uz,ab,av,ce,cu,cv,kv,os LATIN:sr,bs,uz,lad,oj
ARABIC:ar,arz,fa,prs,ur,ps,sd,ug,ckb,ks,azb,uz DEVANAGARI:hi,mr,ne,sa,bho,mai,kok BENGALI:bn,as,mni
CJK:zh,zt,yue,wuu,ja,ko HIRAGANA:ja KATAKANA:ja HANGUL:ko HEBREW:he,yi,lad ETHIOPIC:am,ti GREEK:el
ARMENIAN:hy GEORGIAN:ka TAMIL:ta TELUGU:te THAI:th KHMER:km LAO:lo MYANMAR:my,shn TIBETAN:bo,dz
GUJARATI:gu GURMUKHI:pa ORIYA:or KANNADA:kn MALAYALAM:ml SINHALA:si THAANA:dv CHEROKEE:chr
CANADIAN:iu,cr,oj OL:sat TIFINAGH:zgh YI:ii
"""
"""Writing systems, by the first word of their letters' Unicode names, with their languages.
A language that is in none is written in Latin letters."""
_WRITTEN = dict(entry.split(":") for entry in _TABLE.split())

_NOTHING = -1e30
"""A best score below it means the model knows no part of the text."""
_LOADING = threading.Lock()
_TRADITIONAL = {"zt", "hant", "tw", "hk", "mo"}


@dataclass(frozen=True)
class Guess:
    """A language a text may be in, and how sure that is, from 0 to 100."""

    language: str
    confidence: float


class Detector:
    """Tells which of some languages a text is in; the same text always gets the same answer.

    It may be asked from several threads. The first question loads the model.
    """

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = list(dict.fromkeys(languages))
        self._scripts = {code: _scripts(code) for code in self.languages}

    @property
    def loaded(self) -> bool:
        """Whether the model is in memory; the first call of `detect` loads it."""
        return _identifier.cache_info().currsize > 0

    def detect(self, text: str) -> list[Guess]:
        """Give the languages the text may be in, best first.

        Where nothing speaks for any of them the first is given, with confidence 0: of those in
        the text's script where there are some, else of all.
        """
        text = unicodedata.normalize("NFKC", _NOT_TEXT.sub(" ", text[:CHARACTERS_READ]))
        scripts = {unicodedata.name(c, "-").split()[0] for c in set(text) if c.isalpha()}
        written = [code for code in self.languages if self._scripts[code] & scripts]
        written = _without_other_chinese(text, written)
        shares = self._shares(text, written) if written else {}
        if not shares and "LATIN" not in scripts:  # only the script tells them apart
            shares = {code: 1 / len(written) for code in written}
        guesses = [Guess(code, round(100 * share, 1)) for code, share in shares.items()]
        found = [guess for guess in guesses if guess.confidence > 0]
        # Stable: equals stay in the order they are served.
        found.sort(key=lambda guess: -guess.confidence)
        return found or [Guess(code, 0.0) for code in (written or self.languages)[:1]]

    def _shares(self, text: str, written: Sequence[str]) -> dict[str, float]:
        """Give each language's probability; the rest is that of the languages not served."""
        words = text.split()
        if len(words) == 1:  # again in lower case and without punctuation, which mislead the model
            words.append(words[0].strip(punctuation).lower())
        padded = f" {' '.join(words)} "  # where words begin and end tells much in short texts
        with _LOADING:
            identifier = _identifier()
        scores: dict[str, float] = dict(identifier.rank(padded))
        best = max(scores.values())
        if best < _NOTHING:
            return {}
        served = Counter(map(_label, written))
        heat = math.sqrt(len(padded.encode("utf-8", "replace")))
        mass = {
            label: math.exp((score - best) / heat) * (1 if label in served else _UNSERVED)
            for label, score in scores.items()
        }
        total = sum(mass.values())
        shares = {label: mass[label] / total / served[label] for label in served if label in mass}
        return {code: shares[_label(code)] for code in written if _label(code) in shares}


@cache
def _identifier() -> Any:
    """Load the model once for all threads, with all its languages: servers differ in theirs."""
    from py3langid.langid import MODEL_FILE, LanguageIdentifier

    return LanguageIdentifier.from_model_file(MODEL_FILE)


def _label(code: str) -> str:
    """Give the model's code of a language, without its region."""
    primary = re.split("[-_]", code.lower())[0]
    return _NAMED.get(primary, primary)


def _scripts(code: str) -> set[str]:
    """Give the scripts a language is written in; none for an undetermined one."""
    primary = re.split("[-_]", code.lower())[0]
    found = {script for script, codes in _WRITTEN.items() if primary in codes.split(",")}
    return found or ({"LATIN"} if primary != "und" else set())


def _without_other_chinese(text: str, codes: list[str]) -> list[str]:
    """Of simplified and traditional Chinese, leave out the one the text is less likely in.

    The encoding GB2312 has the simplified characters, Big5 the traditional ones.
    """
    chinese = {code for code in codes if _label(code) == "zh"}
    traditional = {c for c in chinese if _TRADITIONAL & set(re.split("[-_]", c.lower()))}
    if not traditional or traditional == chinese:
        return codes
    han = "".join(char for char in text if char >= "\u3400")
    leaning = len(han.encode("gb2312", "ignore")) - len(han.encode("big5", "ignore"))
    other = traditional if leaning > 0 else chinese - traditional if leaning < 0 else set()
    return [code for code in codes if code not in other]
