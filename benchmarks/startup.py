"""Start-up: how long a person waits for the first word of a process that was not there before."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import machine
from benchmarks.captions import captions
from benchmarks.contest import spread, table
from benchmarks.decoding import prepare
from benchmarks.sizes import Amounts

GENERATE = """
import sys
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
tokenizer = AutoTokenizer.from_pretrained(sys.argv[1])
model = AutoModelForSeq2SeqLM.from_pretrained(sys.argv[1])
found = model.generate(**tokenizer([sys.argv[2]], return_tensors="pt"), max_new_tokens=20)
print(tokenizer.batch_decode(found, skip_special_tokens=True)[0])
"""


def commands(path: Path, sentence: str) -> dict[str, list[str]]:
    """Name what is waited for."""
    python = sys.executable
    translate = [python, "-m", "heedful", "translate", str(path / "model"), sentence]
    short = ["--max-length", "20"]
    return {
        "an empty Python": [python, "-c", "pass"],
        "`import heedful`": [python, "-c", "import heedful"],
        "`heedful --help`": [python, "-m", "heedful", "--help"],
        "`heedful translate`, CTranslate2": [*translate, *short, "--engine", "ctranslate2"],
        "`heedful translate`, torch": [*translate, *short, "--engine", "torch"],
        "Hugging Face, load and `generate`": [
            python,
            "-c",
            GENERATE,
            str(path / "huggingface"),
            sentence,
        ],
        "`import torch`": [python, "-c", "import torch"],
    }


def run(amounts: Amounts, rates: list[float]) -> Iterator[str]:
    """Start every command in turn; the first round, which fills the file cache, is not counted."""
    text = captions(amounts.pieces, amounts.pairs, amounts.sentences)
    seconds: dict[str, list[float]] = {}
    torch: dict[str, str] = {}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        prepare(text, amounts, path)
        wanted = commands(path, text.text[0])
        for name, command in wanted.items():  # also converts the model, once
            done = _start(command)
            if done.returncode:
                torch[name] = f"failed: {done.stderr.strip().splitlines()[-1][:120]}"
        working = {name: command for name, command in wanted.items() if name not in torch}
        for _ in range(amounts.cold):
            rates.append(machine.rate())
            for name, command in working.items():
                begun = time.perf_counter()
                _start(command)
                seconds.setdefault(name, []).append(time.perf_counter() - begun)
        for name, command in working.items():
            told = _start(command, {"PYTHONPROFILEIMPORTTIME": "1"}).stderr
            imported = re.search(r"\|\s+torch$", told, flags=re.MULTILINE)
            torch[name] = "yes" if imported else "no"
    yield (
        f"From a process that was not there to its end, files in the system's cache. Median "
        f"(least-most) of {amounts.cold} rounds."
    )
    yield ""
    rows = [[n, spread(seconds[n]) if n in seconds else "", torch[n]] for n in wanted]
    yield from table(["", "seconds", "imports torch"], rows)


def _start(
    command: list[str], more: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    environment = os.environ | (more or {})
    return subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
