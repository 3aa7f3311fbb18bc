"""The data doctor: what is wrong with a corpus, and which of its pairs to train on.

`examine` reads the text once and remembers numbers only (two hashes, two lengths, the scripts, a
code; 33 bytes a pair), decides from them when it has seen everything, and looks up examples at the
end. Wrongly decoded text is found in `mojibake.py`, the place where two files drift apart in
`drift.py`; the words of the report are in `findings.py`.
"""

from __future__ import annotations

import sys
from bisect import bisect_right
from collections.abc import Sequence
from hashlib import blake2b
from itertools import islice, pairwise
from struct import Struct

import numpy as np
from numpy.typing import NDArray

from heedful.data.findings import KINDS, Findings, Kind, Problem, Severity
from heedful.data.mojibake import broken
from heedful.data.text import SCRIPTS, normalise, scripts_in
from heedful.tasks.translation.reading import Progress, Source, UnequalLines
from heedful.tasks.translation.settings import DataSettings

__all__ = ["Findings", "examine"]

_CODES: dict[Kind, int] = {kind: code for code, kind in enumerate(KINDS, start=1)}
_OVER_LONG, _EMPTY = _CODES["over-long"], _CODES["empty-side"]
_BROKEN, _EQUAL = _CODES["broken-characters"], _CODES["equal-sides"]

_PLACES = 10
_SHOWN = 90
"""Characters of a side shown in an example."""
_EVERY = 5_000
"""Pairs between two reports of progress."""
_OWN = 0.2
"""A script belongs to a side of the corpus when this part of its lines is written in it."""
_SLACK = 3.0
"""Characters added to both lengths before they are compared: short lines vary more."""

_PACKED = Struct("=8s8sIIIIB")
_FACTS = np.dtype(
    [
        ("source hash", "=u8"),
        ("pair hash", "=u8"),
        ("lengths", "=u4", 2),
        ("scripts", "=u4", 2),
        ("code", "=u1"),
    ]
)
"""What is kept of each line; the code is the reason to drop it, or 0."""

Facts = NDArray[np.void]
Numbers = NDArray[np.uint32]
Codes = NDArray[np.uint8]
Lines = NDArray[np.intp]


def examine(
    sources: Sequence[Source],
    settings: DataSettings,
    dev: Sequence[Source] = (),
    test: Sequence[Source] = (),
    progress: Progress = lambda what, done, total: None,
) -> Findings:
    """Read the corpus once and say what is wrong with it, worst first, and what to train on.

    Each pair counts under one problem only, the first that fits in the order of `KINDS`, so that
    what is dropped adds up. Files of unequal length are a problem of severity "error" here; the
    lines up to the end of the shorter one are examined all the same.
    """
    problems: list[Problem] = []
    facts, starts = _read(sources, settings, problems, progress)
    lengths, scripts, codes = facts["lengths"], facts["scripts"], facts["code"].copy()
    noted: dict[Kind, Lines] = {}
    advice = {kind: said for kind, (_, said) in KINDS.items()}

    if not settings.drop_equal:
        noted["equal-sides"] = np.flatnonzero(codes == _EQUAL)
        codes[noted["equal-sides"]] = 0
    own = [_own_scripts(side, codes) for side in scripts.T]
    foreign = _foreign_lines(scripts, own, codes)
    if settings.drop_wrong_script:
        codes[foreign] = _CODES["wrong-script"]
    else:
        noted["wrong-script"] = foreign
    ratio = _middle_ratio(lengths, codes)
    codes[_uneven_lines(lengths, ratio, settings.max_ratio, codes)] = _CODES["length-ratio"]
    source_hashes, pair_hashes = facts["source hash"], facts["pair hash"]
    leaks: tuple[tuple[Kind, Sequence[Source]], ...] = (("leak-test", test), ("leak-dev", dev))
    for kind, known in leaks:
        others = _read(known, settings, problems)[0]
        others = others[~np.isin(others["code"], (_OVER_LONG, _EMPTY))]
        leaked = (codes == 0) & np.isin(source_hashes, others["source hash"])
        same = np.count_nonzero(np.isin(pair_hashes[leaked], others["pair hash"]))
        if same:
            advice[kind] = f"{same:,} with the same translation; {advice[kind]}"
        codes[leaked] = _CODES[kind]
    kept = np.flatnonzero(codes == 0)
    _, first = np.unique(pair_hashes[kept], return_index=True)
    codes[np.delete(kept, first)] = _CODES["duplicate"]
    distinct, counts = np.unique(source_hashes[codes == 0], return_counts=True)
    several = distinct[counts > 1]
    noted["many-translations"] = np.flatnonzero((codes == 0) & np.isin(source_hashes, several))

    found: list[tuple[Kind, Severity, Lines]] = []
    found += ((kind, "drop", np.flatnonzero(codes == code)) for kind, code in _CODES.items())
    found += ((kind, "note", lines) for kind, lines in noted.items())
    found = [problem for problem in found if len(problem[2])]
    examples = _examples(sources, starts, {int(lines[0]) for *_, lines in found})
    for kind, severity, lines in found:
        count = len(several) if kind == "many-translations" else len(lines)
        places = [_place(sources, starts, int(line)) for line in lines[:_PLACES]]
        example = examples[int(lines[0])]
        problems.append(Problem(kind, count, places, example, severity, advice[kind]))
    keep = codes == 0
    if not keep.any():
        problems.append(
            Problem("nothing-left", len(codes), [], "", "error", advice["nothing-left"])
        )
    return Findings(len(codes), problems, keep, ratio, own[0], own[1])


def _read(
    sources: Sequence[Source],
    settings: DataSettings,
    problems: list[Problem],
    progress: Progress = lambda what, done, total: None,
) -> tuple[Facts, list[int]]:
    """Read all lines; give their facts, and at which of them each source begins."""
    facts = bytearray()
    starts = []
    expected = sum(source.count_roughly() for source in sources)
    for source in sources:
        starts.append(len(facts) // _PACKED.size)
        try:
            for number, ours, theirs in source.pairs():
                facts += _facts_of(ours, theirs, settings.max_characters)
                if number % _EVERY == 0:
                    done = starts[-1] + number
                    progress("examining", done, max(expected, done + 1))
        except UnequalLines as error:
            count = abs(error.counts[0] - error.counts[1])
            place = [source.place(error.begins)] if error.begins else []
            problems.append(Problem("unequal-lines", count, place, "", "error", str(error)))
    read = np.frombuffer(facts, _FACTS)
    progress("examining", len(read), len(read))
    return read, starts


def _facts_of(source: str, target: str, longest: int) -> bytes:
    code = 0
    if len(source) > longest or len(target) > longest:
        code, source, target = _OVER_LONG, "", ""
    else:
        if broken(source) or broken(target):
            code = _BROKEN
        source, target = normalise(source), normalise(target)
        if not source or not target:
            code = _EMPTY
        elif not code and source == target:
            code = _EQUAL
    return _PACKED.pack(
        blake2b(source.encode(), digest_size=8).digest(),
        # Normalised text has no TAB, so different pairs give different strings.
        blake2b(f"{source}\t{target}".encode(), digest_size=8).digest(),
        len(source),
        len(target),
        scripts_in(source),
        scripts_in(target),
        code,
    )


def _own_scripts(scripts: Numbers, codes: Codes) -> int:
    """Give the scripts one side of the corpus is written in, as bits.

    There may be two: Japanese mixes kana and Han, and a corpus may join Serbian in both of its
    alphabets. What few lines are in is foreign.
    """
    lines = scripts[(codes == 0) & (scripts != 0)]
    counts = [np.count_nonzero(lines & (1 << bit)) for bit in range(len(SCRIPTS))]
    return sum(1 << bit for bit, count in enumerate(counts) if count > _OWN * len(lines))


def _foreign_lines(scripts: Numbers, own: Sequence[int], codes: Codes) -> Lines:
    foreign = np.zeros(len(codes), dtype=bool)
    for side, allowed in zip(scripts.T, own, strict=True):
        if allowed:
            foreign |= (side != 0) & (side & allowed == 0)
    return np.flatnonzero(foreign & (codes == 0))


def _middle_ratio(lengths: Numbers, codes: Codes) -> float:
    source, target = lengths[codes == 0].T
    return float(np.median(source / target)) if len(source) else 1.0


def _uneven_lines(lengths: Numbers, ratio: float, most: float, codes: Codes) -> Lines:
    ours = lengths[:, 0] + _SLACK
    theirs = lengths[:, 1] * ratio + _SLACK
    uneven = np.maximum(ours, theirs) > most * np.minimum(ours, theirs)
    return np.flatnonzero(uneven & (codes == 0))


def _place(sources: Sequence[Source], starts: list[int], line: int) -> str:
    which = bisect_right(starts, line) - 1
    return sources[which].place(line - starts[which] + 1)


def _examples(sources: Sequence[Source], starts: list[int], wanted: set[int]) -> dict[int, str]:
    """Read the wanted lines once more, each source only as far as needed."""
    found: dict[int, str] = {}
    for source, (start, stop) in zip(sources, pairwise([*starts, sys.maxsize]), strict=True):
        last = max((line for line in wanted if start <= line < stop), default=start - 1)
        for line, (_, ours, theirs) in enumerate(islice(source.pairs(), last + 1 - start), start):
            if line in wanted:
                found[line] = f'"{_shorten(ours)}" | "{_shorten(theirs)}"'
    return found


def _shorten(text: str) -> str:
    text = normalise(text[: 4 * _SHOWN])
    return text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
