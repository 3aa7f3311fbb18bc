"""A text with inline tags: taken out for translation, put back around the same words.

The tags may be those of HTML, of subtitles or of Markdown; whoever reads a format makes `Item`s of
it. Here they become a tree of tags over plain text; `reinsertion.py` writes the tags into the
translation, nested as they were and each exactly once.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

from heedful.tasks.translation.documents.projection import Align, Projection
from heedful.tasks.translation.documents.reinsertion import Node, Reinsertion

DEEPEST = 24
"""Tags within tags that follow their words; those further inside just keep their order."""
ATOMS = 16
"""Atoms of one text that are looked for in its translation."""
LONGEST_ATOM = 40
"""Characters of an atom up to which the model sees it; a longer one would mislead it."""

_LEADING = re.compile(r"(?:\s|&nbsp;|&#160;|&#[xX][aA]0;)+")
_TRAILING = re.compile(r"(?:\s|;psbn&|;061#&|;0[aA][xX]#&)+")  # of a text turned round


@dataclass(frozen=True)
class Item:
    """What stands in a text, as it was written, one after the other.

    A `break` is a point that separates words, as a line break does; an `atom` has text that must
    come back as it is.
    """

    kind: Literal["text", "open", "close", "point", "break", "atom"]
    raw: str
    text: str = ""
    name: str = ""


class TaggedText:
    """One text and the tags in it."""

    def __init__(self, items: Sequence[Item]) -> None:
        self.raw = "".join(item.raw for item in items)
        """All of it as it was written."""
        self._nodes: list[Node] = []
        self._has_inner = False  # whether any tag begins or ends within the text
        self._ordered = False  # whether tags must keep their order, since some have no partner
        self.text = self._read(_without_edges(items))
        """The text alone, with single spaces."""

    def _read(self, items: Sequence[Item]) -> str:
        """Build the tree of tags over the text."""
        paired, self._ordered = _pair(items)
        words: list[str] = []
        length, gap, atoms = 0, False, 0  # gap: a space stands before whatever comes next

        def add(text: str) -> int:
            nonlocal length, gap
            gap = gap or text[0].isspace()
            if joined := " ".join(text.split()):
                if gap and length:
                    words.append(" ")
                    length += 1
                words.append(joined)
                length += len(joined)
                gap = text[-1].isspace()
            return length - len(joined)

        children = self._nodes
        around: list[tuple[Node, int, list[Node]]] = []
        found: list[Node] = []
        for index, item in enumerate(items):
            if item.kind == "text" and item.text:
                add(item.text)
                continue
            if item.kind == "close" and index in paired:
                node, first, children = around.pop()
                node.end, node.close = length, item.raw
                if node.end == node.start:  # nothing to see in it: it moves as one
                    node.kind, node.children, node.close = "point", [], ""
                    node.raw = "".join(one.raw for one in items[first : index + 1])
                continue
            node = Node("point", item.raw, length, length, behind=item.kind == "close")
            children.append(node)
            found.append(node)
            if item.kind == "open" and index in paired:
                node.kind = "element"
                around.append((node, index, children))
                children = node.children
            elif item.kind == "atom" and item.text and atoms < ATOMS:
                atoms += 1
                node.kind, node.text = "atom", item.text
                node.start = add(item.text)
                node.end = length
            else:
                gap = gap or item.kind == "break"
        text = "".join(words)
        for node in found:
            if node.kind == "element":  # it begins where its first word does
                node.start += text[node.start] == " "
        edges = {edge for node in found for edge in (node.start, node.end)}
        self._has_inner = bool(edges - {0, len(text)})
        return text

    def rebuild(self, translation: str, align: Align | None, escape: Callable[[str], str]) -> str:
        """Give the translation with all tags in it; a text left as it was comes back unchanged."""
        if translation == self.text:
            return self.raw
        translation = translation.strip()
        asked = align if self._has_inner and not self._ordered else None
        projection = Projection(self.text, translation, asked)
        output = Reinsertion(projection, escape, self._ordered)
        tokens = (0, len(projection.tokens))
        output.write(self._nodes, (0, len(self.text)), tokens, (0, len(translation)))
        return "".join(output.parts)


def _without_edges(items: Sequence[Item]) -> list[Item]:
    """Make points of the spaces before and behind all that can be read, so that they stay."""
    visible = [index for index, item in enumerate(items) if item.text.strip()]
    first, last = (visible[0], visible[-1]) if visible else (len(items), -1)
    result: list[Item] = []
    for index, item in enumerate(items):
        raw, text = item.raw, item.text
        if item.kind != "text":
            result.append(item)
            continue
        if not first <= index <= last:
            result.append(Item("point", raw))
            continue
        if index == first and (spaces := _LEADING.match(raw)):
            result.append(Item("point", spaces[0]))
            raw, text = raw[spaces.end() :], text.lstrip()
        end = len(raw)
        if index == last and (spaces := _TRAILING.match(raw[::-1])):
            end -= spaces.end()
            text = text.rstrip()
        result.append(Item("text", raw[:end], text))
        if end < len(raw):
            result.append(Item("point", raw[end:]))
    return result


def _pair(items: Sequence[Item]) -> tuple[set[int], bool]:
    """Find the tags that open and close within the text, none of them crossing another.

    Also says whether any could not be paired; then all tags must keep their order.
    """
    paired: set[int] = set()
    opened: list[int] = []
    count: dict[str, int] = {}
    alone = False
    for index, item in enumerate(items):
        if item.kind == "open":
            opened.append(index)
            count[item.name] = count.get(item.name, 0) + 1
        elif item.kind == "close":
            if not count.get(item.name):
                alone = True
                continue
            while True:
                first = opened.pop()
                name = items[first].name
                count[name] -= 1
                if name == item.name:
                    break
                alone = True
            if len(opened) < DEEPEST:
                paired |= {first, index}
            else:
                alone = True
    return paired, alone or bool(opened)
