"""Which of the served languages a text is in, without any download.

The script says most: Hangul is Korean. Languages of one script are told apart by their frequent
words (`latin.py`, `scripts.py`) and by the letter sequences of those words. It is Bayes' rule over
all languages known here, of which those served are likelier from the start: French text on a
server of English and German is then not called English with confidence.
"""

from __future__ import annotations

import math
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import groupby

from heedful.data.text import script_of
from heedful.serve.latin import LATIN
from heedful.serve.scripts import ARABIC, CYRILLIC, DEVANAGARI, HAN, HEBREW, SCRIPTS_OF

__all__ = ["Detector", "Guess"]

LOOKED_AT = 2000
"""Characters of a text that are read: more would not change the answer."""

_PROFILES: dict[str, Mapping[str, str]] = {
    "latin": LATIN,
    "cyrillic": CYRILLIC,
    "arabic": ARABIC,
    "devanagari": DEVANAGARI,
    "hebrew": HEBREW,
}
_SAME_AS = {"nb": "no", "nn": "no", "pb": "pt", "fil": "tl", "bs": "hr", "prs": "fa", "arz": "ar"}
"""Languages that are read by the words of another one; Serbian in Latin letters is added below."""
_TRADITIONAL = {"hant", "tw", "hk", "mo"}

_WEIGHTS = {"latin": 1, "hangul": 3, "kana": 3, "han": 4}
_WEIGHT = 2
"""Letters a character stands for. Latin counts least: foreign names stand in text of every
language, and the other way round is rare."""

_UNSERVED = 0.05
"""How likely a language that is not served is from the start, beside one that is."""
_KNOWN_WORDS = 0.4
"""Share of a text's words that are expected to be in its language's list."""
_UNLISTED = (0.02, 0.05, 0.15, 0.3, 0.5, 0.6)
"""How far a word of 1, 2, ... letters may be one that is not listed: the short ones mostly are."""
_BORROWED = 0.15
"""Share of words that may come from any language, such as names; it bounds what one word says."""
_SMOOTHING = 4.0
_ALPHABET = 60
_NOISE = math.log(30)
"""What a letter costs in no language at all."""
_SHARPNESS = 0.55
"""Neighbouring letters are not independent; without this every answer would seem certain."""

_NOT_TEXT = re.compile(r"https?://\S+|www\.\S+|[\w.+-]{1,64}@[\w.-]+|<[^<>]{1,200}>|&[a-z]{2,8};")


@dataclass(frozen=True)
class Guess:
    """A language a text may be in, and how sure that is, from 0 to 100."""

    language: str
    confidence: float


class Detector:
    """Tells which of some languages a text is in; the same text always gets the same answer."""

    def __init__(self, languages: Sequence[str]) -> None:
        self.languages = list(dict.fromkeys(languages))
        self._served: dict[str, dict[str, list[str]]] = {}
        """Of each script: the served codes of each profile; "" is what has none."""
        for code in self.languages:
            for script, profile in _readings(code):
                self._served.setdefault(script, {}).setdefault(profile, []).append(code)
        for script in self._served:
            if script in _PROFILES:
                _group(script)  # now, not in the first request

    def detect(self, text: str) -> list[Guess]:
        """Give the languages the text may be in, best first.

        Where nothing speaks for any of them the first served one is given, with confidence 0.
        """
        if not self.languages:
            return []
        words = _words(text)
        weights: Counter[str] = Counter()
        for script, word in words:
            weights[script] += len(word) * _WEIGHTS.get(script, _WEIGHT)
        _share_han(weights, words)
        total = sum(weights.values())
        scores = dict.fromkeys(self.languages, 0.0)
        for script, weight in weights.items():
            own = [word for kind, word in words if kind == script]
            for code, share in self._shares(script, own).items():
                scores[code] += 100 * weight / total * share
        order = sorted(scores, key=lambda code: -scores[code])  # stable: equals as they are served
        guesses = [Guess(code, round(scores[code], 1)) for code in order]
        return [guess for guess in guesses if guess.confidence > 0] or guesses[:1]

    def _shares(self, script: str, words: list[str]) -> dict[str, float]:
        """Divide certainty among the served languages of a script; some stays with the others."""
        served = self._served.get(script, {})
        if not served:
            return {}
        if script == "han":
            logp = _chinese("".join(words), set(served))
        elif script in _PROFILES:
            logp = _group(script).score(words)
        else:
            logp = {"": 0.0}
        best = max(logp.values())
        mass = {
            profile: math.exp(_SHARPNESS * (score - best)) * (1 if profile in served else _UNSERVED)
            for profile, score in logp.items()
        }
        total = sum(mass.values())
        return {
            code: mass.get(profile, 0.0) / total / len(codes)
            for profile, codes in served.items()
            for code in codes
        }


def _readings(code: str) -> list[tuple[str, str]]:
    """Give the scripts a language comes in, each with the profile that knows it there."""
    primary, *subtags = re.split("[-_]", code.lower())
    if primary == "zh" and _TRADITIONAL & set(subtags):
        primary = "zt"
    found = []
    for script in SCRIPTS_OF.get(primary, ("latin",)):
        profile = _SAME_AS.get(primary, primary)
        if script == "latin" and primary == "sr":
            profile = "hr"
        known = HAN if script == "han" else _PROFILES.get(script, {})
        found.append((script, profile if profile in known else ""))
    return found


@lru_cache(maxsize=1024)
def _script(char: str) -> str:
    """Name the script of one character; scripts unknown to `script_of` by their Unicode name."""
    name = script_of(char)
    if name == "other":
        return unicodedata.name(char, "other").split()[0].lower()
    if name == "none" and unicodedata.category(char)[0] == "M":
        return "mark"
    return name


def _words(text: str) -> list[tuple[str, str]]:
    """Give the words of a text in small letters, each with its script."""
    text = _NOT_TEXT.sub(" ", text[:LOOKED_AT])
    text = unicodedata.normalize("NFC", text).replace("’", "'").replace("ʼ", "'")
    text = text.replace("İ", "i").lower()
    found: list[tuple[str, str]] = []
    for chunk in text.split():
        before = ""
        for script, run in groupby(chunk, _script):
            word = "".join(run)
            if found and before and (script == "mark" or (word == "'" and before == "latin")):
                found[-1] = (before, found[-1][1] + word)  # belongs to the word it stands behind
            elif script in ("none", "mark"):
                before = ""
            elif script == before:
                found[-1] = (script, found[-1][1] + word)
            else:
                found.append((script, word))
                before = script
    return [(script, word.strip("'")) for script, word in found]


def _share_han(weights: Counter[str], words: list[tuple[str, str]]) -> None:
    """Count Chinese characters amid kana as Japanese and amid Hangul as Korean."""
    if not weights["han"]:
        return
    for script in ("kana", "hangul"):
        if 4 * weights[script] > weights["han"]:
            weights[script] += weights.pop("han")
            words[:] = [(script if kind == "han" else kind, word) for kind, word in words]
            return


def _chinese(text: str, served: set[str]) -> dict[str, float]:
    """Judge characters without kana: simplified, traditional, Cantonese, or short Japanese."""
    sets = {profile: set(characters) for profile, characters in HAN.items()}
    if "zt" not in served:
        sets["zh"] |= sets.pop("zt")
    scores = dict.fromkeys(sets, 0.0)
    scores["ja"] -= 2 + 0.1 * len(text)  # a Japanese sentence has kana in it
    scores["yue"] = scores.get("yue", 0.0) - 3
    for char in text:
        for profile, characters in sets.items():
            scores[profile] += 2.0 if char in characters else 0.0
    return scores


class _Group:
    """The languages of one script, as a mixture of known words and letter sequences."""

    def __init__(self, profiles: Mapping[str, str]) -> None:
        self._names = list(profiles)
        self._words: dict[str, list[tuple[int, float]]] = {}
        self._counts: list[Counter[str]] = []
        for number, text in enumerate(profiles.values()):
            listed = list(dict.fromkeys(word for _, word in _words_of_list(text)))
            share = 1 / sum(1 / (rank + 8) for rank in range(len(listed)))
            counts: Counter[str] = Counter()
            for rank, word in enumerate(listed):
                probability = _KNOWN_WORDS * share / (rank + 8)
                self._words.setdefault(word, []).append((number, probability))
                _count(word, counts)
            self._counts.append(counts)
        self._row = lru_cache(maxsize=2048)(self._make_row)

    def score(self, words: Sequence[str]) -> dict[str, float]:
        """Give the log-probability of some words in each language, and in any other ("").

        Another language is one whose words are each likely somewhere, or it is mere noise.
        """
        totals = [0.0] * len(self._names)
        other = noise = 0.0
        for word, times in Counter(words).items():
            each = self._word(word)
            totals = [total + times * one for total, one in zip(totals, each, strict=True)]
            best = max(each)
            mean = sum(math.exp(one - best) for one in each) / len(each)
            other += times * (best + math.log(mean))
            noise -= times * (len(word) + 1) * _NOISE
        return {**dict(zip(self._names, totals, strict=True)), "": max(other, noise)}

    def _word(self, word: str) -> list[float]:
        unlisted = _UNLISTED[min(len(word), len(_UNLISTED)) - 1]
        totals = [math.log(unlisted)] * len(self._names)
        padded = f" {word} "
        for start in range(max(len(padded) - 2, 0)):
            row = self._row(padded[start : start + 3])
            totals = [total + one for total, one in zip(totals, row, strict=True)]
        first = self._row(padded[:2])
        totals = [total + one for total, one in zip(totals, first, strict=True)]
        for number, probability in self._words.get(word, ()):
            totals[number] = math.log(probability + math.exp(totals[number]))
        best = max(totals)  # taken out, so that a very long word is not 0 everywhere
        chances = [math.exp(total - best) for total in totals]
        borrowed = _BORROWED * sum(chances) / len(chances)
        return [best + math.log((1 - _BORROWED) * chance + borrowed) for chance in chances]

    def _make_row(self, gram: str) -> array[float]:
        """Give the log-probability of the last letter after the others, in every language."""
        return array("d", [math.log(_chance(gram, counts)) for counts in self._counts])


def _words_of_list(text: str) -> list[tuple[str, str]]:
    return [pair for start in text.split() for pair in _words(start)]


def _count(word: str, counts: Counter[str]) -> None:
    padded = f" {word} "
    for width in (1, 2, 3):
        for start in range(len(padded) - width + 1):
            gram = padded[start : start + width]
            if gram != " " or start:  # the space in front is given, not told
                counts[gram] += 1
            counts[f"{gram[:-1]}*"] += gram != " " or start > 0


def _chance(gram: str, counts: Mapping[str, int]) -> float:
    """Give the chance of a letter after up to two others, each length leaning on the shorter."""
    chance = 1 / _ALPHABET
    for start in range(len(gram) - 1, -1, -1):
        part = gram[start:]
        seen, total = counts.get(part, 0), counts.get(f"{part[:-1]}*", 0)
        chance = (seen + _SMOOTHING * chance) / (total + _SMOOTHING)
    return chance


@lru_cache(maxsize=len(_PROFILES))
def _group(script: str) -> _Group:
    return _Group(_PROFILES[script])
