"""Subtitles: SubRip (.srt) and WebVTT (.vtt).

Numbers, times, styles and notes stay as they are. The lines of a cue are joined for translation,
since a sentence may span several, and broken again; each speaker of a dialogue is a text.
"""

from __future__ import annotations

import re
import unicodedata
from abc import abstractmethod
from bisect import bisect_left
from collections.abc import Iterator
from html import escape, unescape
from itertools import pairwise

from heedful.data.text import is_unspaced
from heedful.tasks.translation.documents.document import (
    LINE_BREAK,
    Document,
    DocumentError,
    has_letters,
    read_text,
)
from heedful.tasks.translation.documents.inline import Item, TaggedText
from heedful.tasks.translation.documents.projection import Align

WIDEST = 42
"""Columns of a line of subtitles, where a Hangul or Chinese character takes two."""

_TIME = re.compile(
    r"\s*(?:\d+:)?\d{1,2}:\d{2}[.,]\d{1,3}[ \t]*-->[ \t]*(?:\d+:)?\d{1,2}:\d{2}[.,]\d"
)
_TAG = re.compile(
    r"<(?P<close>/?)(?P<name>b|i|u|s|c|v|font|ruby|rt|lang)(?:[ \t.][^<>]{0,300})?>"
    r"|\{(?P<shut>/?)(?P<letter>[bius])\}"
    r"|<\d[\d:.]{3,16}>|\{\\[^{}]{0,300}\}",
    re.IGNORECASE,
)
_DASH = re.compile(r"\s*(?:<[^<>]{1,300}>|\{[^{}]{1,300}\})*[-–—‐](?:\s+|(?=[^\W\d_]))")
_PIECES = re.compile(r"(?:<[^<>]{1,300}>|\{[^{}]{1,300}\}|\S)+")
_CHARACTERS = re.compile(r"(?:<[^<>]{1,300}>|\{[^{}]{1,300}\})*(?:\S[、。，．！？」』）…]*|\s+|\Z)")


class _Speech:
    """One text of a cue: what stands before it, its lines, and the line ends between them."""

    def __init__(self, lines: list[str], ends: list[str], entities: bool) -> None:
        dash = _DASH.match(lines[0])
        self.before = dash[0] if dash else ""
        self._entities = entities
        self.lines = len(lines)
        self._end = ends[0] if ends else "\n"
        items = [*self._items(lines[0].removeprefix(self.before))]
        for end, line in zip(ends, lines[1:], strict=True):
            items += [Item("text", end, " "), *self._items(line)]
        self.tagged = TaggedText(items)
        self.raw = self.before + self.tagged.raw

    def _items(self, line: str) -> Iterator[Item]:
        start = 0
        for match in _TAG.finditer(line):
            yield self._text(line[start : match.start()])
            name = (match["name"] or match["letter"] or "").lower()
            if not name:
                yield Item("point", match[0])
            elif match["close"] or match["shut"]:
                yield Item("close", match[0], name=name)
            else:
                yield Item("open", match[0], name=name)
            start = match.end()
        yield self._text(line[start:])

    def _text(self, raw: str) -> Item:
        return Item("text", raw, unescape(raw) if self._entities else raw)

    def rebuild(self, translation: str, align: Align | None) -> str:
        if translation == self.tagged.text:
            return self.raw
        written = self.tagged.rebuild(translation, align, self._escape)
        return self.before + self._end.join(wrap(written, self.lines))

    def _escape(self, text: str) -> str:
        return escape(text, quote=False) if self._entities else text.replace("-->", "->")


class _Subtitles(Document):
    """What the two formats share: times, and below each the lines that are shown."""

    entities = False

    def __init__(self, data: bytes) -> None:
        super().__init__()
        content, self._encoding = read_text(data)
        pieces = LINE_BREAK.split(content)
        lines, ends = pieces[::2], [*pieces[1::2], ""]
        whole = [line + end for line, end in zip(lines, ends, strict=True)]
        times = [number for number, line in enumerate(lines) if _TIME.match(line)]
        self._check(content, times)
        self._parts: list[str | _Speech] = []
        done = 0
        for time, following in pairwise([*times, len(lines)]):
            for first, last in self._shown(lines, time + 1, following):
                self._parts += whole[done:first]
                self._add(lines[first:last], ends[first:last])
                done = last
        self._parts += whole[done:]

    def _add(self, lines: list[str], ends: list[str]) -> None:
        """Take the lines of a cue apart into speeches: one, or one for each dash."""
        starts = [number for number, line in enumerate(lines) if _DASH.match(line)]
        for first, last in pairwise(sorted({0, *starts, len(lines)})):
            speech = _Speech(lines[first:last], ends[first : last - 1], self.entities)
            if has_letters(speech.tagged.text):
                self._parts.append(speech)
                self.texts.append(speech.tagged.text)
            else:
                self._parts.append(speech.raw)
            self._parts.append(ends[last - 1])

    @abstractmethod
    def _check(self, content: str, times: list[int]) -> None:
        """Refuse a file of another format."""

    @abstractmethod
    def _shown(self, lines: list[str], first: int, last: int) -> Iterator[tuple[int, int]]:
        """Give the stretches of lines, up to the next time, that are shown to people."""

    def _write(self, translations: list[str], align: Align | None) -> bytes:
        rest = iter(translations)
        return self._encoding.encode(
            "".join(
                part if isinstance(part, str) else part.rebuild(next(rest), align)
                for part in self._parts
            )
        )


class SubRip(_Subtitles):
    """An .srt file: number, times, lines, and a blank line, over and over."""

    extension = ".srt"

    def _check(self, content: str, times: list[int]) -> None:
        if content.strip() and not times:
            raise DocumentError(
                "the .srt file has no line of times; expected lines such as "
                "00:00:01,000 --> 00:00:02,500; check what kind of file it is"
            )

    def _shown(self, lines: list[str], first: int, last: int) -> Iterator[tuple[int, int]]:
        if last < len(lines) and last > first and lines[last - 1].strip().isdigit():
            last -= 1  # the number of the next cue
        start = first
        for number in range(first, last + 1):
            if number == last or not lines[number].strip():
                if number > start:  # a blank line inside a cue is a mistake often made
                    yield start, number
                start = number + 1


class WebVtt(_Subtitles):
    """A .vtt file: like SubRip, with a heading, notes, styles and names of cues."""

    extension = ".vtt"
    entities = True

    def _check(self, content: str, times: list[int]) -> None:
        if not re.match(r"WEBVTT(?:[ \t\r\n]|\Z)", content):
            raise DocumentError(
                "the .vtt file does not begin with WEBVTT; expected WebVTT; "
                "name it .srt if it is SubRip"
            )

    def _shown(self, lines: list[str], first: int, last: int) -> Iterator[tuple[int, int]]:
        end = next((n for n in range(first, last) if not lines[n].strip()), last)
        if end > first:  # what comes behind a blank line is the name of the next cue, or a note
            yield first, end


def _width(piece: str) -> int:
    """Count columns; tags take none."""
    shown = _TAG.sub("", piece)
    return sum(
        (unicodedata.east_asian_width(char) in "WF") + 1
        for char in shown
        if unicodedata.category(char)[0] != "M"
    )


def wrap(text: str, lines: int) -> list[str]:
    """Break a text with tags into lines of about one length: so many, or more where it is long."""
    spaced = not is_unspaced(_TAG.sub("", text))
    pieces = (_PIECES if spaced else _CHARACTERS).findall(text)
    gap = int(spaced)
    widths = [_width(piece) for piece in pieces]
    total = sum(widths) + gap * max(len(widths) - 1, 0)
    count = max(1, min(lines, len(pieces)), -(-total // WIDEST))
    limits = range(max(widths, default=1), max(total, 1) + 1)
    best = bisect_left(limits, True, key=lambda limit: len(_fill(widths, limit, gap)) <= count)
    joined, start = [], 0
    for size in _fill(widths, limits[min(best, len(limits) - 1)], gap):
        joined.append((" " if spaced else "").join(pieces[start : start + size]).strip())
        start += size
    return joined or [""]


def _fill(widths: list[int], limit: int, gap: int) -> list[int]:
    """Give the number of pieces on each line, none wider than `limit` if it can be."""
    sizes: list[int] = []
    used = limit + 1
    for width in widths:
        if used + gap + width > limit:
            sizes.append(1)
            used = width
        else:
            sizes[-1] += 1
            used += gap + width
    return sizes
