"""Tags put back into a translation, each around what its words became.

The tree of tags is made in `inline.py`; where words went is known in `projection.py`. Whatever the
alignment says, tags within tags stay within them and no two ever cross.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

from heedful.data.text import one_word
from heedful.tasks.translation.documents.projection import (
    Projection,
    Span,
    disjoint,
    is_punctuation,
)


@dataclass
class Node:
    """A tag over the source: an element with an end, an untouched atom, or a single point."""

    kind: Literal["element", "atom", "point"]
    raw: str
    start: int
    end: int
    close: str = ""
    text: str = ""
    behind: bool = False
    """Whether a point belongs to the word before it, as a closing tag does."""
    children: list[Node] = field(default_factory=list)


_Placed = tuple[int, int, Node, Span]
"""The characters a node gets in the translation, the node, and its tokens."""


class Reinsertion:
    """A translation being written with its tags; `parts` is what is written so far."""

    def __init__(self, projection: Projection, escape: Callable[[str], str], ordered: bool) -> None:
        self.parts: list[str] = []
        self._projection, self._escape, self._ordered = projection, escape, ordered
        self._searched: dict[str, int] = {}

    def write(self, nodes: list[Node], outer: Span, within: Span, limits: Span) -> None:
        """Write the characters `limits` of the translation, with the tags that go into them."""
        cursor = limits[0]
        for start, end, node, tokens in self._arrange(nodes, outer, within, limits):
            start, end = max(start, cursor), max(end, cursor)
            self.parts.append(self._escape(self._projection.target[cursor:start]))
            self.parts.append(node.raw)
            if node.kind == "element":
                self.write(node.children, (node.start, node.end), tokens, (start, end))
                self.parts.append(node.close)
            cursor = end
        self.parts.append(self._escape(self._projection.target[cursor : limits[1]]))

    def _arrange(self, nodes: list[Node], outer: Span, within: Span, limits: Span) -> list[_Placed]:
        """Give each node its characters, in the order in which they are written."""
        spans: list[Span] = []
        facts: list[tuple[Span | None, bool]] = []
        for node in nodes:
            if node.kind == "point":
                continue
            found = self._verbatim(node.text, limits) if node.kind == "atom" else None
            if found:
                tokens, known = self._projection.touched(found, within), True
            else:
                tokens, known = self._projection.project((node.start, node.end), outer, within)
            spans.append(tokens)
            facts.append((found, known))
        settled = zip(disjoint(spans), facts, strict=True)
        result: list[_Placed] = []
        for node in nodes:
            if node.kind == "point":
                place = self._point(node, outer, within, limits)
                result.append((place, place, node, within))
                continue
            tokens, (found, known) = next(settled)
            start, end = self._trimmed(node, tokens)
            if node.kind == "atom":
                first, last = found or (start, end)
                if not known or not start <= first <= last <= end:
                    first = last = start  # nothing is known to stand for it: nothing is replaced
                start, end = first, last
            start = min(max(start, limits[0]), limits[1])
            result.append((start, min(max(end, start), limits[1]), node, tokens))
        if self._ordered:
            return _kept_in_order(result)
        return sorted(result, key=lambda one: one[0])

    def _point(self, node: Node, outer: Span, within: Span, limits: Span) -> int:
        if node.start <= outer[0]:
            return limits[0]
        if node.start >= outer[1]:
            return limits[1]
        token = self._projection.point(node.start, outer, within)
        if node.behind and token > within[0]:
            place = self._projection.characters((token - 1, token))[1]
        elif token < within[1]:
            place = self._projection.characters((token, token))[0]
        else:
            place = limits[1]
        return min(max(place, limits[0]), limits[1])

    def _trimmed(self, node: Node, tokens: Span) -> Span:
        """Leave punctuation at the edges out of a tag that had none there."""
        start, end = self._projection.characters(tokens)
        target, source = self._projection.target, self._projection.source[node.start : node.end]
        places = range(start, end)
        first = next((at for at in places if not _is_edge(target[at])), None)
        last = next((at for at in reversed(places) if not _is_edge(target[at])), None)
        if not source or first is None or last is None:
            return start, end
        begin = start if is_punctuation(source[0]) else first
        return begin, end if is_punctuation(source[-1]) else last + 1

    def _verbatim(self, text: str, limits: Span) -> Span | None:
        """Find the next place where the translation has the text of an atom."""
        target = self._projection.target
        start = max(self._searched.get(text, 0), limits[0])
        spelled = re.compile(re.escape(text), re.IGNORECASE)
        for match in spelled.finditer(target, start, limits[1]):
            start, end = match.span()
            before = target[start - 1] if start else ""
            if not (one_word(before, text[0]) or one_word(text[-1], target[end : end + 1])):
                self._searched[text] = end
                return start, end
        return None


def _is_edge(char: str) -> bool:
    return char.isspace() or is_punctuation(char)


def _kept_in_order(placed: list[_Placed]) -> list[_Placed]:
    """Move points so that none stands behind a tag that it stood before."""
    ceiling = placed[-1][1] if placed else 0
    result = []
    for start, end, node, tokens in reversed(placed):
        if node.kind == "point":
            start = end = min(start, ceiling)
        ceiling = start
        result.append((start, end, node, tokens))
    return result[::-1]
