"""A glossary, and words that are not to be translated, for any model.

A model has seen no placeholders in training, so it cannot be relied on to copy them. Instead the
sentence is translated as it is and, beside it, each of its terms alone (the `probes`); where the
translated sentence has the translated term, the wanted word takes its place, with the Korean
particle behind it in the form the new word demands. Terms that cannot be found are reported.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from heedful.data.particles import attach
from heedful.data.text import normalise, one_word, script_of
from heedful.errors import DataError

MOST_TERMS = 256
"""Terms of one request, those to keep included."""
LONGEST_TERM = 200
"""Characters of a term."""

_PARTICLES = re.compile(
    "(?:들|은|는|이|가|을|를|과|와|으로|로|의|에|에서|에게|께|도|만|부터|까지|처럼|보다|이나|나|이랑|랑"
    "|하고|마다|조차|밖에|마저|서|써|이라고|라고|이라는|라는|입니다|이다|다|이에요|예요|이었다|였다|인"
    "|이고|이며|이면){1,4}(?![가-힣])"
)
"""What may stand behind a Korean noun as a part of the same written word."""
_CHANGING = re.compile(
    "(?:(?P<topic>은|는)|(?P<subject>이|가)|(?P<object>을|를))(?![가-힣])"
    "|(?P<and>과|와)(?=[는의도만]|(?![가-힣]))"
    "|(?P<by>으로|로)(?=서|써|부터|[는도만의]|(?![가-힣]))"
)
"""Particles with two forms, named as in `data/particles.py`."""
_INFLECTED = {"latin", "cyrillic", "greek"}
_ARTICLE = re.compile(r"(?:[^\W\d_]{1,4}\s+|[^\W\d_]{1,2}['’])(?=\w)")
_ENDS_SENTENCE = re.compile(r"(?:\A|[.!?…]\s+)[\"'“”„«»‘’¿¡(\[]*\Z")


@dataclass(frozen=True)
class _Term:
    """How one word of the source is to be translated."""

    source: str
    wanted: str
    kept: bool
    """Whether it is to stay as it is, letter for letter."""

    @property
    def exact(self) -> bool:
        """Whether capitals matter: "Apple" is not "apple", but "dog" may begin a sentence."""
        return self.kept or not self.source.islower()


@dataclass(frozen=True)
class FoundTerms:
    """What was found in a text, to be looked for in its translation."""

    terms: tuple[_Term, ...] = ()
    probes: list[str] = field(default_factory=list)
    """Texts whose translations help `Terms.restore`: each term alone, as the text spells it."""


class Terms:
    """The terms of a request; empty and false where it has none."""

    def __init__(self, terms: Sequence[_Term] = ()) -> None:
        self._terms = sorted(terms, key=lambda term: -len(term.source))

    @classmethod
    def parse(cls, value: object, keep: object = None) -> Terms:
        """Read `{"source": "target"}` or pairs of them, and a list of what is to be kept."""
        given = [(source, target, False) for source, target in _pairs(value)]
        given += [(name, name, True) for name in _kept(keep)]
        if len(given) > MOST_TERMS:
            raise DataError(
                f"{len(given):,} terms are given; expected at most {MOST_TERMS}; "
                f"send only those the text has"
            )
        found: dict[str, _Term] = {}
        for source, target, kept in given:
            term = _Term(_checked(source), _checked(target), kept)
            if found.setdefault(term.source, term) != term:
                raise DataError(
                    f"the term {_short(term.source)} is given twice; expected one "
                    f"translation of it; leave one out"
                )
        return cls(list(found.values()))

    def __bool__(self) -> bool:
        return bool(self._terms)

    def find(self, text: str) -> FoundTerms:
        """Find the terms of a text; to be translated beside it are their `probes`."""
        low = text.lower()
        taken = bytearray(len(text))
        found: list[_Term] = []
        probes: list[str] = []
        for term in self._terms:  # the longest first: "ice cream" before "ice"
            if (term.source not in text) if term.exact else (term.source.lower() not in low):
                continue
            if places := _take(text, term.source, term.exact, taken):
                found.append(term)
                probes.append(text[slice(*places[0])])
        return FoundTerms(tuple(found), probes)

    def restore(
        self, translation: str, found: FoundTerms, probes: Sequence[str] = ()
    ) -> tuple[str, list[str]]:
        """Put the wanted words into a translation; give also the terms for which that failed.

        `probes` are the translations of `found.probes`; without them only the terms that the model
        itself translated as wanted are met.
        """
        if not found.terms:
            return translation, []
        draft = _Draft(translation)
        open_terms = []
        for number, term in enumerate(found.terms):
            if not draft.fix(term.wanted, exact=term.kept):
                open_terms.append((term, probes[number] if number < len(probes) else ""))
        unmet = {term.source for term, probe in open_terms if not draft.replace(term, probe)}
        return draft.text, [term.source for term in found.terms if term.source in unmet]


def _pairs(value: object) -> list[tuple[object, object]]:
    if value is None:
        return []
    if isinstance(value, Mapping):
        return list(value.items())
    if isinstance(value, list | tuple):
        if all(isinstance(pair, list | tuple) and len(pair) == 2 for pair in value):
            return [(pair[0], pair[1]) for pair in value]
        raise DataError(
            "terms has an item that is not a pair; expected pairs of source and target; "
            'write [["source", "target"], ...] or {"source": "target"}'
        )
    raise DataError(
        f"terms is of the type {type(value).__name__}; expected an object or a list of pairs; "
        f'write {{"source": "target"}}'
    )


def _kept(value: object) -> list[object]:
    if value is None:
        return []
    if isinstance(value, list | tuple):
        return list(value)
    raise DataError(
        f"the terms to keep are of the type {type(value).__name__}; expected a list of strings; "
        f'write ["name", ...]'
    )


def _checked(value: object) -> str:
    if not isinstance(value, str):
        raise DataError(
            f"a term is of the type {type(value).__name__}; expected a string; put it in quotes"
        )
    text = normalise(value) if len(value) <= 4 * LONGEST_TERM else value
    if not text:
        raise DataError("a term is empty; expected at least one character; leave it out")
    if len(text) > LONGEST_TERM:
        raise DataError(
            f"the term {_short(text)} has {len(text):,} characters; expected at most "
            f"{LONGEST_TERM}; shorten it"
        )
    return text


def _short(text: str) -> str:
    return repr(text if len(text) <= 40 else text[:37] + "...")


def _places(text: str, word: str, exact: bool) -> list[tuple[int, int]]:
    """Find where a word stands as a whole word."""
    spelled = re.finditer(re.escape(word), text, 0 if exact else re.IGNORECASE)
    found = (match.span() for match in spelled)
    return [(start, end) for start, end in found if _stands(text, start, end)]


def _take(text: str, word: str, exact: bool, taken: bytearray) -> list[tuple[int, int]]:
    """Find where a word stands as a whole word that is not taken yet, and take it."""
    places = [place for place in _places(text, word, exact) if not any(taken[slice(*place)])]
    for start, end in places:
        taken[start:end] = b"\1" * (end - start)
    return places


def _stands(text: str, start: int, end: int) -> bool:
    """Whether characters are a word by themselves; a Korean noun may have particles behind it."""
    if start and one_word(text[start - 1], text[start]):
        return False
    if end < len(text) and one_word(text[end - 1], text[end]):
        return script_of(text[end]) == "hangul" and _PARTICLES.match(text, end) is not None
    return True


class _Draft:
    """A translation in which words that are already as wanted are not touched again."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._fixed = bytearray(len(text))

    def fix(self, wanted: str, exact: bool) -> bool:
        """Keep a word that is there already; say whether it is."""
        return bool(_take(self.text, wanted, exact, self._fixed))

    def replace(self, term: _Term, probe: str) -> bool:
        """Put the wanted word where the translation of the term is; say whether it was found."""
        for rendering in _renderings(probe):
            if self._put(term, _places(self.text, rendering, exact=False)):
                return True
        for rendering in _renderings(probe):
            if len(rendering) >= 4 and script_of(rendering) in _INFLECTED and " " not in rendering:
                ending = re.compile(rf"(?<!\w){re.escape(rendering)}\w{{1,2}}(?!\w)", re.I)
                places = [match.span() for match in ending.finditer(self.text)]
                if len(places) == 1 and self._put(term, places):
                    return True
        return False

    def _put(self, term: _Term, places: list[tuple[int, int]]) -> bool:
        """Put a term at all places that are not fixed; say whether there were any."""
        text, fixed = "", bytearray()
        done = 0
        for start, end in places:
            if start < done or any(self._fixed[start:end]):
                continue
            word = _cased(term, self.text, start)
            form, after = _particle(term.wanted, self.text, end)
            text += self.text[done:start] + word + form
            fixed += self._fixed[done:start] + b"\1" * len(word) + bytes(len(form))
            done = after
        if not done:
            return False
        self.text, self._fixed = text + self.text[done:], fixed + self._fixed[done:]
        return True


def _renderings(probe: str) -> Iterator[str]:
    """Give what a term may look like inside a sentence, from its translation alone, best first."""
    bare = normalise(probe).strip(" .,;:!?…\"'“”„«»‘’¿¡()[]。、！？「」")
    found = [bare]
    article = _ARTICLE.match(bare)
    if article and script_of(bare) == "latin":
        found.append(bare[article.end() :])
    for cut in range(len(bare) - 1, max(1, len(bare) - 5), -1):  # 학생입니다: 학생
        if script_of(bare[cut:]) == "hangul" and _PARTICLES.fullmatch(bare, cut):
            found.append(bare[:cut])
    short = {"han", "hangul", "kana"}
    return (one for one in found if len(one) > 1 or (one and script_of(one) in short))


def _cased(term: _Term, text: str, start: int) -> str:
    """Begin a sentence with a capital where the word that stood there did."""
    wanted = term.wanted
    begins = _ENDS_SENTENCE.search(text[max(0, start - 8) : start])
    at_start = begins is not None and (start <= 8 or begins.start() > 0)
    if at_start and text[start].isupper() and wanted.islower() and not term.kept:
        return wanted[0].upper() + wanted[1:]
    return wanted


def _particle(word: str, text: str, after: int) -> tuple[str, int]:
    """Give the Korean particle behind a word in the form it demands, and where the old one ends."""
    match = _CHANGING.match(text, after)
    sound = _sound(word) if match else ""
    if match is None or not sound or match.lastgroup is None:
        return "", after
    return attach(sound, match.lastgroup)[len(sound) :], match.end()


def _sound(word: str) -> str:
    """Give a Hangul syllable that ends as a word does when it is read aloud; none if unknown."""
    last = next((char for char in reversed(word) if char.isalnum()), "")
    if "가" <= last <= "힣":
        return last
    if last.isascii() and last.isdigit():
        return "영일이삼사오육칠팔구"[int(last)]
    if not (last.isascii() and last.isalpha()):
        return ""
    if last in "lL" or (last == "R" and word.isupper()):
        return "엘"
    return "엔" if word.lower().rstrip(".)]\"'").endswith(("m", "n", "ng")) else "이"
