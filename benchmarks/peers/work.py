"""The work that is the same for everyone, read from a file, and a plain training step.

Torch only: Joey NMT's environment has no Heedful.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn


@dataclass(frozen=True)
class Ids:
    """The special ids and the size of the vocabulary."""

    size: int
    eos: int
    unk: int
    pad: int
    start: int


@dataclass(frozen=True)
class TrainingWork:
    """Sizes of a model and the batches it is trained on."""

    sizes: dict[str, Any]
    """By the names of Heedful's model settings."""
    ids: Ids
    batches: list[tuple[list[list[int]], list[list[int]]]]
    """Sources with their end, targets without start and end."""
    smoothing: float = 0.1

    def write(self, path: Path) -> None:
        """Keep it for the contenders."""
        path.write_text(json.dumps(asdict(self)), encoding="utf-8")

    @classmethod
    def read(cls, path: str) -> TrainingWork:
        """Read what `write` wrote."""
        found = json.loads(Path(path).read_text(encoding="utf-8"))
        batches = [(source, target) for source, target in found["batches"]]
        return cls(found["sizes"], Ids(**found["ids"]), batches, found["smoothing"])


def rectangle(rows: Sequence[Sequence[int]], fill: int) -> Tensor:
    """Pad rows of ids to one tensor."""
    width = max(map(len, rows))
    return torch.tensor([[*row, *[fill] * (width - len(row))] for row in rows])


@dataclass(frozen=True)
class Rows:
    """A batch as the peers want it: padded, the target once from its start and once to its end."""

    source: Tensor
    given: Tensor
    """Start and words: what the decoder reads."""
    wanted: Tensor
    """Words and end: what it is to say."""
    tokens: int

    @classmethod
    def of(cls, batch: tuple[list[list[int]], list[list[int]]], ids: Ids) -> Rows:
        """Pad a batch of the work."""
        sources, targets = batch
        return cls(
            rectangle(sources, ids.pad),
            rectangle([[ids.start, *t] for t in targets], ids.pad),
            rectangle([[*t, ids.eos] for t in targets], ids.pad),
            sum(len(t) + 1 for t in targets),
        )


class Trainer:
    """Forward, backward, clipping and Adam, once over the batches each time it is called.

    Everyone has the fused Adam, though only Heedful takes it by default.
    """

    def __init__(self, model: nn.Module, work: TrainingWork) -> None:
        self.model, self.work = model.train(), work
        self.batches: list[Any] = [Rows.of(batch, work.ids) for batch in work.batches]
        weights = [p for p in model.parameters() if p.requires_grad]
        self.adam = torch.optim.Adam(weights, lr=1e-4, betas=(0.9, 0.98), eps=1e-9, fused=True)
        self.facts = {"parameters": sum(p.numel() for p in weights)}
        self.numbers = "float32"
        """Of its products: what torch's autocast makes of them where they are shorter."""

    def logits(self, rows: Rows) -> Tensor:
        """Give the logits of every target position."""
        raise NotImplementedError

    def loss(self, rows: Any) -> Tensor:
        """Give the smoothed loss of a token."""
        flat = self.logits(rows).flatten(0, 1)
        return nn.functional.cross_entropy(
            flat,
            rows.wanted.flatten(),
            ignore_index=self.work.ids.pad,
            label_smoothing=self.work.smoothing,
        )

    def cast_loss(self, rows: Any) -> Tensor:
        """Give the loss, computed in its numbers."""
        short = self.numbers != "float32"
        with torch.autocast("cpu", getattr(torch, self.numbers), enabled=short):
            return self.loss(rows)

    def __call__(self, what: str = "steps") -> float:
        """Take a step on each batch, or count what a forward pass keeps for the backward one."""
        if what == "kept":
            return kept(self.model, [lambda b=b: self.cast_loss(b) for b in self.batches])
        for batch in self.batches:
            self.adam.zero_grad(set_to_none=True)
            loss = self.cast_loss(batch)
            loss.backward()
            nn.utils.clip_grad_norm_(self.model.parameters(), 1.0)
            self.adam.step()
        return loss.item()


def kept(model: nn.Module, forwards: Sequence[Any], constants: Sequence[Tensor] = ()) -> float:
    """Give the bytes kept from forward to backward, all batches together.

    What is there anyway, the weights and `constants`, is not counted; memory that two tensors
    share is counted once.
    """
    there = {t.untyped_storage().data_ptr() for t in (*model.parameters(), *constants)}
    there |= {t.untyped_storage().data_ptr() for t in model.buffers()}
    total = 0
    for forward in forwards:
        held: dict[int, tuple[int, Tensor]] = {}

        def note(tensor: Tensor, held: dict[int, tuple[int, Tensor]] = held) -> Tensor:
            storage = tensor.untyped_storage()
            if storage.data_ptr() not in there:
                held[storage.data_ptr()] = (storage.nbytes(), tensor)
            return tensor

        with torch.autograd.graph.saved_tensors_hooks(note, lambda tensor: tensor):
            loss = forward()
        total += sum(size for size, _ in held.values())
        del loss
    return float(total)
