"""A whole task as another package would bring it: which of two letters a line has more of."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import nn

from heedful.config import resolve
from heedful.errors import DataError
from heedful.metrics import Judged
from heedful.models.folder import Folder, load_weights
from heedful.nn.dropout import Dropout
from heedful.nn.loss import Loss
from heedful.settings import Table, TaskSettings, TrainSettings
from heedful.tasks.contract import Answers, Command, How, Plan, Prepared, Request, Simple, Task
from heedful.tasks.options import Decoding, Option
from heedful.train.learner import Evaluation, Learner

Row = tuple[str, str]


class ModelSettings(Table):
    width: int = Option(8, ge=1)
    """Width of the hidden layer."""


class Settings(TaskSettings):
    task: Literal["counting"] = "counting"
    model: ModelSettings = ModelSettings()
    train: TrainSettings = TrainSettings(lr=0.05, warmup=5, epochs=30)


def rows(paths: Sequence[Path], columns: Any = None, encoding: str = "utf-8") -> list[Row]:
    found = [line.split("\t") for path in paths for line in path.read_text(encoding).splitlines()]
    for number, parts in enumerate(found, start=1):
        if len(parts) != 2 or parts[1] not in "ab":
            raise DataError(f"{paths[0]}:{number} is no line of letters, a tab and a or b")
    return [(text, label) for text, label in found]


def claims(paths: Sequence[Path], columns: Any) -> str | None:
    return "letters and which is in front" if all(p.suffix == ".letters" for p in paths) else None


class Found:
    wrong = False

    def __init__(self, count: int) -> None:
        self.count = count

    def lines(self) -> list[str]:
        return [f"{self.count} lines"]

    def to_json(self) -> str:
        return json.dumps({"lines": self.count})


def prepare(request: Request, made: Path, report: Any) -> Prepared:
    settings = resolve(request.settings or {}, Settings)
    read = rows(request.files)
    dev = rows(request.dev) if request.dev else read[::5]
    made.mkdir(parents=True, exist_ok=True)
    train = [row for row in read if row not in dev]
    (made / "rows.json").write_text(json.dumps([train, dev]))
    return Prepared(settings, train, dev, {"lines": len(train)}, findings=Found(len(read)))


def reopen(folder: Folder[Settings], made: Path) -> Prepared:
    train, dev = (list(map(tuple, part)) for part in json.loads((made / "rows.json").read_text()))
    return Prepared(folder.settings, train, dev, {"lines": len(train)})


def build(settings: Settings, tables: Any) -> nn.Module:
    width = settings.model.width
    return nn.Sequential(nn.Linear(2, width), nn.ReLU(), Dropout(0.1), nn.Linear(width, 2))


def numbers(given: Sequence[Row]) -> torch.Tensor:
    return torch.tensor([[text.count("a"), text.count("b")] for text, _ in given]).float()


class Counting(Learner[list[Row]]):
    unit = "line"

    def __init__(self, model: nn.Module, prepared: Prepared, workers: int, tests: int) -> None:
        self.model, self.prepared = model, prepared

    def size(self, epoch: int) -> int:
        return -(-len(self.prepared.data) // 16)

    def batches(self, epoch: int, start: int, part: int = 0, parts: int = 1) -> Iterator[list[Row]]:
        order = np.random.default_rng(epoch).permutation(len(self.prepared.data))
        for i in range(start, self.size(epoch)):
            yield [self.prepared.data[j] for j in order[16 * i : 16 * i + 16]][part::parts]

    def where(self, batch: list[Row]) -> list[str]:
        return [text for text, _ in batch]

    def count(self, batch: list[Row]) -> int:
        return len(batch)

    def split(self, batch: list[Row], parts: int) -> list[list[Row]]:
        return [batch[i::parts] for i in range(min(parts, len(batch)))]

    def loss(self, model: nn.Module, batch: list[Row], generator: torch.Generator) -> Loss:
        right = torch.tensor(["ab".index(label) for _, label in batch])
        found = nn.functional.cross_entropy(model(numbers(batch)), right, reduction="sum")
        return Loss(found, found.detach())

    def evaluate(self, fresh: bool = False) -> Evaluation:
        self.model.eval()
        said = Used(self.model, Settings()).say([text for text, _ in self.prepared.dev])
        right = [a == b for a, (_, b) in zip(said, self.prepared.dev, strict=True)]
        self.model.train()
        return Evaluation(100 * sum(right) / len(right), 1 - sum(right) / len(right))


class Used:
    def __init__(self, model: nn.Module, settings: Settings) -> None:
        self.model, self.settings = model, settings

    def say(self, texts: Sequence[str]) -> list[str]:
        with torch.no_grad():
            best = self.model(numbers([(text, "") for text in texts])).argmax(-1)
        return ["ab"[i] for i in best]


def open_model(path: Path, how: How) -> Used:
    folder = Folder.open(path, Settings)
    if how.simple:
        return always(folder)
    model = build(folder.settings, {})
    load_weights(model, folder)
    return Used(model.eval(), folder.settings)


def answer(used: Used, given: Sequence[Row], options: Mapping[str, Any]) -> Answers:
    return Answers(used.say([text for text, _ in given]), 0.0)


def judge(said: Answers, given: Sequence[Row], settings: Any, options: Any) -> list[Judged]:
    right = [[a == b, 1] for a, (_, b) in zip(said.outputs, given, strict=True)]
    return [Judged("accuracy", np.array(right, float), lambda sums: 100 * sums[0] / sums[1], "")]


class Always(Used):
    def say(self, texts: Sequence[str]) -> list[str]:
        return ["a"] * len(texts)


def fit(prepared: Prepared, folder: Path, report: Any) -> float:
    (folder / "simple.txt").write_text("a")
    return 0.0


def always(folder: Folder[Settings]) -> Used:
    return Always(nn.Identity(), folder.settings)


class Count(Decoding):
    """Say of each text which letter it has more of."""

    model: Path = Option(..., argument=True)
    """The model folder."""
    text: tuple[str, ...] = Option(..., argument=True)
    """Letters."""


def count(options: Count, terminal: Any) -> None:
    for letter in open_model(options.model, options.how(print)).say(options.text):
        terminal.write(letter)


TASK = Task(
    name="counting",
    sentence="lines of letters make a model that says which is in front",
    settings=Settings,
    roles=("text", "label"),
    claims=claims,
    examine=lambda request, report: Found(len(rows(request.files))),
    prepare=prepare,
    reopen=reopen,
    build=build,
    learner=Counting,
    plan=lambda prepared, workers: Plan(["a tiny model"], "3 FLOP", 1e6, 26, 1e3, 100, 16),
    open=open_model,
    rows=rows,
    answer=answer,
    judge=judge,
    inherit=lambda folder, asked: folder.settings.model_dump(exclude_none=True),
    simple=Simple("always a", fit, always),
    judged_apart=lambda dev: range(0, len(dev), 3),
    show=lambda path, inputs, options: {"schema": "heedful.trace/2", "text": inputs[0]},
    commands=(Command("count", Count, count),),
    try_it="heedful count {} aab",
)
