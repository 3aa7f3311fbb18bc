"""Span projection: where a part of a text is in its translation.

A word alignment says which words became which; without one, what stood a third of the way in stands
there again. Nothing here knows what is projected: `reinsertion.py` puts back tags, `runs.py` fills
the runs of a word processor.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from heedful.data.text import is_unspaced

Align = Callable[[str, str], list[tuple[int, int]]]
"""Pairs of source word and target word, counted from 0, of words separated by spaces."""
Span = tuple[int, int]
"""Begin and end, of characters or of tokens."""

_WORD = re.compile(r"\S+")


def is_punctuation(char: str) -> bool:
    """Whether a character only goes along with the word it stands at."""
    return unicodedata.category(char)[0] == "P"


def _words(text: str) -> list[Span]:
    return [match.span() for match in _WORD.finditer(text)]


def _characters(text: str) -> list[Span]:
    """Give the characters of text without spaces, each with its combining marks."""
    found: list[Span] = []
    for index, char in enumerate(text):
        if found and unicodedata.category(char)[0] == "M":
            found[-1] = (found[-1][0], index + 1)
        elif not char.isspace():
            found.append((index, index + 1))
    return found


class Projection:
    """A text and its translation, and the links between their words.

    `tokens` are what tags can stand between in the translation: its words, or its characters where
    it is written without spaces. Spans of the source are in characters.
    """

    def __init__(self, source: str, target: str, align: Align | None = None) -> None:
        self.source, self.target = source, target
        spaced = not is_unspaced(target)
        self.tokens = _words(target) if spaced else _characters(target)
        self._starts = [start for start, _ in self.tokens]
        self._ends = [end for _, end in self.tokens]
        self.words = _words(source)
        """Where the words of the source are."""
        self._word_ends = [end for _, end in self.words]
        self.links: list[list[int]] | None = None
        """Of each word of the source, the tokens linked to it; None without an alignment."""
        if align is not None and spaced and not is_unspaced(source):
            self.links = self._linked(align)
        linked = {token for tokens in self.links or () for token in tokens}
        counts = (token in linked for token in range(len(self.tokens)))
        self._linked_before = list(accumulate(counts, initial=0))

    def _linked(self, align: Align) -> list[list[int]] | None:
        """Get the alignment; one that fails or is empty is as good as none."""
        links: list[list[int]] = [[] for _ in self.words]
        try:
            for word, token in set(align(self.source, self.target)):
                if 0 <= word < len(links) and 0 <= token < len(self.tokens):
                    links[word].append(token)
        except Exception:  # whatever the aligner fails with, the text must come back
            return None
        return links if any(links) else None

    def project(self, part: Span, outer: Span, within: Span) -> tuple[Span, bool]:
        """Give the tokens a part of the source became, and whether the alignment says so.

        `outer` is the part of the source around it, `within` the tokens that stand for that.
        """
        found = self._by_alignment(part, within)
        return (found, True) if found else (self._by_proportion(part, outer, within), False)

    def _by_alignment(self, part: Span, within: Span) -> Span | None:
        """Give the stretch with most tokens linked to the part less those linked elsewhere."""
        if self.links is None:
            return None
        low, high = within
        tokens = sorted({t for w in self._covered(part) for t in self.links[w] if low <= t < high})
        if not tokens:
            return None
        begin, score = tokens[0], 1
        best, best_score = (begin, begin + 1), 1
        for before, token in pairwise(tokens):
            foreign = self._linked_before[token] - self._linked_before[before + 1]
            if score <= foreign:
                begin, score = token, 1
            else:
                score += 1 - foreign
            if score > best_score:
                best, best_score = (begin, token + 1), score
        return best

    def _covered(self, part: Span) -> list[int]:
        """Give the words of which a part covers half or more; the one it touches if there is none.

        Half, since a Korean noun with its particle is one word, and a tag covers the noun only.
        """
        start, end = part
        first = bisect_left(self._word_ends, start + 1)
        touched, half = [], []
        for number in range(first, len(self.words)):
            begins, ends = self.words[number]
            if begins >= end:
                break
            touched.append(number)
            if 2 * (min(end, ends) - max(start, begins)) >= ends - begins:
                half.append(number)
        return half or touched[:1]

    def _by_proportion(self, part: Span, outer: Span, within: Span) -> Span:
        if within[0] >= within[1]:
            return within[0], within[0]
        left, right = self._starts[within[0]], self._ends[within[1] - 1]
        scale = (right - left) / max(outer[1] - outer[0], 1)
        first = _nearest(self._starts, left + (part[0] - outer[0]) * scale, within)
        last = _nearest(self._ends, left + (part[1] - outer[0]) * scale, within)
        return first, max(last, first) + 1

    def point(self, offset: int, outer: Span, within: Span) -> int:
        """Give the token before which something stands that stood at `offset` in the source."""
        if offset <= outer[0] or within[0] >= within[1]:
            return within[0]
        if offset >= outer[1]:
            return within[1]
        word = bisect_left(self._word_ends, offset + 1)
        if self.links is not None:
            for number, last in ((word, False), (word - 1, True)):
                tokens = self.links[number] if 0 <= number < len(self.links) else []
                inside = [token for token in tokens if within[0] <= token < within[1]]
                if inside:
                    return max(inside) + 1 if last else min(inside)
        if word < len(self.words):  # between two words: where the second one begins
            offset = max(offset, self.words[word][0])
        return self._by_proportion((offset, offset), outer, within)[0]

    def touched(self, characters: Span, within: Span) -> Span:
        """Give the tokens that some characters touch; one at least."""
        last = max(bisect_left(self._starts, characters[1], *within) - 1, within[0])
        return min(bisect_right(self._ends, characters[0], *within), last), last + 1

    def characters(self, tokens: Span) -> Span:
        """Give the characters of some tokens, without the spaces around them."""
        first, last = tokens
        if first < last:
            return self._starts[first], self._ends[last - 1]
        place = self._starts[first] if first < len(self.tokens) else len(self.target)
        return place, place


def _nearest(values: list[int], wanted: float, within: Span) -> int:
    low, high = within
    right = min(max(bisect_left(values, wanted, low, high), low), high - 1)
    left = max(right - 1, low)
    return left if wanted - values[left] <= values[right] - wanted else right


def disjoint(spans: Sequence[Span]) -> list[Span]:
    """Shorten spans until no two overlap, so that tags never cross; none is lost.

    One that leaves no room for another gives some up; what finds no room at all becomes empty.
    """
    result = list(spans)
    order = sorted(range(len(spans)), key=lambda i: (sum(spans[i]), i))
    floor = 0  # nothing begins before the end of what is settled
    for before, after in pairwise(order):
        first, last = result[before]
        start, end = result[after]
        if last > start:  # they overlap: the earlier one ends where the later one begins
            cut = start if start > first else last
            if cut >= end and last - first > 1:
                cut = (first + last) // 2
            cut = min(cut, last)
            result[before] = (first, max(cut, first))
            start, end = max(start, cut), max(end, cut)
        floor = max(floor, result[before][1])
        result[after] = (max(start, floor), max(end, floor))
    return result
