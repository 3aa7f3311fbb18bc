"""Marks written into a translation, each around the words that its words became.

The tree of marks is made in `inline.py`; where words went is known in `projection.py`. Whatever the
alignment says, marks within marks stay within them and no two ever cross.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from heedful.data.text import script_of
from heedful.documents.projection import Placement, Range, disjoint, is_punctuation

__all__ = ["Node", "Weaver"]


@dataclass
class Node:
    """A mark over the source: an element with an end, an untouched atom, or a single point."""

    kind: Literal["element", "atom", "point"]
    raw: str
    start: int
    end: int
    close: str = ""
    text: str = ""
    behind: bool = False
    """Whether a point belongs to the word before it, as a closing tag does."""
    children: list[Node] = field(default_factory=list)


class Weaver:
    """The translation being written, mark by mark."""

    def __init__(self, placement: Placement, escape: Callable[[str], str], ordered: bool) -> None:
        self.parts: list[str] = []
        self._placement, self._escape, self._ordered = placement, escape, ordered
        self._searched: dict[str, int] = {}

    def write(self, nodes: list[Node], outer: Range, room: Range, limits: Range) -> None:
        """Write the characters `limits` of the translation, with the marks that go into them."""
        cursor = limits[0]
        for start, end, node, units in self._arrange(nodes, outer, room, limits):
            start, end = max(start, cursor), max(end, cursor)
            self.parts.append(self._escape(self._placement.target[cursor:start]))
            self.parts.append(node.raw)
            if node.kind == "element":
                self.write(node.children, (node.start, node.end), units, (start, end))
                self.parts.append(node.close)
            cursor = end
        self.parts.append(self._escape(self._placement.target[cursor : limits[1]]))

    def _arrange(
        self, nodes: list[Node], outer: Range, room: Range, limits: Range
    ) -> list[tuple[int, int, Node, Range]]:
        """Give each mark its characters, in the order in which they are written."""
        wide = [node for node in nodes if node.kind != "point"]
        exact: dict[int, Range] = {}
        wanted: list[Range] = []
        sure: list[bool] = []
        for node in wide:
            found = self._verbatim(node.text, limits) if node.kind == "atom" else None
            if found is not None:
                exact[id(node)] = found
                wanted.append(self._units_of(found, room))
                sure.append(True)
            else:
                units, aligned = self._placement.place((node.start, node.end), outer, room)
                wanted.append(units)
                sure.append(aligned)
        placed = {
            id(node): (units, certain)
            for node, units, certain in zip(wide, disjoint(wanted), sure, strict=True)
        }
        result: list[tuple[int, int, Node, Range]] = []
        for node in nodes:
            if node.kind == "point":
                place = self._point(node, outer, room, limits)
                result.append((place, place, node, room))
                continue
            units, certain = placed[id(node)]
            start, end = self._trimmed(node, units)
            if node.kind == "atom":
                inner = exact.get(id(node), (start, end))
                if not certain or not start <= inner[0] <= inner[1] <= end:
                    inner = (start, start)  # nothing is known to stand for it: nothing is replaced
                start, end = inner
            start = min(max(start, limits[0]), limits[1])
            result.append((start, min(max(end, start), limits[1]), node, units))
        if self._ordered:
            return _kept_in_order(result)
        return sorted(result, key=lambda one: one[0])

    def _point(self, node: Node, outer: Range, room: Range, limits: Range) -> int:
        if node.start <= outer[0]:
            return limits[0]
        if node.start >= outer[1]:
            return limits[1]
        unit = self._placement.point(node.start, outer, room)
        if node.behind and unit > room[0]:
            place = self._placement.characters((unit - 1, unit))[1]
        else:
            place = self._placement.characters((unit, unit))[0] if unit < room[1] else limits[1]
        return min(max(place, limits[0]), limits[1])

    def _trimmed(self, node: Node, units: Range) -> Range:
        """Leave punctuation at the edges out of a mark that had none there."""
        start, end = self._placement.characters(units)
        target, source = self._placement.target, self._placement.source[node.start : node.end]
        if not source:
            return start, end
        if not is_punctuation(source[-1]):
            stop = end
            while stop > start and _is_edge(target[stop - 1]):
                stop -= 1
            end = stop if stop > start else end
        if not is_punctuation(source[0]):
            begin = start
            while begin < end and _is_edge(target[begin]):
                begin += 1
            start = begin if begin < end else start
        return start, end

    def _units_of(self, characters: Range, room: Range) -> Range:
        units = self._placement.units
        inside = [n for n in range(*room) if units[n][0] < characters[1]]
        last = inside[-1] if inside else room[0]
        first = last
        while first > room[0] and units[first - 1][1] > characters[0]:
            first -= 1
        return first, last + 1

    def _verbatim(self, text: str, limits: Range) -> Range | None:
        """Find the next place where the translation has an untouched piece."""
        target = self._placement.target
        start = max(self._searched.get(text, 0), limits[0])
        spelled = re.compile(re.escape(text), re.IGNORECASE)
        for match in spelled.finditer(target, start, limits[1]):
            start, end = match.span()
            before = target[start - 1] if start else ""
            if not (_one_word(before, text[0]) or _one_word(text[-1], target[end : end + 1])):
                self._searched[text] = end
                return start, end
        return None


def _is_edge(char: str) -> bool:
    return char.isspace() or is_punctuation(char)


def _one_word(left: str, right: str) -> bool:
    """Whether two characters side by side belong to one word; a Korean particle is another."""
    return left.isalnum() and right.isalnum() and script_of(left) == script_of(right)


def _kept_in_order(
    marks: list[tuple[int, int, Node, Range]],
) -> list[tuple[int, int, Node, Range]]:
    """Move points so that none stands behind a mark that it stood before."""
    ceiling = marks[-1][1] if marks else 0
    result = []
    for start, end, node, units in reversed(marks):
        if node.kind == "point":
            start = end = min(start, ceiling)
        ceiling = start
        result.append((start, end, node, units))
    return result[::-1]
