"""A whole task as another package brings it: which of two letters does a line have more of?"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy

from heedful.config import merge, resolve
from heedful.data.padding import pad
from heedful.errors import DataError
from heedful.explain.passes import Attends, Output, Pass, Stack, Stream, pieces
from heedful.metrics import Judged, hits
from heedful.models.folder import Folder, load_weights
from heedful.nn import masks
from heedful.nn.loss import Loss
from heedful.nn.observe import passing
from heedful.nn.stacks import Encoder
from heedful.settings import Table, TaskSettings, TrainSettings
from heedful.tasks.contract import Answers, Command, How, Prepared, Request, Simple, Task
from heedful.tasks.options import Decoding, Option
from heedful.train.learner import Evaluation
from heedful.train.rows import RowsLearner

Row = tuple[str, str]


class ModelSettings(Table):
    width: int = Option(8, ge=2)
    """Width of the residual stream."""


class Settings(TaskSettings):
    task: Literal["counting"] = "counting"
    model: ModelSettings = ModelSettings()
    train: TrainSettings = TrainSettings()


def rows(paths: Sequence[Path], columns: Any = None, encoding: str = "utf-8") -> list[Row]:
    lines = [line.split("\t") for path in paths for line in path.read_text(encoding).splitlines()]
    for number, parts in enumerate(lines, start=1):
        if len(parts) != 2 or not set(parts[0]) <= {"a", "b"} or parts[1] not in ("a", "b"):
            raise DataError(f"{paths[0]}:{number} is not letters, a tab, and a or b")
    return [(text, label) for text, label in lines]


def prepare(request: Request, made: Path, report: Any) -> Prepared:
    chosen = {"train": {"lr": 0.02, "warmup": 5, "epochs": 40}}
    settings = resolve(merge(chosen, request.settings or {}), Settings)
    read = rows(request.files)
    dev = rows(request.dev) if request.dev else read[::5]
    made.mkdir(parents=True, exist_ok=True)
    train = [row for row in read if row not in dev]
    (made / "rows.json").write_text(json.dumps([train, dev]), "utf-8")
    return Prepared(settings, train, dev, {"lines": len(train)})


def reopen(folder: Folder[Settings], made: Path) -> Prepared:
    train, dev = (
        [(t, w) for t, w in part] for part in json.loads((made / "rows.json").read_text())
    )
    return Prepared(folder.settings, train, dev, {"lines": len(train)})


class Model(nn.Module):
    def __init__(self, settings: Settings, tables: Any = None) -> None:
        super().__init__()
        width = settings.model.width
        self.embedding = nn.Embedding(2, width)
        self.encoder = Encoder(1, width, d_ff=2 * width, n_heads=2, dropout=0.1)
        self.head = nn.Linear(width, 2)

    def forward(self, texts: Sequence[str]) -> Tensor:
        ids, lengths = pad([["ab".index(letter) for letter in text] for text in texts], 0)
        x = passing(self.embedding, self.embedding(ids))
        states = self.encoder(x, masks.padding(lengths, ids.size(1)))
        real = masks.real(lengths, ids.size(1))[..., None]
        return self.head((states * real).sum(1) / lengths[:, None])  # type: ignore[no-any-return]


class Counting(RowsLearner[Row]):
    def __init__(self, model: Model, prepared: Prepared, workers: int, tests: int) -> None:
        self.model, self.rows = model, prepared.data
        self.dev = [row for i, row in enumerate(prepared.dev) if tests or i % 3]

    def loss(self, model: nn.Module, batch: list[Row], generator: torch.Generator) -> Loss:
        wanted = torch.tensor(["ab".index(label) for _, label in batch])
        found = cross_entropy(model([text for text, _ in batch]), wanted, reduction="sum")
        return Loss(found, found.detach())

    def evaluate(self, fresh: bool = False) -> Evaluation:
        found = judge(answer(Used(self.model), self.dev, {}), self.dev, None, {})[0].value
        return Evaluation(found, 1.0, {"accuracy": found})


class Used:
    def __init__(self, model: Model, always: str = "") -> None:
        self.model, self.always = model, always

    def say(self, texts: Sequence[str]) -> list[str]:
        was, _ = self.model.training, self.model.eval()
        with torch.no_grad():
            found = [self.always or "ab"[i] for i in self.model(texts).argmax(-1)]
        self.model.train(was)
        return found


def open_model(path: Path, how: How) -> Used:
    folder = Folder.open(path, Settings)
    load_weights(model := Model(folder.settings), folder)
    return Used(model.eval(), "a" if how.simple else "")


def answer(used: Used, given: Sequence[Row], options: Mapping[str, Any]) -> Answers:
    return Answers(used.say([text for text, _ in given]), 1e-3)


def judge(said: Answers, given: Sequence[Row], settings: Any, options: Any) -> list[Judged]:
    return [hits([a == b for a, (_, b) in zip(said.outputs, given, strict=True)])]


def show(used: Used, inputs: Sequence[str], options: Any) -> Pass:
    return Pass(
        used.model,
        lambda: used.model(inputs),
        [Stream("letters", inputs[0], pieces(list(inputs[0])), used.model.embedding)],
        [Stack("encoder", "letters", [Attends("encoder", "letters")])],
        Output("class", "encoder", taken=["ab".index(used.say(inputs)[0])], name="ab".__getitem__),
    )


class Count(Decoding):
    """Say of each text which letter it has more of."""

    model: Path = Option(..., argument=True)
    """The model folder."""
    text: tuple[str, ...] = Option(..., argument=True)
    """Letters."""


TASK = Task(
    name="counting",
    sentence="lines of letters make a model that says which there are more of",
    settings=Settings,
    roles=("text", "label"),
    claims=lambda paths, columns: "letters" if paths[0].suffix == ".letters" else None,
    prepare=prepare,
    reopen=reopen,
    build=Model,
    learner=Counting,
    open=open_model,
    rows=rows,
    answer=answer,
    judge=judge,
    inherit=lambda folder, asked: folder.settings.model_dump(exclude_none=True),
    simple=Simple(lambda prepared, dev, folder, report: "always a", "heedful count {} --simple"),
    apart=lambda dev: [index % 3 == 0 for index in range(len(dev))],
    show=show,
    reply=lambda used, inputs, options: used.say(inputs),
    commands=(
        Command(
            "count",
            Count,
            lambda options, terminal: [
                terminal.write(letter)
                for letter in open_model(options.model, options.how(print)).say(options.text)
            ],
        ),
    ),
    try_it="heedful count {} aab",
)
