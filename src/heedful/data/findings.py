"""What the data doctor says: kinds of problems, their words, and the report.

The finding itself is in `doctor.py`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from itertools import groupby
from pathlib import PurePath
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from heedful.data.text import SCRIPTS
from heedful.errors import DataError

Severity = Literal["error", "drop", "note"]

Kind = str
"""One of the names in `KINDS`."""

KINDS: dict[Kind, tuple[str, str]] = {
    "unequal-lines": ("lines more in one file than in the other", "mend the files"),
    "nothing-left": (
        "pairs and none left to train on",
        "look at the other problems and at the columns given",
    ),
    "over-long": ("lines too long to be sentences", "split them, or raise data.max_characters"),
    "empty-side": ("pairs with an empty side", "nothing to do, unless the columns are wrong"),
    "broken-characters": ("pairs with broken characters", "read the text in its right encoding"),
    "equal-sides": ("pairs with two equal sides", "translate them, or set data.drop_equal=false"),
    "wrong-script": (
        "pairs with a side in another script",
        "look whether sides are swapped, or set data.drop_wrong_script=false",
    ),
    "length-ratio": (
        "pairs of very different length",
        "look whether they are translations, or raise data.max_ratio",
    ),
    "leak-test": ("pairs whose source is in the test set", "keep test text out of training"),
    "leak-dev": ("pairs whose source is in the development set", "keep the sets apart"),
    "duplicate": ("repetitions of a pair", "nothing to do: the first of them is kept"),
    "many-translations": ("sources with several translations", "nothing to do: all are kept"),
}
"""Of each kind what it is and what to do about it; a pair counts under the first that fits."""

KOREAN: dict[Kind, str] = {
    "unequal-lines": "두 파일의 줄 수가 다름",
    "nothing-left": "학습할 쌍이 남지 않음",
    "over-long": "문장이라기에는 너무 긴 줄",
    "empty-side": "한쪽이 빈 쌍",
    "broken-characters": "글자가 깨진 쌍",
    "equal-sides": "양쪽이 같은 쌍",
    "wrong-script": "한쪽의 문자가 다른 쌍",
    "length-ratio": "길이가 크게 다른 쌍",
    "leak-test": "원문이 시험 세트에 있는 쌍",
    "leak-dev": "원문이 개발 세트에 있는 쌍",
    "duplicate": "되풀이된 쌍",
    "many-translations": "번역이 여럿인 원문",
}
"""Of each kind what it is, for the Korean page of a training."""

_SHOWN = 3
"""Places of a problem named in a line of text."""

_WORDS: dict[Severity, str] = {"error": "error", "drop": "dropped", "note": "note"}
"""Each severity in the report, worst first."""


@dataclass(frozen=True)
class Problem:
    """One kind of problem: how often, where first, what it looks like and what to do."""

    kind: Kind
    count: int
    lines: list[str]
    """The first places, as file:line."""
    example: str
    severity: Severity
    """error: training on this makes no sense; drop: left out of training; note: kept."""
    advice: str

    def text(self, places: str | None = None) -> list[str]:
        """Say it in a line, and the example in a second; `places` is `lines` as text, if made."""
        if places is None:
            places = told_places([(self.lines, self.count)])[0]
        what, rest = KINDS[self.kind][0].split(" ", 1)
        what = what.removesuffix("s") if self.count == 1 else what
        told = f"{_WORDS[self.severity]}: {self.count:,} {what} {rest}"
        if places:
            told += f" ({places})"
        first = f"{told}; {self.advice}"
        return [first, f"    {self.example}"] if self.example else [first]


def told_places(problems: Sequence[tuple[Sequence[str], int]]) -> list[str]:
    """Put the first places of each problem, as file:line, and its count into words.

    A file is named once for several lines; its folder is named once for all problems.
    """
    found = [[place.rpartition(":") for place in lines[:_SHOWN]] for lines, _ in problems]
    names = Counter(PurePath(file).name for file in {file for one in found for file, *_ in one})
    told, known = [], set()
    for places, (_, count) in zip(found, problems, strict=True):
        parts = []
        for file, group in groupby(places, key=lambda place: place[0]):
            name = PurePath(file).name
            short = file in known and names[name] == 1
            known.add(file)
            parts.append(f"{name if short else file}:{', '.join(line for *_, line in group)}")
        told.append("; ".join(parts) + (", ..." if parts and count > _SHOWN else ""))
    return told


def _names(scripts: int) -> list[str]:
    return [name for bit, name in enumerate(SCRIPTS) if scripts >> bit & 1]


@dataclass(frozen=True)
class Findings:
    """The whole examination; `keep` says of every line of every source whether to train on it."""

    pairs: int
    problems: list[Problem]
    keep: NDArray[np.bool_] = field(repr=False)
    ratio: float
    """Characters of the source for each of the target, in the middle of the corpus."""
    source_scripts: int
    """What the side is written in, as bits in order of `text.SCRIPTS`."""
    target_scripts: int

    def __post_init__(self) -> None:
        worst = list(_WORDS)
        self.problems.sort(key=lambda problem: (worst.index(problem.severity), -problem.count))

    @property
    def kept(self) -> int:
        """How many pairs are left to train on."""
        return int(np.count_nonzero(self.keep))

    @property
    def wrong(self) -> bool:
        """Whether training on this makes no sense."""
        return any(problem.severity == "error" for problem in self.problems)

    def raise_errors(self) -> None:
        """Refuse a corpus on which training makes no sense."""
        for problem in self.problems:
            if problem.severity == "error":
                raise DataError(
                    problem.advice
                    if problem.kind == "unequal-lines"
                    else f"no pair of {problem.count:,} can be trained on; {problem.advice}"
                )

    def lines(self) -> list[str]:
        """Put the report into plain text, worst first."""
        dropped = self.pairs - self.kept
        told = [f"{self.pairs:,} pairs: {self.kept:,} kept, {dropped:,} dropped"]
        places = told_places([(problem.lines, problem.count) for problem in self.problems])
        for problem, where in zip(self.problems, places, strict=True):
            told += problem.text(where)
        return told

    def to_json(self) -> str:
        """Put the report, without `keep`, into JSON."""
        facts = {
            "pairs": self.pairs,
            "kept": self.kept,
            "ratio": round(self.ratio, 4),
            "source_scripts": _names(self.source_scripts),
            "target_scripts": _names(self.target_scripts),
            "problems": [vars(problem) for problem in self.problems],
        }
        return json.dumps(facts, ensure_ascii=False, indent=2)
