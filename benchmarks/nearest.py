"""Translation's simple thing, the nearest training sentence: how good, how fast and how large.

The pairs are Multi30k's where `HEEDFUL_DATA` has them. More of them are made by putting the first
half of one pair before the second half of another, so that words and n-grams are as usual as they
are. Each number of pairs is fitted in a process of its own and opened in another.
"""

from __future__ import annotations

import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise
from pathlib import Path

from benchmarks import machine
from benchmarks.captions import invented, part
from benchmarks.contest import table
from benchmarks.sizes import Amounts
from heedful import metrics
from heedful.tasks.translation.nearest import SIZES, NearestSentence

DIRECTIONS = (("de", "en"), ("en", "de"), ("en", "fr"))
Pair = tuple[str, str]


def run(amounts: Amounts, rates: list[float]) -> Iterator[str]:
    """Choose and score in both directions, then measure against the number of pairs."""
    rates.append(machine.rate())
    yield (
        "The size of the n-grams is chosen by BLEU on development pairs, of which 500 are taken; "
        "the last columns are of the test set, `test_2016_flickr`. All seconds are of one "
        "processor's time, the choice among the sizes included."
    )
    yield ""
    heads = ["pairs", *(f"{n}-grams, dev" for n in sorted(SIZES))]
    heads += ["test BLEU", "chrF", "fit, s", "answers, s"]
    yield from table(heads, [quality(*direction, amounts) for direction in DIRECTIONS])
    yield ""
    yield (
        f"German to English against the number of pairs, and {amounts.sentences:,} questions. "
        f"Fitting takes the making of the pairs in (about 5 s a million); the memory is the most a "
        f"process came to hold, torch in it (200 MB)."
    )
    yield ""
    rows = [costs(count, amounts.sentences) for count in (amounts.pairs, amounts.lines[-1])]
    heads = ["pairs", "fit, s", "save, s", "on disk, MB", "open, s", "answers, s", "memory, MB"]
    yield from table(heads, rows, left=0)


def read(name: str, source: str, target: str, count: int) -> list[Pair]:
    """Read a part of Multi30k, or invent one."""
    sides = [part(f"{name}.{language}") for language in (source, target)]
    if all(sides):
        return list(zip(*sides, strict=True))[:count]
    lines = invented(2 * count, seed=len(name))
    return [(line, next(lines)) for line in islice(lines, count)]


def quality(source: str, target: str, amounts: Amounts) -> list[str]:
    """Fit one direction, and score its answers to the test set."""
    train = read("train", source, target, amounts.pairs)
    dev, test = (
        read(name, source, target, amounts.sentences) for name in ("val", "test_2016_flickr")
    )
    begun = time.process_time()
    model = NearestSentence.fit(train.__getitem__, len(train), dev, target)
    fitted = time.process_time()
    texts = model.translate([text for text, _ in test])
    answered = time.process_time()
    bleu, chrf = metrics.judged(texts, [text for _, text in test], target)
    tried = dict(model.facts["tried"])
    return [
        f"{source} to {target}, {len(train):,}",
        *(f"{tried[size]:.1f}" for size in sorted(tried)),
        f"{bleu.value:.1f}",
        f"{chrf.value:.1f}",
        f"{fitted - begun:.1f}",
        f"{answered - fitted:.2f}",
    ]


def recombined(count: int) -> Iterator[Pair]:
    """Make pairs up from halves of captions, the same each time."""
    draw = random.Random(1)
    pairs = read("train", "de", "en", min(count, 29_000))
    halves = [
        [(words[: len(words) // 2], words[len(words) // 2 :]) for words in map(str.split, pair)]
        for pair in pairs
    ]
    for _ in range(count):
        one, other = draw.choice(halves), draw.choice(halves)
        source, target = (" ".join(a[0] + b[1]) for a, b in zip(one, other, strict=True))
        yield source, target


def costs(count: int, questions: int) -> list[str]:
    """Fit and save in one process, open and answer in another."""
    with tempfile.TemporaryDirectory() as folder:
        made, opened = (
            subprocess.run(
                [
                    sys.executable,
                    "-m",
                    "benchmarks.nearest",
                    what,
                    folder,
                    str(count),
                    str(questions),
                ],
                capture_output=True,
                text=True,
                check=True,
            ).stdout.split()
            for what in ("fit", "open")
        )
        size = sum(path.stat().st_size for path in Path(folder).iterdir()) / 1e6
    memory = max(float(made[-1]), float(opened[-1]))
    return [f"{count:,}", *made[:2], f"{size:.1f}", *opened[:2], f"{memory:,.0f}"]


def child(what: str, folder: str, count: int, questions: int) -> None:
    """Do one half of `costs`, and print its seconds and the most memory held."""
    times = [time.process_time()]
    if what == "fit":
        dev = read("val", "de", "en", questions)
        made = recombined(count)
        model = NearestSentence.fit(lambda number: next(made), count, dev, "en")
        times.append(time.process_time())
        model.save(folder)
    else:
        asked = [text for text, _ in read("test_2016_flickr", "de", "en", questions)]
        times = [time.process_time()]
        model = NearestSentence.open(folder)
        times.append(time.process_time())
        model.translate(asked)
    times.append(time.process_time())
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(*(f"{b - a:.1f}" for a, b in pairwise(times)), f"{peak:.0f}")


if __name__ == "__main__":
    arguments: Sequence[str] = sys.argv[1:]
    child(arguments[0], arguments[1], int(arguments[2]), int(arguments[3]))
