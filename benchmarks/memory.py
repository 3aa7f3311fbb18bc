"""Preparing a large corpus: seconds, and the most memory it takes, in a process of its own."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

PAIRS = (100_000, 1_000_000, 5_000_000)

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


def write(pairs: int, folder: Path) -> tuple[Path, Path]:
    """Write generated sentences, as many as asked for; each is made longer by a number of its own.

    The grammar repeats itself now and then, and repetitions would be dropped.
    """
    from heedful.data.grammar import generate

    paths = folder / "big.en", folder / "big.fr"
    with paths[0].open("w", encoding="utf-8") as en, paths[1].open("w", encoding="utf-8") as fr:
        for number, sentence in zip(range(pairs), generate(7), strict=False):
            en.write(f"{sentence.en} {number}\n")
            fr.write(f"{sentence.fr} {number}\n")
    return paths


def run() -> Iterator[str]:
    """Write generated pairs, then prepare them and take twenty steps, in another process."""
    yield "| pairs | seconds to the end of 20 steps | most resident memory, GB |"
    yield "| ---: | ---: | ---: |"
    for pairs in PAIRS:
        with tempfile.TemporaryDirectory() as folder:
            paths = write(pairs, Path(folder))
            done = subprocess.run(
                [sys.executable, "-c", CHILD, *map(str, paths), str(Path(folder) / "model")],
                capture_output=True,
                text=True,
                check=True,
            )
            seconds, peak = done.stdout.split()[-2:]
            yield f"| {pairs:,} | {seconds} | {peak} |"
