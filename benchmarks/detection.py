"""Language detection: how often it is right about a word, a few words and a sentence, and how fast.

The text is tatoeba's sentences where `HEEDFUL_DATA` has them, and the built-in grammar's. Half of
tatoeba, by a hash of the sentence, is left out: it is for choosing settings on.
"""

from __future__ import annotations

import gzip
import os
import statistics
import subprocess
import sys
import time
import zlib
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path

from benchmarks import machine
from benchmarks.contest import table
from benchmarks.sizes import Amounts
from heedful.data.grammar import generate
from heedful.serve.translation.detect import Detector

LANGUAGES = ("en", "de", "fr", "ko")
LENGTHS = (1, 2, 4, 0)
"""Words in a row; 0 is the whole sentence."""
REPORTED = 0
"""The half of tatoeba that is reported; settings were chosen on the other."""
LOADING = """
import time
from pathlib import Path
from heedful.serve.translation.detect import Detector
def held():
    told = Path("/proc/self/statm")
    return int(told.read_text().split()[1]) * 4096 if told.exists() else float("nan")
used = held()
begun = time.perf_counter()
detector = Detector(["en", "de", "fr", "ko"])
detector.detect("Where is it?")
seconds = time.perf_counter() - begun
print(seconds, (held() - used) / 1e6)
"""


def run(amounts: Amounts, rates: list[float]) -> Iterator[str]:
    """Detect every text of every corpus at every length, restricted to four languages."""
    rates.append(machine.rate())
    corpora = {"grammar": grammar(amounts.detected)}
    folder = Path(os.environ.get("HEEDFUL_DATA") or "nowhere") / "tatoeba"
    if folder.is_dir():
        corpora = {"tatoeba": tatoeba(folder, amounts.detected, REPORTED), **corpora}
    yield (
        f"Among {', '.join(LANGUAGES)}: up to {amounts.detected:,} sentences a language, and one, "
        f"two or four words in a row from a place in them that a hash chooses. The share "
        f"that is right, in %; `all` is the mean of the languages. Time of one call, median."
    )
    yield ""
    rows = []
    for name, corpus in corpora.items():
        for length in LENGTHS:
            right, took = measure(Detector(LANGUAGES), corpus, length)
            own = [f"{right[code]:.1f}" if code in right else "-" for code in LANGUAGES]
            mean = f"{statistics.mean(right.values()):.1f}"
            words = str(length) if length else "sentence"
            rows.append([name, words, mean, *own, f"{1000 * took:.3f}"])
    yield from table(["corpus", "words", "all", *LANGUAGES, "ms"], rows, left=2)
    yield ""
    loads = [_load() for _ in range(amounts.cold)]
    seconds, size = (statistics.median(values) for values in zip(*loads, strict=True))
    yield f"The first call of a process takes {seconds:.2f} s and {size:.0f} MB that stay."


def measure(
    detector: Detector, corpus: Mapping[str, Sequence[str]], length: int
) -> tuple[dict[str, float], float]:
    """Give the share of each language's texts that is found, in percent, and the time of one."""
    detector.detect("")
    right, seconds = {}, []
    for code, sentences in corpus.items():
        texts = [text for sentence in sentences if (text := part(sentence, length))]
        found = 0
        for text in texts:
            begun = time.perf_counter()
            best = detector.detect(text)[0]
            seconds.append(time.perf_counter() - begun)
            found += best.language == code and best.confidence > 0
        right[code] = 100 * found / len(texts)
    return right, statistics.median(seconds)


def part(sentence: str, length: int) -> str:
    """Give some words in a row of a sentence, or "" where it has not as many."""
    words = [word for word in sentence.split() if any(map(str.isalpha, word))]
    if not length or len(words) < length:
        return "" if length else sentence
    start = _hash(sentence) // 2 % (len(words) - length + 1)
    return " ".join(words[start : start + length])


def grammar(most: int) -> dict[str, list[str]]:
    """Give distinct sentences of the built-in grammar in its three languages."""
    drawn = list(islice(generate(), most))
    return {
        code: list(dict.fromkeys(sentence.text(code) for sentence in drawn))
        for code in ("en", "fr", "ko")
    }


def tatoeba(folder: Path, most: int, half: int) -> dict[str, list[str]]:
    """Give one half of tatoeba's distinct sentences, as many of each language, in a fixed order."""
    found: dict[str, set[str]] = {code: set() for code in LANGUAGES}
    for code, name in (("fr", "fra"), ("de", "deu"), ("ko", "kor")):
        text = gzip.decompress((folder / f"eng-{name}.tsv.gz").read_bytes()).decode("utf-8")
        for line in text.splitlines():
            for side, sentence in zip(("en", code), line.split("\t"), strict=False):
                found[side].add(sentence)
    return {
        code: sorted((s for s in own if _hash(s) % 2 == half), key=_hash)[:most]
        for code, own in found.items()
    }


def _hash(text: str) -> int:
    return zlib.crc32(text.encode("utf-8"))


def _load() -> tuple[float, float]:
    """Detect once in a new process; give the seconds and the megabytes it took."""
    done = subprocess.run(
        [sys.executable, "-c", LOADING], capture_output=True, text=True, check=True
    )
    seconds, size = done.stdout.split()
    return float(seconds), float(size)
