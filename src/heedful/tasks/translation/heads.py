"""Which head finds what "it" stands for: measured where the truth is known, kept with the model.

The built-in grammar knows the noun behind every "it". A head is right when no word, "it" included,
gets a larger share of its attention than that noun does. The baseline points always the same
number of words back, the number that is right most often: only a head above it has found anything.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from heedful import files
from heedful.data.grammar import Sentence
from heedful.explain.words import word_spans
from heedful.models.folder import Folder
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.settings import Settings

if TYPE_CHECKING:
    from heedful.tasks.translation.showing import Attended

FILE = "heads.json"
WORD = "it"
USE = "heads"
"""What the fingerprint of the weights is asked for."""


@dataclass(frozen=True)
class Heads:
    """How often each encoder head points from "it" to its noun, and the baseline beside it."""

    accuracy: list[list[float]]
    """By layer and head."""
    distance: int
    """Words back that a fixed pointer does best with."""
    baseline: float
    """The accuracy of that pointer."""
    sentences: int

    @property
    def best(self) -> tuple[int, int]:
        """Layer and head of the most accurate one; the first where several are."""
        places = [(i, j) for i, row in enumerate(self.accuracy) for j in range(len(row))]
        return max(places, key=lambda place: self.accuracy[place[0]][place[1]])

    @property
    def best_accuracy(self) -> float:
        """How often the best head is right."""
        layer, head = self.best
        return self.accuracy[layer][head]

    @property
    def found(self) -> bool:
        """Whether the best head is right more often than its baseline."""
        return self.best_accuracy > self.baseline

    def said(self) -> str:
        """Say it in a sentence, the baseline included."""
        layer, head = self.best
        best, baseline = 100 * self.best_accuracy, 100 * self.baseline
        if not self.found:
            return (
                f'No encoder head finds what "{WORD}" stands for better than its baseline: always '
                f"pointing {self.distance} words back is right in {baseline:.0f} % of "
                f"{self.sentences} held-out sentences, the most accurate head (layer {layer + 1}, "
                f"head {head + 1}) in {best:.0f} %."
            )
        return (
            f'Encoder layer {layer + 1}, head {head + 1} points from "{WORD}" to the noun it '
            f"stands for in {best:.0f} % of {self.sentences} held-out sentences; its baseline, "
            f"always pointing {self.distance} words back, is right in {baseline:.0f} %."
        )


def measure(explain: Callable[[str], Attended], sentences: Sequence[Sentence]) -> Heads:
    """Measure every encoder head on sentences whose "it" is known; none gives zeros."""
    right: list[torch.Tensor] = []
    distances: Counter[int] = Counter()
    for sentence in sentences:
        if sentence.it is None or sentence.antecedent is None:
            continue
        seen = explain(sentence.en)
        spans = word_spans(seen.source)
        row = seen.encoder[:, :, spans[sentence.it][0]]  # layer, head, key
        by_word = torch.stack([row[..., a:b].sum(-1) for a, b in spans], dim=-1)
        right.append(by_word.argmax(-1) == sentence.antecedent)
        distances[sentence.it - sentence.antecedent] += 1
    if not right:
        return Heads([[0.0]], 0, 0.0, 0)
    distance, count = distances.most_common(1)[0]
    shares = torch.stack(right).double().mean(0).tolist()
    return Heads(shares, distance, count / len(right), len(right))


def keep(heads: Heads, path: Path) -> None:
    """Write the measurement beside the model, with the fingerprint of the weights measured."""
    facts = {"fingerprint": open_folder(path).fingerprint(USE), **asdict(heads)}
    files.write(path / FILE, json.dumps(facts, indent=1) + "\n")


def measured(folder: Folder[Settings], pieces: Sequence[str]) -> dict[str, Any] | None:
    """Give the best head for a sentence with "it", where these very weights were measured."""
    starts = [
        start
        for start, end in word_spans(pieces)
        if "".join(pieces[start:end]).strip("▁.,!?").lower() == WORD
    ]
    if not starts:
        return None
    try:
        facts = json.loads((folder.path / FILE).read_text(encoding="utf-8"))
        if facts.pop("fingerprint", None) != folder.fingerprint(USE):
            return None  # trained on since it was measured
        heads = Heads(**facts)
        layer, head = heads.best
        note = heads.said()
    except (OSError, ValueError, TypeError, AttributeError):  # never measured, or not by us
        return None
    return {
        "kind": "encoder",
        "layer": layer,
        "head": head,
        "accuracy": heads.best_accuracy,
        "distance": heads.distance,
        "baseline": heads.baseline,
        "sentences": heads.sentences,
        "item": starts[0],
        "note": note,
    }
