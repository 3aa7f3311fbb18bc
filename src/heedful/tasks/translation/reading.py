"""From the files a person names to numbered pairs of lines.

A corpus is a list of sources: two aligned files, one TSV or one JSONL, each plain or .gz. A source
is read as a stream, as often as needed, and gives its lines as they are; what is wrong with them
is `doctor.py`'s to say, what is done to them `text.py`'s. Bytes become lines in `lines.py`.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path
from typing import Any, Literal

from heedful.data.languages import kind_of, separate_columns
from heedful.data.lines import count_roughly, open_text
from heedful.errors import DataError
from heedful.tasks.translation.drift import drift

Progress = Callable[[str, int, int], None]
"""Called with what is being done, the pairs done, and roughly how many there are."""

_USUAL_KEYS = (("source", "target"), ("src", "tgt"))
_SURROGATES = re.compile("[\ud800-\udfff]")


class UnequalLines(DataError):
    """Two files that should be aligned have different numbers of lines."""

    def __init__(self, paths: Sequence[Path], counts: tuple[int, int], begins: int | None) -> None:
        self.counts = counts
        self.begins = begins
        """The line around which they begin to drift apart, where the lengths tell."""
        shorter = min(counts)
        if begins is None:
            advice = "compare them from the top"
        elif begins > shorter:
            short = paths[counts.index(shorter)]
            advice = f"they agree as far as {short} goes: complete it or cut the other"
        else:
            advice = f"they seem to drift apart around line {begins:,}: look there"
        super().__init__(
            f"{paths[0]} has {counts[0]:,} lines and {paths[1]} has {counts[1]:,}; "
            f"expected as many in both; {advice}"
        )


@dataclass(frozen=True)
class Source:
    """One part of a corpus. Make them with `sources`, which decides what the files are."""

    kind: Literal["files", "tsv", "jsonl"]
    paths: tuple[Path, ...]
    columns: tuple[str, str] | None = None
    """Column numbers from 1 of a TSV, keys of a JSONL; the usual ones when None."""
    encoding: str = "utf-8"

    def pairs(self) -> Iterator[tuple[int, str, str]]:
        """Give line number, source and target, one by one, as they stand in the files.

        A line that has not both sides gives an empty one, so that every line is counted.
        """
        if self.kind == "files":
            return self._from_two_files()
        return self._from_tsv() if self.kind == "tsv" else self._from_jsonl()

    def count_roughly(self) -> int:
        """Estimate the number of pairs without reading them all."""
        return count_roughly(self.paths[0])

    def place(self, line: int) -> str:
        """Name a line as editors and compilers do."""
        return f"{self.paths[0]}:{line}"

    def _from_two_files(self) -> Iterator[tuple[int, str, str]]:
        ours, theirs = (open_text(path, self.encoding) for path in self.paths)
        number = 0
        for source, target in zip_longest(ours, theirs):
            if source is None or target is None:
                break
            number += 1
            yield number, source, target
        else:
            return
        longer = number + 1 + sum(1 for _ in (ours if target is None else theirs))
        counts = (longer, number) if target is None else (number, longer)
        again = [open_text(path, self.encoding) for path in self.paths]
        raise UnequalLines(self.paths, counts, drift(*again))

    def _from_tsv(self) -> Iterator[tuple[int, str, str]]:
        first, second = (int(column) - 1 for column in self.columns or ("1", "2"))
        last = max(first, second)
        for number, line in enumerate(open_text(self.paths[0], self.encoding), start=1):
            cells = line.split("\t", last + 1)
            cells += [""] * (last + 1 - len(cells))
            yield number, cells[first], cells[second]

    def _from_jsonl(self) -> Iterator[tuple[int, str, str]]:
        path = self.paths[0]
        keys: tuple[str, str] | None = None
        for number, line in enumerate(open_text(path, self.encoding), start=1):
            if not line.strip():
                yield number, "", ""
                continue
            try:
                record = json.loads(line)
            except ValueError as error:
                raise DataError(
                    f"{path}:{number} is not JSON ({error}); expected one object a line; "
                    f"mend or remove the line"
                ) from None
            fields = _fields(record)
            if keys is None:
                keys = _choose_keys(path, number, fields, self.columns)
            yield number, _string(fields.get(keys[0])), _string(fields.get(keys[1]))


def _fields(record: Any) -> dict[str, Any]:
    """Give the sentences' table, which some data sets keep under "translation"."""
    if not isinstance(record, dict):
        return {}
    inner = record.get("translation")
    return inner if isinstance(inner, dict) else record


def _string(value: Any) -> str:
    # JSON can spell half of a character; it can be neither hashed nor written as UTF-8
    return _SURROGATES.sub("\ufffd", value) if isinstance(value, str) else ""


def _choose_keys(
    path: Path, number: int, fields: dict[str, Any], wanted: tuple[str, str] | None
) -> tuple[str, str]:
    found = [key for key, value in fields.items() if isinstance(value, str)]
    shown = ", ".join(found) or "none"
    if wanted is not None:
        missing = [key for key in wanted if key not in found]
        if missing:
            raise DataError(
                f"{path}:{number} has no text under the key {missing[0]!r}; it has {shown}; "
                f"name two of them, such as {path.name}:source,target"
            )
        return wanted
    for usual in _USUAL_KEYS:
        if set(usual) <= set(found):
            return usual
    if len(found) == 2:
        return found[0], found[1]
    raise DataError(
        f"{path}:{number} has {len(found)} keys with text ({shown}); expected two; "
        f"name them, such as {path.name}:source,target"
    )


def sources(
    paths: Sequence[Path], columns: tuple[str, str] | None = None, encoding: str = "utf-8"
) -> list[Source]:
    """Decide by their names what the files are.

    .tsv and .jsonl hold both sides, and say which columns after a colon (`bible.tsv:3,2`) where
    they differ from `columns`; other files come two by two, source and target. Every file is
    opened once, so that a missing one is told before any work is done.
    """
    if not paths:
        raise DataError("no files given; expected two text files, or a .tsv or a .jsonl; name them")
    result: list[Source] = []
    given = map(separate_columns, paths)
    for path, own in given:
        kind = kind_of(path)
        if kind == "files":
            other, _ = next(given, (None, None))
            if other is None or kind_of(other) != "files":
                raise DataError(
                    f"target missing for {path}; expected text files two by two, source and "
                    f"target; add the other file, or name one that holds both .tsv or .jsonl"
                )
            result.append(Source("files", (path, other), None, encoding))
        else:
            chosen = own or columns
            if kind == "tsv" and chosen:
                _check_numbers(path, chosen)
            result.append(Source(kind, (path,), chosen, encoding))
    for source in result:
        for path in source.paths:
            open_text(path, encoding)
    return result


def _check_numbers(path: Path, columns: tuple[str, str]) -> None:
    for column in columns:
        if not re.fullmatch("[1-9][0-9]{0,3}", column):
            raise DataError(
                f"{path} has no column {column!r}; expected a number from 1; "
                f"write {path.name}:1,2 for the first two"
            )
