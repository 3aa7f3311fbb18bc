"""HTML taken apart into the texts to translate, and put together again with every tag in place.

Block elements separate texts; inline tags stay inside theirs and are put back by `inline.py`.
What is not text comes back byte for byte. The scanner is our own: the one of the standard library
needs time in the square of the length for hostile input, and cannot give back what it read.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from html import escape, unescape
from typing import Literal

from heedful.tasks.translation.documents.document import has_letters
from heedful.tasks.translation.documents.inline import LONGEST_ATOM, Item, TaggedText
from heedful.tasks.translation.documents.projection import Align

Token = tuple[Literal["text", "open", "close", "raw", "other"], str, str]
"""Kind, name of the tag in small letters, and the token as it is written."""


def _names(text: str) -> frozenset[str]:
    return frozenset(text.split())


_INLINE = _names(
    "a abbr acronym b bdi bdo big br cite data del dfn em font i img ins mark nobr picture q rp rt "
    "ruby s small source span strike strong sub sup time tt u wbr"
)
_INLINE_UNTOUCHED = _names("code kbd samp var svg math")
_UNTOUCHED = _INLINE_UNTOUCHED | _names(
    "script style pre textarea template iframe noembed noframes xmp object audio video"
)
_UNSPOKEN = frozenset({"svg", "math"})
_VOID = _names("area base br col embed hr img input link meta param source track wbr")
_BREAKING = frozenset({"br", "img"})
_WITHOUT_TAGS = _names("script style textarea title xmp iframe noembed noframes")

_CONSTRUCT = re.compile(r"<(?:/?[a-zA-Z]|[!?]|/)")
_NAME = re.compile(r"[^ \t\n\r\f/>]+")
_TAG_STEP = re.compile(r"[^>=]*(?:=[ \t\n\r\f]*)?")
_COMMENT_END = re.compile(r"--!?>")
_ATTRIBUTE = re.compile(r"([^\s\"'<>/=]+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'=<>`]+)))?")


def scan(html: str) -> Iterator[Token]:
    """Give the tokens of any string, in time in proportion to it; together they are the string.

    Follows the states of the HTML standard as far as they decide where a token ends.
    """
    start = position = 0
    while True:
        match = _CONSTRUCT.search(html, position)
        if match is None:
            break
        kind, name, end = _construct(html, match)
        if end < 0:
            position = match.end()
            continue
        if match.start() > start:
            yield "text", "", html[start : match.start()]
        yield kind, name, html[match.start() : end]
        start = position = end
        if kind == "open" and name in _WITHOUT_TAGS:
            close = re.compile(rf"</{name}(?=[ \t\n\r\f/>])", re.IGNORECASE).search(html, end)
            start = position = close.start() if close else len(html)
            if start > end:
                yield ("text" if name == "title" else "raw"), "", html[end:start]
        elif kind == "open" and name == "plaintext":
            yield "raw", "", html[end:]
            return
    if start < len(html):
        yield "text", "", html[start:]


def _construct(
    html: str, match: re.Match[str]
) -> tuple[Literal["open", "close", "other"], str, int]:
    """Give kind, name and end of what begins with this "<"; an unclosed one takes all the rest."""
    start, begin = match.start(), match[0]
    if begin[-1].isalpha():
        first = match.end() - 1
        word = _NAME.match(html, first)
        assert word is not None
        end = _tag_end(html, word.end())
        if end < 0:
            return "other", "", len(html)
        return ("close" if begin[1] == "/" else "open"), word[0].lower(), end
    if html.startswith("<!--", start):
        if html.startswith((">", "->"), start + 4):
            return "other", "", html.index(">", start) + 1
        comment = _COMMENT_END.search(html, start + 4)
        return "other", "", comment.end() if comment else len(html)
    if begin == "</" and match.end() == len(html):
        return "other", "", -1  # two last characters are text
    end = html.find(">", match.end())
    return "other", "", end + 1 if end >= 0 else len(html)


def _tag_end(html: str, position: int) -> int:
    """Find the end of a tag, passing over ">" in quoted values; -1 where it has none."""
    while True:
        step = _TAG_STEP.match(html, position)
        assert step is not None
        position = step.end()
        char = html[position : position + 1]
        if not char:
            return -1
        if char == ">":
            return position + 1
        if char in "\"'":  # a value begins; anywhere else a quote is a character like others
            position = html.find(char, position + 1) + 1
            if position == 0:
                return -1


class Markup:
    """A page: its texts, and everything between them."""

    def __init__(self, html: str) -> None:
        self.texts: list[str] = []
        """What is to be translated, in the order of the page."""
        self._parts: list[str | TaggedText] = []
        self._items: list[Item] = []
        untouched: list[Token] = []
        name, depth = "", 0
        for token in scan(html):
            kind, tag, raw = token
            if depth:
                untouched.append(token)
                if tag == name and not _closes_itself(tag, raw):
                    depth += (kind == "open") - (kind == "close")
                if not depth:
                    self._leave(untouched)
                    untouched = []
            elif kind == "open" and tag not in _VOID and (tag in _UNTOUCHED or _is_kept(raw)):
                if _closes_itself(tag, raw):
                    self._leave([token])
                else:
                    name, depth, untouched = tag, 1, [token]
            else:
                self._read(kind, tag, raw)
        if untouched:
            self._flush()
            self._parts.extend(raw for _, _, raw in untouched)
        self._flush()

    def _read(self, kind: str, tag: str, raw: str) -> None:
        if kind == "text":
            self._items.append(Item("text", raw, unescape(raw)))
        elif tag in _INLINE:
            if tag in _BREAKING:
                self._items.append(Item("break", raw))
            elif tag in _VOID:
                self._items.append(Item("point", raw))
            else:
                self._items.append(Item("open" if kind == "open" else "close", raw, name=tag))
        elif kind == "other" and raw.startswith("<!--"):
            self._items.append(Item("point", raw))
        else:
            self._flush()
            self._parts.append(raw)

    def _leave(self, tokens: list[Token]) -> None:
        """Keep an element as it is: inside its text if it is inline, else between texts."""
        raw = "".join(part for _, _, part in tokens)
        tag = tokens[0][1]
        if tag not in _INLINE and tag not in _INLINE_UNTOUCHED:
            self._flush()
            self._parts.append(raw)
            return
        text = "".join(part for kind, _, part in tokens if kind == "text")
        text = " ".join(unescape(text).split())
        if tag in _UNSPOKEN or len(text) > LONGEST_ATOM:
            text = ""
        self._items.append(Item("atom", raw, text))

    def _flush(self) -> None:
        """End the text that was being read; one without a letter is not worth translating."""
        items, self._items = self._items, []
        if any(item.kind == "text" and has_letters(item.text) for item in items):
            tagged = TaggedText(items)
            self._parts.append(tagged)
            self.texts.append(tagged.text)
        else:
            self._parts.extend(item.raw for item in items)

    def rebuild(self, translations: Sequence[str], align: Align | None = None) -> str:
        """Give the page with the translations of its `texts`; they are text and come out escaped.

        `align` says which words of a text became which; without it tags stand where they stood.
        """
        if len(translations) != len(self.texts):
            raise ValueError(f"{len(translations)} translations of {len(self.texts)} texts")
        rest = iter(translations)
        return "".join(
            part if isinstance(part, str) else part.rebuild(next(rest), align, _escape)
            for part in self._parts
        )


def _escape(text: str) -> str:
    return escape(text, quote=False)


def _closes_itself(tag: str, raw: str) -> bool:
    """Whether `/>` ends an element; in HTML itself it says nothing."""
    return tag in _UNSPOKEN and raw.endswith("/>")


def _is_kept(tag: str) -> bool:
    """Whether a tag says that its element is not to be translated."""
    if "translate" not in tag.lower():
        return False
    for match in _ATTRIBUTE.finditer(tag):
        name = match[1].lower()
        value = (match[2] or match[3] or match[4] or "").lower()
        if name == "translate" and value.strip() == "no":
            return True
        if name == "class" and "notranslate" in value.split():
            return True
    return False
