"""Growth: time and memory against the length, the batch, the layers and the corpus."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.captions import invented
from benchmarks.contest import Entry, contest, spread, table
from benchmarks.sizes import Amounts

USUAL = 20
"""Pieces of a sentence, and rows of a batch, where another thing grows."""

CHILD = """
import resource, sys, time
from pathlib import Path
from heedful.verbs.train import Request, train
begun = time.time()
settings = {"train": {"steps": 20, "evaluate_every": 20, "average": 1}}
files = tuple(Path(p) for p in sys.argv[1:3])
train(Request(files=files, output=Path(sys.argv[3]), source="en", target="fr", settings=settings))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
print(f"{time.time() - begun:.0f} {peak:.2f}")
"""


def points(amounts: Amounts) -> Iterator[tuple[str, list[tuple[int, dict[str, Any]]]]]:
    """Name what grows, and give the points at which it is measured."""
    usual = {
        "sizes": amounts.decoding,
        "vocabulary": amounts.pieces,
        "rows": USUAL,
        "length": USUAL,
    }
    yield (
        "pieces of a sentence, one sentence",
        [(n, usual | {"length": n, "rows": 1}) for n in amounts.lengths],
    )
    yield f"sentences of {USUAL} pieces", [(n, usual | {"rows": n}) for n in amounts.rows]
    deeper = [amounts.decoding | {"encoder_layers": n, "decoder_layers": n} for n in amounts.layers]
    yield (
        f"layers on each side, {USUAL} sentences of {USUAL} pieces",
        [(s["encoder_layers"], usual | {"sizes": s}) for s in deeper],
    )


def run(amounts: Amounts, rates: list[float]) -> Iterator[str]:
    """Measure each point in a process of its own, the points of a table in turn."""
    yield (
        "A training step (forward, backward, Adam) and a greedy translation into as many pieces, "
        f"on torch. Memory is what the process came to hold beyond the most that loading the model "
        f"took; training's includes 32 MB of dropout masks, made once. Median (least-most) of "
        f"{amounts.growing_rounds} rounds."
    )
    for what, places in points(amounts):
        columns: list[list[str]] = []
        for kind in ("train", "decode"):
            entries = [
                Entry(str(n), "ours", "grower", {"kind": kind, **options}) for n, options in places
            ]
            found, measured = contest(entries, amounts.growing_rounds)
            rates += measured
            columns += _columns(entries, found)
            for entry in entries:
                entry.close()
        yield ""
        heads = [what, "step, s", "memory, MB", "translation, s", "memory, MB"]
        names = [f"{n:,}" for n, _ in places]
        yield from table(heads, zip(names, *columns, strict=True), left=0)
    yield ""
    yield from corpora(amounts.lines)


def _columns(
    entries: Sequence[Entry], found: dict[str, list[float]]
) -> tuple[list[str], list[str]]:
    times, sizes = [], []
    for entry in entries:
        seconds = found.get(entry.name, [])
        times.append(spread(seconds) if seconds else entry.absent)
        grown = (entry.last["peak"] - entry.facts["before"]) / 2**20 if seconds else 0.0
        sizes.append(f"{grown:,.0f}" if seconds else "")
    return times, sizes


def corpora(lines: Sequence[int]) -> Iterator[str]:
    """Prepare corpora and take twenty steps, each in another process."""
    rows = []
    for count in lines:
        with tempfile.TemporaryDirectory() as folder:
            paths = write(count, Path(folder))
            done = subprocess.run(
                [sys.executable, "-c", CHILD, *map(str, paths), str(Path(folder) / "model")],
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                rows.append([f"{count:,}", f"failed: {done.stderr.strip().splitlines()[-1]}", ""])
                continue
            rows.append([f"{count:,}", *done.stdout.split()[-2:]])
    heads = ["lines of a corpus", "prepared and 20 steps taken, s", "most memory, GB"]
    yield from table(heads, rows, left=0)


def write(pairs: int, folder: Path) -> tuple[Path, Path]:
    """Write invented sentences, each made another by a number of its own: none is dropped."""
    paths = folder / "big.en", folder / "big.fr"
    for path, seed in zip(paths, (7, 8), strict=True):
        with path.open("w", encoding="utf-8") as file:
            for number, sentence in enumerate(invented(pairs, seed)):
                file.write(f"{sentence} {number}\n")
    return paths
