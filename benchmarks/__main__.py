"""`make bench`: Heedful beside its peers, on the same work, in one run, as tables in Markdown.

Each section replaces itself in the output file, so one can be measured again without the others.
"""

from __future__ import annotations

import argparse
import dataclasses
import importlib
import os
import re
from pathlib import Path

from benchmarks import machine
from benchmarks.joey import NO_INSTALL
from benchmarks.sizes import FULL, QUICK, Amounts

OUTPUT = Path(__file__).parents[1] / "docs" / "benchmarks.md"
SECTIONS = (
    *("training", "decoding", "memory", "growth", "startup", "cache", "serving", "detection"),
    "nearest",
)
HEAD = """# Benchmarks

Written by `make bench`; one section again: `python -m benchmarks decoding`. Every contender runs in
a process of its own, and all take their turns in rounds, so that a busy moment of the machine is
everyone's. A figure in brackets is the range of the rounds.
"""


def replace(text: str, name: str, section: str) -> str:
    """Put a section in the place of the one of its name, or where its order has it."""
    parts = re.split(r"^## ", text, flags=re.MULTILINE)[1:]
    found = {part.split("\n", 1)[0].strip(): part.split("\n", 1)[1].strip() for part in parts}
    found[name] = section.strip()
    ordered = [key for key in SECTIONS if key in found]
    return "\n".join([HEAD, *(f"## {key}\n\n{found[key]}\n" for key in ordered)])


def measure(name: str, amounts: Amounts) -> str:
    """Run one section; give its text, which ends with what it was measured on."""
    rates: list[float] = []
    lines = []
    for line in importlib.import_module(f"benchmarks.{name}").run(amounts, rates):
        print(line, flush=True)
        lines.append(line)
    told = machine.describe(rates)
    print(f"\n{told}", flush=True)
    return "\n".join([*lines, "", told])


def main(arguments: list[str] | None = None) -> None:
    """Run the sections asked for."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks", description=__doc__)
    parser.add_argument("which", nargs="*", metavar="section", help=f"of {', '.join(SECTIONS)}")
    parser.add_argument("-o", "--output", type=Path, default=OUTPUT)
    parser.add_argument("--quick", action="store_true", help="toy sizes, and nothing downloaded")
    parser.add_argument("--long", action="store_true", help="also a corpus of ten million lines")
    parser.add_argument("--rounds", type=int, help="of training and decoding")
    parser.add_argument("--size", choices=FULL.training, help="of training and memory, only this")
    parser.add_argument("--batch", type=int, choices=FULL.batches, help="of decoding, only this")
    given = parser.parse_args(arguments)
    unknown = set(given.which) - set(SECTIONS)
    if unknown:
        parser.error(f"no section {', '.join(sorted(unknown))}; expected {', '.join(SECTIONS)}")
    amounts = QUICK if given.quick else FULL
    if given.quick:
        os.environ[NO_INSTALL] = "1"
    if given.long:
        amounts = dataclasses.replace(amounts, lines=(*amounts.lines, 10_000_000))
    if given.rounds:
        amounts = dataclasses.replace(amounts, rounds=given.rounds, decoding_rounds=given.rounds)
    if given.size:
        only = {given.size: amounts.training[given.size]}
        amounts = dataclasses.replace(amounts, training=only)
    if given.batch is not None:
        amounts = dataclasses.replace(amounts, batches=(given.batch,))
    for name in given.which or SECTIONS:
        print(f"\n## {name}\n", flush=True)
        section = measure(name, amounts)
        old = given.output.read_text(encoding="utf-8") if given.output.exists() else ""
        given.output.write_text(replace(old, name, section), encoding="utf-8")


if __name__ == "__main__":
    main()
