"""Where the parts of a text are in its translation.

An alignment says which words became which; without one, what stood a third of the way in stands
there again. Nothing here knows what is placed: tags are written by `reinsertion.py`, the runs of a word
processor are filled by `runs.py`.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_left
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise

from heedful.data.text import script_of

__all__ = ["Align", "Placement", "Range", "disjoint", "is_punctuation", "is_unspaced"]

Align = Callable[[str, str], list[tuple[int, int]]]
"""Pairs of source word and target word, counted from 0, of words separated by spaces."""
Range = tuple[int, int]

_UNSPACED = {"han", "kana", "thai", "khmer"}
_WORD = re.compile(r"\S+")


def is_punctuation(char: str) -> bool:
    """Whether a character only goes along with the word it stands at."""
    return unicodedata.category(char)[0] == "P"


def is_unspaced(text: str) -> bool:
    """Whether a text is in a script that puts no spaces between words."""
    return script_of(text) in _UNSPACED


def _words(text: str) -> list[Range]:
    return [match.span() for match in _WORD.finditer(text)]


def _characters(text: str) -> list[Range]:
    """Give what can stand by itself in text without spaces: characters with their marks."""
    found: list[Range] = []
    for index, char in enumerate(text):
        if found and unicodedata.category(char)[0] == "M":
            found[-1] = (found[-1][0], index + 1)
        elif not char.isspace():
            found.append((index, index + 1))
    return found


class Placement:
    """A text over its translation.

    `units` are the places in the translation between which something can be put: its words, or
    its characters where it is written without spaces. Ranges of the source are in characters.
    """

    def __init__(self, source: str, target: str, align: Align | None = None) -> None:
        self.source, self.target = source, target
        spaced = not is_unspaced(target)
        self.units = _words(target) if spaced else _characters(target)
        self._starts = [start for start, _ in self.units]
        self._ends = [end for _, end in self.units]
        self.words = _words(source)
        """Where the words of the source are."""
        self._word_ends = [end for _, end in self.words]
        usable = align is not None and spaced and not is_unspaced(source)
        self.ties = self._ask(align) if align is not None and usable else None
        """Of each word of the source, the units tied to it; None where nothing is known."""
        tied = {unit for units in self.ties or () for unit in units}
        counts = (unit in tied for unit in range(len(self.units)))
        self._tied_before = list(accumulate(counts, initial=0))

    def _ask(self, align: Align) -> list[list[int]] | None:
        """Get the alignment; one that fails or says nothing is as good as none."""
        ties: list[list[int]] = [[] for _ in self.words]
        try:
            for word, unit in set(align(self.source, self.target)):
                if 0 <= word < len(ties) and 0 <= unit < len(self.units):
                    ties[word].append(unit)
        except Exception:  # whatever an aligner dies of, the text must come back
            return None
        return ties if any(ties) else None

    @property
    def aligned(self) -> bool:
        """Whether words may change their order here."""
        return self.ties is not None

    def place(self, part: Range, outer: Range, room: Range) -> tuple[Range, bool]:
        """Give the units a part of the source became, and whether the alignment says so.

        `outer` is the part of the source around it, `room` the units that stand for that.
        """
        found = self._by_alignment(part, room)
        return (found, True) if found else (self._by_proportion(part, outer, room), False)

    def _by_alignment(self, part: Range, room: Range) -> Range | None:
        """Give the stretch with most units tied to the part against those tied elsewhere."""
        if self.ties is None:
            return None
        units = sorted(
            {u for w in self._covered(part) for u in self.ties[w] if room[0] <= u < room[1]}
        )
        if not units:
            return None
        begin, score = units[0], 1
        best, best_score = (begin, begin + 1), 1
        for before, unit in pairwise(units):
            foreign = self._tied_before[unit] - self._tied_before[before + 1]
            if score <= foreign:
                begin, score = unit, 1
            else:
                score += 1 - foreign
            if score > best_score:
                best, best_score = (begin, unit + 1), score
        return best

    def _covered(self, part: Range) -> list[int]:
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

    def _by_proportion(self, part: Range, outer: Range, room: Range) -> Range:
        if room[0] >= room[1]:
            return room[0], room[0]
        left, right = self._starts[room[0]], self._ends[room[1] - 1]
        scale = (right - left) / max(outer[1] - outer[0], 1)
        first = self._nearest(self._starts, left + (part[0] - outer[0]) * scale, *room)
        last = self._nearest(self._ends, left + (part[1] - outer[0]) * scale, *room)
        return first, max(last, first) + 1

    @staticmethod
    def _nearest(values: list[int], wanted: float, low: int, high: int) -> int:
        right = min(max(bisect_left(values, wanted, low, high), low), high - 1)
        left = max(right - 1, low)
        return left if wanted - values[left] <= values[right] - wanted else right

    def point(self, offset: int, outer: Range, room: Range) -> int:
        """Give the unit before which something stands that stood at `offset` in the source."""
        if offset <= outer[0] or room[0] >= room[1]:
            return room[0]
        if offset >= outer[1]:
            return room[1]
        word = bisect_left(self._word_ends, offset + 1)
        if self.ties is not None:
            for number, last in ((word, False), (word - 1, True)):
                units = self.ties[number] if 0 <= number < len(self.ties) else []
                inside = [unit for unit in units if room[0] <= unit < room[1]]
                if inside:
                    return max(inside) + 1 if last else min(inside)
        if word < len(self.words):  # between two words: where the second one begins
            offset = max(offset, self.words[word][0])
        return self._by_proportion((offset, offset), outer, room)[0]

    def characters(self, units: Range) -> Range:
        """Give the characters of some units, without the spaces around them."""
        first, last = units
        if first < last:
            return self._starts[first], self._ends[last - 1]
        place = self._starts[first] if first < len(self.units) else len(self.target)
        return place, place


def disjoint(ranges: Sequence[Range]) -> list[Range]:
    """Shorten ranges until no two overlap, so that tags never cross; none is lost.

    One that leaves no room for another gives some up; what finds no room at all becomes empty.
    """
    result = list(ranges)
    order = sorted(range(len(ranges)), key=lambda i: (sum(ranges[i]), i))
    floor = 0  # nothing begins before the end of what is settled
    for before, after in pairwise([-1, *order]):
        start, end = result[after]
        if before >= 0:
            first, last = result[before]
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
