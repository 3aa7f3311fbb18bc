"""What an API is to the shell, and which task has one of its own.

Any other task is served by `predict`. The shell around the APIs is in `app`.
"""

from __future__ import annotations

import importlib
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from pydantic import BaseModel
from starlette.responses import Response

from heedful.errors import ConfigError
from heedful.serve.batcher import Queues
from heedful.serve.guard import RequestGuard
from heedful.serve.metrics import ServerMetrics
from heedful.serve.openapi import Endpoint, Schema, post
from heedful.serve.options import ServeOptions
from heedful.serve.requests import Keyed
from heedful.tasks import registry
from heedful.tasks.contract import How, Task

APIS = {"translation": "heedful.serve.translation.libretranslate:LibreTranslate"}
"""Where the API is that is a task's own."""
OTHERS = "heedful.serve.predict:Predict"

Note = Callable[[str], object]


class Model:
    """A model that is served."""

    name: str
    """What people call it: the name of its folder."""
    task: str
    about: str
    """What it is, in a few words."""


@dataclass(frozen=True)
class Shared:
    """What all APIs of a server share."""

    options: ServeOptions
    guard: RequestGuard
    metrics: ServerMetrics
    note: Note = print


class Api(ABC):
    """An API over some models: the shell knows no more of it than this."""

    sentence: str
    """What it is, for the description of the server."""
    answers: Sequence[type[BaseModel]]
    """The models its description refers to."""
    models: Sequence[Model]
    queues: Queues[Any, Any]
    page: Mapping[str, bytes] | None = None
    """The files of its page, if it has one."""
    explained: type[Keyed] | None = None
    """What `POST /explain` may be asked of its models, where they can be explained."""

    def __init__(self, models: Sequence[Any], shared: Shared) -> None:
        self.models, self.options, self.guard = models, shared.options, shared.guard

    @staticmethod
    @abstractmethod
    def load(path: Path, task: Task, how: How) -> Model:
        """Open a model folder to be served."""

    @abstractmethod
    def endpoints(self) -> list[Endpoint]:
        """Give the endpoints."""

    @abstractmethod
    def explain(self, asked: Any) -> Callable[[], dict[str, Any]]:
        """Give what computes a trace, in a thread; refuse at once what cannot be traced."""

    def post(
        self,
        path: str,
        work: Callable[[Any], Awaitable[Response]],
        summary: str,
        model: type[Keyed],
        answer: Schema,
        costly: bool = False,
    ) -> Endpoint:
        """Give an endpoint that admits requests of a model and does their work."""
        handler = partial(self.guard.admit, model=model, work=work)
        keyed = self.options.keys is not None
        return Endpoint(path, handler, post(summary, [model], answer, keyed), costly)


def _api_of(task: str) -> type[Api]:
    module, _, name = APIS.get(task, OTHERS).partition(":")
    found: type[Api] = getattr(importlib.import_module(module), name)
    return found


def load(path: Path, options: ServeOptions, note: Note = print) -> Model:
    """Open a model folder to be served."""
    task = registry.of_folder(path)
    how = How(options.engine, options.compute, options.threads, note=note)
    return _api_of(task.name).load(path, task, how)


def make_apis(models: Sequence[Model], shared: Shared) -> list[Api]:
    """Make the APIs of some models, those of a task's own first."""
    names = [one.name for one in models]
    for one in models:
        if one.task not in APIS and names.count(one.name) > 1:
            raise ConfigError(f"two models are called {one.name}; rename one of the folders")
    kinds = dict.fromkeys(_api_of(name) for name in [*APIS, *(one.task for one in models)])
    groups = {kind: [one for one in models if _api_of(one.task) is kind] for kind in kinds}
    return [kind(own, shared) for kind, own in groups.items() if own]
