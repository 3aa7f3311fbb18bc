"""Whole commands: from two text files to target tokens a second, as each tool logs them itself.

What a person gets who types `heedful train` or `joeynmt train`: reading, pieces, batches, steps and
the log, everything but the preparation before the first step and the evaluations.
"""

from __future__ import annotations

import json
import os
import re
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks import machine
from benchmarks.captions import Captions
from benchmarks.contest import PLAIN, AbsentError, paired, spread, table
from benchmarks.joey import python as joey_python
from benchmarks.sizes import Amounts
from heedful.train.precision import choose_precision

DEVELOPMENT_PAIRS = 20
"""Pairs that both are given as a development set; evaluating on it is in neither's figures."""
SKIPPED = 1
"""Of the lines that each logs: the first one is of the steps that find their memory."""


def run(text: Captions, amounts: Amounts, rates: list[float]) -> Iterator[str]:
    """Have both commands train the same sizes on the same files with as many pieces, in turn.

    Heedful learns its pieces itself; Joey NMT is given some that were learned in the same way.
    """
    sizes, updates = amounts.decoding, amounts.updates
    numbers = choose_precision("auto", "cpu").told
    yield (
        f"The whole commands, `heedful train` and `joeynmt train`, on the text files, sizes "
        f"{sizes['d_model']} / {sizes['d_ff']}: target tokens/s as each logs them, in the course "
        f"of {updates} steps. Joey NMT has batches as wide as ours, made at random, and is "
        f"otherwise as it comes, in float32; Heedful computes in {numbers} here."
    )
    yield ""
    found: dict[str, list[float]] = {"heedful train": [], "joeynmt train": []}
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        write(text, path)
        try:
            spin, sleep = (joey(path, amounts, passive) for passive in (False, True))
            waits = "sleep" if sleep > spin else "spin"
        except AbsentError as error:
            yield f"Joey NMT: {error}"
            yield ""
            waits = ""
        for _ in range(amounts.rounds):
            rates.append(machine.rate())
            found["heedful train"].append(ours(path, amounts))
            if waits:
                found["joeynmt train"].append(joey(path, amounts, waits == "sleep"))
    mine, theirs = found.values()
    rows = [["`heedful train`", spread(mine, 0), "1.00"]]
    if theirs:
        what = f"`joeynmt train`, waiting threads {waits}"
        rows.append([what, spread(theirs, 0), paired(mine, theirs)])
    yield from table(["", "target tokens/s", "Heedful is x times"], rows)


def write(text: Captions, path: Path) -> None:
    """Write the pairs, and the pieces as each tool wants them."""
    import sentencepiece

    for side, lines in zip(("source", "target"), text.pairs, strict=True):
        (path / f"train.{side}").write_text("\n".join(lines) + "\n", encoding="utf-8")
        few = "\n".join(lines[:DEVELOPMENT_PAIRS]) + "\n"
        (path / f"dev.{side}").write_text(few, encoding="utf-8")
    (path / "pieces.model").write_bytes(text.tokenizer.files["tokenizer.model"])
    learned = sentencepiece.SentencePieceProcessor(model_file=str(path / "pieces.model"))
    special = ["<unk>", "<pad>", "<s>", "</s>"]
    pieces = [learned.id_to_piece(i) for i in range(learned.get_piece_size())]
    words = [*special, *(piece for piece in pieces if piece not in special)]
    (path / "pieces.txt").write_text("\n".join(words) + "\n", encoding="utf-8")


def ours(path: Path, amounts: Amounts) -> float:
    """Run our command; give the median of what it logs."""
    sizes: dict[str, Any] = {f"model.{key}": value for key, value in amounts.decoding.items()}
    given = sizes | {
        "tokenizer.vocab_size": amounts.pieces,
        "data.batch_tokens": amounts.budget,
        "train.steps": amounts.updates,
        "train.log_every": amounts.updates // 6,
        "train.evaluate_every": amounts.updates,
        "decode.beam": 1,
    }
    files = [path / f"{name}.{side}" for name in ("train", "dev") for side in ("source", "target")]
    with tempfile.TemporaryDirectory() as output:
        command = [sys.executable, "-m", "heedful", "train", *files[:2], "--dev", *files[2:]]
        command += ["-o", f"{output}/model", "--from", "de", "--to", "en"]
        for key, value in given.items():
            command += ["--set", f"{key}={value}"]
        _output(command, path)
        log = Path(output, "model", "run", "log.jsonl").read_text(encoding="utf-8")
    lines = [json.loads(line) for line in log.splitlines()]
    return _usual([line["tokens_per_second"] for line in lines if line["kind"] == "step"])


def joey(path: Path, amounts: Amounts, passive: bool) -> float:
    """Run Joey NMT's command; give the median of what it logs."""
    python = joey_python()
    if python is None:
        raise AbsentError("not installed: build/joeynmt-venv could not be made")
    (path / "joey.yaml").write_text(json.dumps(_recipe(amounts)), encoding="utf-8")
    command = [python, "-m", "joeynmt", "train", "joey.yaml", "--skip-test"]
    told = _output(command, path, {"OMP_WAIT_POLICY": "passive"} if passive else {})
    return _usual([float(n) for n in re.findall(r"Tokens per Sec:\s*(\d+)", told)])


def _recipe(amounts: Amounts) -> dict[str, Any]:
    """Say the same as `ours` in Joey NMT's words (JSON is YAML too)."""
    sizes = amounts.decoding
    side = {
        "type": "transformer",
        "num_heads": sizes["n_heads"],
        "hidden_size": sizes["d_model"],
        "ff_size": sizes["d_ff"],
        "dropout": sizes["dropout"],
        "layer_norm": sizes["norm"],
        "embeddings": {
            "embedding_dim": sizes["d_model"],
            "scale": True,
            "dropout": sizes["dropout"],
        },
    }
    text = {
        "level": "bpe",
        "max_length": 256,
        "voc_file": "pieces.txt",
        "tokenizer_type": "sentencepiece",
        "tokenizer_cfg": {"model_file": "pieces.model", "pretokenizer": "none"},
    }
    return {
        "name": "contest",
        "joeynmt_version": "2.3.0",
        "model_dir": "joey",
        "use_cuda": False,
        "fp16": False,
        "random_seed": 1,
        "data": {
            "train": "train",
            "dev": "dev",
            "dataset_type": "plain",
            "src": {"lang": "source", **text},
            "trg": {"lang": "target", **text},
        },
        "testing": {"beam_size": 1, "batch_size": 64, "batch_type": "sentence"},
        "training": {
            "optimizer": "adam",
            "adam_betas": [0.9, 0.98],
            "normalization": "tokens",
            "learning_rate": 1e-4,
            "learning_rate_min": 0.0,
            "learning_rate_warmup": 400,
            "scheduling": "warmupinversesquareroot",
            "label_smoothing": 0.1,
            "clip_grad_norm": 1.0,
            "batch_size": amounts.budget // 2,  # of its wider side; ours counts both
            "batch_type": "token",
            "updates": amounts.updates,
            "epochs": 1000,
            "logging_freq": amounts.updates // 6,
            "validation_freq": 10**6,
            "overwrite": True,
        },
        "model": {
            "tied_embeddings": True,
            "tied_softmax": True,
            "encoder": {**side, "num_layers": sizes["encoder_layers"]},
            "decoder": {**side, "num_layers": sizes["decoder_layers"]},
        },
    }


def _output(command: list[Any], folder: Path, more: dict[str, str] | None = None) -> str:
    """Run a command in an environment where nobody has set anything; give all that it printed."""
    environment = {k: v for k, v in os.environ.items() if k not in PLAIN} | (more or {})
    done = subprocess.run(
        list(map(str, command)),
        cwd=folder,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    if done.returncode:
        raise AbsentError(done.stdout.strip().splitlines()[-1])
    return done.stdout


def _usual(speeds: list[float]) -> float:
    return statistics.median(speeds[SKIPPED:])
