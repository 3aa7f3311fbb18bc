"""French inflection: elision, contraction, agreement, conjugation, negation and clitics."""

from __future__ import annotations

from heedful.data.grammar.words import Agreement, FrenchVerb, Tense

_VOWELS = frozenset("aeiouâàéèêîïôûœhy")
"""Every h of the lexicon is mute (homme, hôpital, horloge, heureux), so it counts as a vowel."""

_ELIDING = frozenset({"je", "me", "te", "le", "la", "ne", "de", "que"})


def starts_with_vowel(word: str) -> bool:
    """Whether a word makes the one before it lose its vowel."""
    return word[0] in _VOWELS


def join(small: str, rest: str) -> str:
    """Put a small word before another, with an apostrophe where French wants one."""
    if small in _ELIDING and starts_with_vowel(rest):
        return f"{small[:-1]}'{rest}"
    return f"{small} {rest}"


_CONTRACTED = {"à": ("au", "aux"), "de": ("du", "des")}


def contract(preposition: str, phrase: str) -> str:
    """Put a preposition before a noun phrase: au, aux, à la, à l'; du, des, de la, d'un."""
    first, _, rest = phrase.partition(" ")
    if preposition in _CONTRACTED and first in ("le", "les"):
        return f"{_CONTRACTED[preposition][first == 'les']} {rest}"
    return join(preposition, phrase)


def plural(word: str) -> str:
    """Give the plural of a noun or a masculine adjective."""
    if word.endswith(("s", "x")):
        return word
    if word.endswith("eau"):
        return word + "x"
    if word.endswith("al"):
        return word[:-1] + "ux"
    return word + "s"


def forms(masculine: str, feminine: str = "") -> tuple[str, str, str, str]:
    """Give the four forms of an adjective or participle; what is not said is regular."""
    feminine = feminine or (masculine if masculine.endswith("e") else masculine + "e")
    return masculine, feminine, plural(masculine), plural(feminine)


def regular(infinitive: str, *, etre: bool = False, state: bool = False) -> FrenchVerb:
    """Give a verb in -er; `acheter`, `envoyer` and their like are written out in the lexicon."""
    assert infinitive.endswith("er"), f"{infinitive} is not regular: write it out"
    stem = infinitive[:-2]
    soft = stem + "e" if stem.endswith("g") else stem
    present = f"{stem}e {stem}es {stem}e {soft}ons {stem}ent"
    return FrenchVerb(infinitive, present, infinitive, stem + "é", etre, state)


ETRE = FrenchVerb("être", "suis es est sommes sont", "ser", "été", state=True)
AVOIR = FrenchVerb("avoir", "ai as a avons ont", "aur", "eu", state=True)

_FUTURE = ("ai", "as", "a", "ons", "ont")
_IMPERFECT = ("ais", "ais", "ait", "ions", "aient")


def simple(verb: FrenchVerb, tense: Tense, who: Agreement) -> str:
    """Give a form of one word: present, imparfait or future."""
    present = verb.present.split()
    if tense is Tense.PRESENT:
        return present[who.person]
    if tense is Tense.FUTURE:
        return verb.future + _FUTURE[who.person]
    stem = "ét" if verb is ETRE else present[3].removesuffix("ons")
    return stem + _IMPERFECT[who.person]


def assemble(head: str, tail: str, negative: bool, who: Agreement, clitic: str = "") -> str:
    """Build a verb group: subject je, ne, clitic, the verb that bends, pas, the rest.

    The pronoun je is part of the group because it elides with whatever follows it; every other
    subject is put before the group by the clause.
    """
    core = join(clitic, head) if clitic else head
    if negative:
        core = join("ne", core) + " pas"
    if who is Agreement.JE:
        core = join("je", core)
    return f"{core} {tail}" if tail else core


def finite(
    verb: FrenchVerb,
    tense: Tense,
    negative: bool,
    who: Agreement,
    clitic: str = "",
    ahead: int = 0,
) -> str:
    """Give the verb group of a clause.

    `ahead` is the form of a direct object that stands before the verb, as a clitic or as the
    head of a relative clause: the participle agrees with it (la lettre qu'il a écrite).
    """
    if tense is not Tense.PAST or verb.state:
        return assemble(simple(verb, tense, who), "", negative, who, clitic)
    auxiliary = ETRE if verb.etre else AVOIR
    participle = forms(verb.participle)[who.number if verb.etre else ahead]
    return assemble(simple(auxiliary, Tense.PRESENT, who), participle, negative, who, clitic)
