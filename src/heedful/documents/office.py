"""Files of word processors: .docx and .odt.

Both are zip files (`archive.py`) with XML inside (`paragraphs.py`), of which only the characters of
text are replaced: a program that could open the file can open the translation. Formatting within a
paragraph follows its words as far as the order of the runs allows.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from heedful.documents.archive import Archive
from heedful.documents.document import Document, DocumentError, has_letters
from heedful.documents.paragraphs import DOCX, ODT, Dialect, Part, Slot
from heedful.documents.projection import Align
from heedful.documents.runs import divide

__all__ = ["OpenText", "Word"]


@dataclass
class _Passage:
    """A text of a part, in stretches of one formatting each."""

    part: str
    stretches: list[list[Slot]]
    before: str = ""
    text: str = ""
    after: str = ""

    def __post_init__(self) -> None:
        whole = "".join(self.plain())
        self.text = whole.strip()
        self.before = whole[: len(whole) - len(whole.lstrip())]
        self.after = whole[len(whole.rstrip()) :] if self.text else ""

    def plain(self) -> list[str]:
        """Give the text of each stretch, on one line."""
        joined = ("".join(slot.text for slot in stretch) for stretch in self.stretches)
        return [re.sub(r"[\r\n\t]", " ", text) for text in joined]

    def fill(self, translation: str, align: Align | None) -> dict[int, str]:
        """Divide a translation among the slots; the first of a stretch gets all of it."""
        plain = self.plain()
        end = len(self.before) + len(self.text)
        cut, position = [], 0
        for text in plain:
            first, last = max(len(self.before), position), min(end, position + len(text))
            cut.append(text[first - position : max(last, first) - position])
            position += len(text)
        looks = [stretch[0].look for stretch in self.stretches]
        divided = divide(cut, translation, align, looks)
        divided[0] = self.before + divided[0]
        divided[-1] += self.after
        return {
            slot.start: text if slot is stretch[0] else ""
            for stretch, text in zip(self.stretches, divided, strict=True)
            for slot in stretch
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
        self._check(found)
        self._parts: dict[str, Part] = {}
        self._passages: list[_Passage] = []
        for name in [name for name in found if not name.startswith("META-INF/")]:
            part = self._parts[name] = Part(found[name], self.dialect, self.extension)
            for slots in part.passages:
                passage = _Passage(name, _stretches(slots))
                if has_letters(passage.text):
                    self._passages.append(passage)
                    self.texts.append(passage.text)

    def _check(self, parts: Mapping[str, bytes]) -> None:
        """Refuse what cannot be read although it can be unpacked."""

    def _write(self, translations: list[str], align: Align | None) -> bytes:
        changed: dict[str, dict[int, str]] = {}
        for passage, translation in zip(self._passages, translations, strict=True):
            if translation != passage.text:
                changed.setdefault(passage.part, {}).update(passage.fill(translation, align))
        return self._archive.replace(
            {name: self._parts[name].patch(texts) for name, texts in changed.items()}
        )


def _stretches(slots: list[Slot]) -> list[list[Slot]]:
    """Put neighbours of one formatting together."""
    found: list[list[Slot]] = []
    for slot in slots:
        last = found[-1][-1] if found else slot
        if found and (last.look, last.island) == (slot.look, slot.island):
            found[-1].append(slot)
        else:
            found.append([slot])
    return found


class Word(_Office):
    """A .docx file: the text itself, headers, footers and notes."""

    extension = ".docx"
    media_type = "application/vnd.openxmlformats-officedocument.wordprocessingml.document"
    dialect = DOCX
    main = re.compile(r"word/document\d*\.xml")
    wanted = re.compile(r"word/(?:(?:document|header|footer)\d*|footnotes|endnotes)\.xml")


class OpenText(_Office):
    """An .odt file: the text itself, and headers and footers, which are kept with the styles."""

    extension = ".odt"
    media_type = "application/vnd.oasis.opendocument.text"
    dialect = ODT
    main = re.compile(r"content\.xml")
    wanted = re.compile(r"content\.xml|styles\.xml|META-INF/manifest\.xml")

    def _check(self, parts: Mapping[str, bytes]) -> None:
        if b"encryption-data" in parts.get("META-INF/manifest.xml", b""):
            raise DocumentError(
                "the .odt file is encrypted; expected a plain .odt; save it without a password"
            )
