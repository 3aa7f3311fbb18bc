"""A task small enough for a test: write some digits backwards."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

import numpy as np
import torch
from torch import nn

from heedful.data.ids import Ids
from heedful.data.padding import pad
from heedful.decoding.batch import search
from heedful.models.transformer import Transformer
from heedful.nn.loss import Loss
from heedful.settings import DecodeSettings, ModelSettings, TokenIds
from heedful.tasks.translation.batching import Batch, Batches
from heedful.tasks.translation.corpus import Corpus
from heedful.train.learner import Evaluation, Learner, Sample

IDS = TokenIds(size=13, pad=12, start=12)
FIRST = 2
"""The id of the digit 0."""


class Rows(list[np.ndarray]):
    """Sequences in memory, where `Ids` would map them."""

    def forget(self) -> None:
        """Nothing to forget."""

    def lengths(self) -> np.ndarray:
        return np.array([len(row) for row in self], dtype=np.int32)


def numbers(count: int, longest: int, seed: int) -> list[list[int]]:
    """Different digits in different numbers, as ids."""
    random = np.random.default_rng(seed)
    found: dict[tuple[int, ...], None] = {}
    while len(found) < count:
        length = int(random.integers(2, longest + 1))
        found[tuple((random.integers(0, 10, length) + FIRST).tolist())] = None
    return [list(number) for number in found]


class Reverse(Learner[Batch]):
    """The task: source and target are the same digits, one of them backwards."""

    model: Transformer
    unit = "digit"

    def __init__(
        self,
        pairs: int = 60,
        longest: int = 4,
        budget: int = 120,
        seed: int = 1,
        smoothing: float = 0.1,
        **sizes: object,
    ) -> None:
        small = {"d_model": 16, "d_ff": 24, "n_heads": 2, "encoder_layers": 1, "decoder_layers": 1}
        sizes = small | {"dropout": 0.0} | sizes
        torch.manual_seed(seed)
        self.model = Transformer(ModelSettings.model_validate(sizes), IDS)
        everything = numbers(pairs + 20, longest, 5)
        training, self.dev = everything[20:], everything[:20]
        sides = (training, [number[::-1] for number in training])
        ids = [cast(Ids, Rows(map(np.array, side))) for side in sides]
        self._batches = Batches(Corpus(ids[0], ids[1], [], 0), budget, IDS.eos, IDS.pad, seed)
        self._smoothing = smoothing
        self.looks = 0

    def size(self, epoch: int) -> int:
        return len(self._batches.plan(epoch))

    def batches(self, epoch: int, start: int, part: int = 0, parts: int = 1) -> Iterator[Batch]:
        return self._batches.epoch(epoch, start, part, parts)

    def where(self, batch: Batch) -> list[str]:
        return [f"numbers:{row + 1}" for row in batch.rows.tolist()]

    def count(self, batch: Batch) -> int:
        return batch.tokens

    def split(self, batch: Batch, parts: int) -> list[Batch]:
        return batch.split(parts)

    def loss(self, model: nn.Module, batch: Batch, generator: torch.Generator) -> Loss:
        assert isinstance(model, Transformer)
        found = model.loss(
            batch.source, batch.source_lengths, batch.target, batch.target_lengths, self._smoothing
        )
        return Loss(*(0 * value for value in found)) if batch.idle else found

    def evaluate(self, fresh: bool = False) -> Evaluation:
        self.looks += 1
        self.model.eval()
        found = [h[0].ids for h in search(self.model, self.dev, DecodeSettings(beam=1))]
        wanted = [number[::-1] for number in self.dev]
        source, lengths = pad([[*number, IDS.eos] for number in self.dev], IDS.pad)
        target, target_lengths = pad(wanted, IDS.pad)
        with torch.no_grad():
            nll = self.model.loss(source, lengths, target, target_lengths, 0.0).nll
        self.model.train()
        right = [got == want for got, want in zip(found, wanted, strict=True)]
        samples = (Sample(digits(self.dev[0]), digits(wanted[0]), digits(found[0])),)
        loss = float(nll) / (int(target_lengths.sum()) + len(wanted))
        exact = 100 * sum(right) / len(right)
        return Evaluation(exact, loss, {"exact": exact}, samples)


class Scripted(Reverse):
    """The same task with looks whose scores the test chooses."""

    def __init__(self, scores: Sequence[float], losses: Sequence[float] = (), **kind: object):
        super().__init__(**kind)  # type: ignore[arg-type]
        self._scores, self._losses = scores, losses

    def evaluate(self, fresh: bool = False) -> Evaluation:
        self.looks += 1
        score = self._scores[min(self.looks, len(self._scores)) - 1]
        loss = self._losses[min(self.looks, len(self._losses)) - 1] if self._losses else 1.0
        return Evaluation(score, loss)


def digits(ids: Sequence[int]) -> str:
    return "".join(str(i - FIRST) for i in ids)
