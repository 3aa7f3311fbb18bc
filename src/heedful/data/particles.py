"""Korean particles: which form a noun takes, by the end of its last syllable."""

from __future__ import annotations

PARTICLES = {
    "topic": ("은", "는"),
    "subject": ("이", "가"),
    "object": ("을", "를"),
    "and": ("과", "와"),
    "by": ("으로", "로"),
}
"""The form after a consonant and the form after a vowel."""

RIEUL = 8
"""ㄹ among the 28 possible ends of a syllable."""

_FIRST = ord("가")
_CODAS = 28


def coda(word: str) -> int:
    """Give the number of the consonant that ends the last syllable; 0 where a vowel does."""
    return (ord(word[-1]) - _FIRST) % _CODAS


def ends_in_consonant(word: str) -> bool:
    """Whether the last syllable is closed."""
    return coda(word) != 0


def attach(word: str, particle: str) -> str:
    """Put a particle on a noun, in the form its last sound demands; ㄹ takes 로, not 으로."""
    closed, opened = PARTICLES[particle]
    if particle == "by" and coda(word) == RIEUL:
        return word + opened
    return word + (closed if ends_in_consonant(word) else opened)
