"""What a word is, before any sentence: the records of the lexicon and the marks of grammar.

The words themselves are in `lexicon.py`, their inflection in `english.py`, `french.py` and
`korean.py`. They import this file and never each other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum, IntEnum, auto


class Tense(Enum):
    """The three simple tenses."""

    PRESENT = auto()
    PAST = auto()
    FUTURE = auto()


class Agreement(IntEnum):
    """Person, number and gender of a subject, as fine as French needs them."""

    JE = 0
    TU = 1
    IL = 2
    ELLE = 3
    NOUS = 4
    ILS = 5
    ELLES = 6

    @property
    def number(self) -> int:
        """Which form an adjective takes: 0 masculine, 1 feminine, 2 and 3 their plurals."""
        return (0, 0, 0, 1, 2, 2, 3)[self]

    @property
    def person(self) -> int:
        """Which of the five forms (je, tu, il, nous, ils) a French verb takes."""
        return (0, 1, 2, 2, 3, 4, 4)[self]

    @property
    def third(self) -> bool:
        """Whether an English verb takes its -s."""
        return self in (Agreement.IL, Agreement.ELLE)


class Mood(Enum):
    """What a Korean verb's ending does: state, ask, join with and/but, report, modify a noun."""

    STATE = auto()
    ASK = auto()
    AND = auto()
    BUT = auto()
    REPORT = auto()
    MODIFY = auto()


@dataclass(frozen=True)
class Stem:
    """A Korean verb or adjective by its three principal parts; every ending follows from them.

    `plain` stands before a consonant (걷-고), `open` where an ending begins with 으 (걸으-ㄴ),
    `vowel` is the 아/어 form (걸어-서). Writing them out keeps irregular stems free of rules.
    """

    plain: str
    open: str
    vowel: str
    verb: bool = True
    modifier: str = ""
    """The present form before a noun where it is not the regular one (맛있는, 새)."""


@dataclass(frozen=True, eq=False)
class Noun:
    """A thing with its name in three languages; `kind` says what may be said of it."""

    en: str
    en_plural: str
    fr: str
    fr_plural: str
    feminine: bool
    ko: str
    counter: str
    kind: str
    fr_woman: str = ""
    """For a profession: what a woman is called who has it."""


@dataclass(frozen=True, eq=False)
class Adjective:
    """A quality; `fr` holds masculine, feminine and their plurals."""

    en: str
    more: str
    """The English comparative, or nothing where comparing would be odd."""
    fr: tuple[str, str, str, str]
    fr_vowel: str
    """The form before a vowel (bel) of one that stands before its noun, else nothing."""
    ko: Stem
    kinds: frozenset[str]
    """The kinds of noun it may stand beside (the red book)."""
    said_of: frozenset[str]
    """The kinds of noun it may be said of (the book is red)."""
    ko_other: Stem
    other_kinds: frozenset[str]
    """Korean says 늙은 of the living and 오래된 of things where English says old of both."""

    def stem(self, kind: str) -> Stem:
        """Give the Korean word for this quality of this kind of noun."""
        return self.ko_other if kind in self.other_kinds else self.ko


@dataclass(frozen=True)
class EnglishVerb:
    """The three forms simple tenses need."""

    base: str
    third: str
    past: str


@dataclass(frozen=True)
class FrenchVerb:
    """A French verb by what cannot be derived; `state` makes its past an imparfait.

    The present is given for je, tu, il, nous and ils: "dors dors dort dormons dorment".
    """

    infinitive: str
    present: str
    future: str
    participle: str
    etre: bool = False
    state: bool = False


@dataclass(frozen=True, eq=False)
class Verb:
    """An action: its three names, who may do it and to what."""

    en: EnglishVerb
    fr: FrenchVerb
    ko: Stem
    agents: tuple[Noun, ...]
    objects: tuple[Noun, ...] = ()

    @property
    def lemma(self) -> str:
        """The name used in pairs."""
        return self.en.base


@dataclass(frozen=True, eq=False)
class Determiner:
    """An article, demonstrative, possessive or numeral, of one number.

    `fr` holds masculine, feminine and the form of each before a vowel, with the space or the
    apostrophe that follows. `ko_count` is the numeral of what Korean counts rather than names.
    """

    en: str
    plural: bool
    fr: tuple[str, str, str, str]
    ko: str
    ko_count: str = ""
