"""A task of a few numbers, whose model, loss and optimiser a test chooses."""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor, nn

from heedful.nn.loss import Loss
from heedful.train.learner import Evaluation, Learner

WORDS = 23


class Points(Learner[Tensor]):
    """Four numbers, of which the fifth follows; seven batches of seven rows an epoch."""

    unit = "point"

    def __init__(self, model: nn.Module) -> None:
        self.model = model
        drawn = torch.randn(59, 4, generator=torch.Generator().manual_seed(5))
        rows = torch.cat([drawn, drawn.prod(1, keepdim=True) + drawn[:, :1]], 1)
        self._training, self._dev = rows[:49], rows[49:]

    def size(self, epoch: int) -> int:
        return 7

    def batches(self, epoch: int, start: int, part: int = 0, parts: int = 1) -> Iterator[Tensor]:
        order = torch.randperm(49, generator=torch.Generator().manual_seed(epoch))
        for rows in self._training[order].split(7)[start:]:
            yield rows[part::parts]

    def where(self, batch: Tensor) -> list[str]:
        return [str(row) for row in batch.tolist()]

    def count(self, batch: Tensor) -> int:
        return len(batch)

    def split(self, batch: Tensor, parts: int) -> list[Tensor]:
        return list(batch.chunk(parts))

    def predict(self, model: nn.Module, rows: Tensor) -> Tensor:
        found: Tensor = model(rows[:, :4])
        return found

    def loss(self, model: nn.Module, batch: Tensor, generator: torch.Generator) -> Loss:
        loss = (self.predict(model, batch) - batch[:, 4:]).square().sum()
        return Loss(loss, loss.detach())

    def evaluate(self, fresh: bool = False) -> Evaluation:
        self.model.eval()
        with torch.no_grad():
            error = float((self.predict(self.model, self._dev) - self._dev[:, 4:]).square().mean())
        self.model.train()
        return Evaluation(-error, error, {"error": error})


class Remembering(nn.Module):
    """Standardises its input by what it has seen, and counts what it has seen."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.inner = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1d(6), nn.ReLU(), nn.Linear(6, 1))
        self.register_buffer("mean", torch.zeros(4))
        self.register_buffer("scratch", torch.zeros(4), persistent=False)

    mean: Tensor

    def forward(self, x: Tensor) -> Tensor:
        if self.training:
            self.mean = 0.9 * self.mean + 0.1 * x.detach().mean(0)
        found: Tensor = self.inner(x - self.mean)
        return found


class Words(Points):
    """The signs of the numbers are words: their rows, few of many, have sparse gradients."""

    def __init__(self, sparse: bool = True) -> None:
        torch.manual_seed(3)
        super().__init__(nn.ModuleList([nn.Embedding(WORDS, n, sparse=sparse) for n in (3, 3)]))

    def predict(self, model: nn.Module, rows: Tensor) -> Tensor:
        one, other = model.children()
        ids = (rows[:, :2] * 5).long() % WORDS
        return (one(ids[:, 0]) * other(ids[:, 1])).sum(1, keepdim=True)
