"""Files of word processors: .docx and .odt.

Both are zip files (`archive.py`) with XML inside (`paragraphs.py`), of which only the characters of
text are replaced: a program that could open the file can open the translation. Formatting within a
paragraph follows its words as far as the order of the runs allows.
"""

from __future__ import annotations

import re
from itertools import groupby

from heedful.tasks.translation.documents.archive import Archive
from heedful.tasks.translation.documents.document import (
    Document,
    DocumentError,
    has_letters,
    strip_spaces,
)
from heedful.tasks.translation.documents.paragraphs import DOCX, ODT, Dialect, Part, Slot
from heedful.tasks.translation.documents.projection import Align
from heedful.tasks.translation.documents.runs import divide


class _Segment:
    """A text of a part, in runs of one format each; each run is the slots that hold its text."""

    def __init__(self, part: str, slots: list[Slot]) -> None:
        self.part = part
        self._runs = [list(run) for _, run in groupby(slots, key=lambda s: (s.format, s.group))]
        joined = ("".join(slot.text for slot in run) for run in self._runs)
        self._plain = [re.sub(r"[\r\n\t]", " ", text) for text in joined]
        self._before, self.text, self._behind = strip_spaces("".join(self._plain))

    def fill(self, translation: str, align: Align | None) -> dict[int, str]:
        """Divide a translation among the slots; the first of a run gets all of it."""
        begin = len(self._before)
        end = begin + len(self.text)
        cut, position = [], 0
        for text in self._plain:
            first, last = max(begin - position, 0), max(end - position, 0)
            cut.append(text[first:last])
            position += len(text)
        divided = divide(cut, translation, align, [run[0].format for run in self._runs])
        divided[0] = self._before + divided[0]
        divided[-1] += self._behind
        return {
            slot.start: text if slot is run[0] else ""
            for run, text in zip(self._runs, divided, strict=True)
            for slot in run
        }


class _Office(Document):
    """A zip file with paragraphs in some of its parts."""

    dialect: Dialect
    wanted: re.Pattern[str]
    main: re.Pattern[str]

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self._archive = Archive(data, self.extension, self.wanted)
        found = self._archive.parts
        if not any(self.main.fullmatch(name) for name in found):
            raise DocumentError(
                f"the {self.extension} file has no document inside; expected a {self.extension}; "
                f"check what kind of file it is"
            )
        if b"encryption-data" in found.pop("META-INF/manifest.xml", b""):
            raise DocumentError(
                f"the {self.extension} file is encrypted; expected a plain {self.extension}; "
                f"save it without a password"
            )
        self._parts: dict[str, Part] = {}
        self._segments: list[_Segment] = []
        for name, content in found.items():
            part = self._parts[name] = Part(content, self.dialect, self.extension)
            for slots in part.segments:
                segment = _Segment(name, slots)
                if has_letters(segment.text):
                    self._segments.append(segment)
                    self.texts.append(segment.text)

    def _write(self, translations: list[str], align: Align | None) -> bytes:
        changed: dict[str, dict[int, str]] = {}
        for segment, translation in zip(self._segments, translations, strict=True):
            if translation != segment.text:
                changed.setdefault(segment.part, {}).update(segment.fill(translation, align))
        return self._archive.replace(
            {name: self._parts[name].patch(texts) for name, texts in changed.items()}
        )


class Word(_Office):
    """A .docx file: the text itself, headers, footers and notes."""

    extension = ".docx"
    dialect = DOCX
    main = re.compile(r"word/document\d*\.xml")
    wanted = re.compile(r"word/(?:(?:document|header|footer)\d*|footnotes|endnotes)\.xml")


class OpenText(_Office):
    """An .odt file: the text itself, and headers and footers, which are kept with the styles."""

    extension = ".odt"
    dialect = ODT
    main = re.compile(r"content\.xml")
    wanted = re.compile(r"content\.xml|styles\.xml|META-INF/manifest\.xml")
