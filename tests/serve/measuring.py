"""A made-up task that says how long things are, to be served: as few lines as it takes."""

from __future__ import annotations

import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import httpx
import torch
from serve_case import LATER, post
from starlette.applications import Starlette
from torch import nn

from heedful.errors import DataError
from heedful.explain.passes import Attends, Output, Pass, Stack, Stream, pieces
from heedful.models.folder import Folder
from heedful.nn.observe import passing
from heedful.nn.stacks import Encoder
from heedful.serve.app import build_app
from heedful.serve.options import ServeOptions
from heedful.settings import Table, TaskSettings, TrainSettings
from heedful.tasks.contract import How, Task
from heedful.tasks.options import Option


class Settings(TaskSettings):
    """Of a task that says how long a thing is."""

    task: Literal["measuring"] = "measuring"
    train: TrainSettings = TrainSettings()


class Counting(TaskSettings):
    """Of another such task."""

    task: Literal["counting"] = "counting"
    train: TrainSettings = TrainSettings()


class Options(Table):
    """Of an answer."""

    times: int = Option(1, ge=1)
    """What a length is multiplied with."""


class Rule:
    """Measures; keeps its rounds, and waits at a gate."""

    def __init__(self, path: Path, how: How) -> None:
        self.path, self.how = path, how
        self.rounds: list[list[Any]] = []
        self.gate = threading.Event()
        self.gate.set()


def reply(rule: Rule, inputs: Sequence[Any], options: Mapping[str, Any]) -> list[Any]:
    rule.rounds.append([*inputs])
    assert rule.gate.wait(LATER)
    for one in inputs:
        if one is None:
            raise DataError("nothing cannot be measured")
        if one == {}:
            raise ZeroDivisionError("비밀")
    if "short" in inputs:
        return []
    return [{"length": len(one) * options.get("times", 1)} for one in inputs]


def stub(*given: Any) -> Any:
    raise AssertionError("serving needs no such thing")


def task(**more: Any) -> Task:
    needed = ("claims", "prepare", "reopen", "build", "learner", "rows", "answer", "judge")
    own = {"open": Rule, "reply": reply, "told": lambda settings: "long or short"}
    return Task(
        **{
            "name": "measuring",
            "sentence": "things make a model that measures them",
            "settings": Settings,
            "roles": ("thing",),
            "options": {"serve": Options},
            **dict.fromkeys(needed, stub),
            **own,
            **more,
        }
    )


def make(path: Path, name: str) -> Path:
    return Folder.create(path / name, Settings(), {}, {}).path


def app_of(*models: Any, **options: Any) -> Starlette:
    return build_app(models, ServeOptions(**options), note=str)


def rule_of(app: Starlette, name: str = "rule") -> Rule:
    rule = next(one for api in app.state.apis for one in api.models if one.name == name).used
    assert isinstance(rule, Rule)
    return rule


def predict(app: Starlette, inputs: Any, **more: Any) -> httpx.Response:
    return post(app, "/predict", inputs=inputs, **more)


class Tiny(nn.Module):
    """Reads up to seven characters, and chooses between two classes."""

    def __init__(self) -> None:
        super().__init__()
        self.embedding = nn.Embedding(7, 8)
        self.encoder = Encoder(2, 8, d_ff=16, n_heads=2)
        self.head = nn.Linear(8, 2)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        x = passing(self.embedding, self.embedding(ids))
        logits: torch.Tensor = self.head(self.encoder(x, None).mean(1))
        return logits


def show(rule: Rule, inputs: Sequence[str], options: Mapping[str, Any]) -> Pass:
    (text,) = inputs
    if len(text) > 7:
        raise DataError(f"{len(text)} characters; expected 7 at most")
    tiny = Tiny()
    return Pass(
        tiny,
        lambda: tiny(torch.arange(len(text))[None]),
        [Stream("text", text, pieces([*text]), tiny.embedding)],
        [Stack("encoder", "text", [Attends("encoder", "text")])],
        Output("class", "encoder", taken=[1], name=["long", "short"].__getitem__, head=tiny.head),
        {"name": rule.path.name},
    )
