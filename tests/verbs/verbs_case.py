"""The smallest of models, text for it, and what a command told."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedful.data import grammar
from heedful.train.report import Report

SMALL: dict[str, Any] = {
    "model": {
        "d_model": 32,
        "d_ff": 48,
        "n_heads": 2,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "dropout": 0.0,
    },
    "tokenizer": {"vocab_size": 420},
    "train": {"steps": 100, "evaluate_every": 50, "average": 2, "lr": 0.01, "warmup": 10},
}
STEPS: dict[str, Any] = {"train": {"steps": 4, "evaluate_every": 2}}


class Heard(Report):
    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, text: str) -> None:
        self.told.append(text)


def write(folder: Path, name: str, seed: int, count: int = 200) -> tuple[Path, Path]:
    pairs = [(s.en, s.fr) for s, _ in zip(grammar.generate(seed), range(count), strict=False)]
    paths = folder / f"{name}.en", folder / f"{name}.fr"
    for path, side in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return paths
