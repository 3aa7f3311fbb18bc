"""POST /predict: the API of every task that has none of its own.

It is called as TensorFlow Serving, Vertex AI and LitServe call it. Inputs are JSON, and so are
outputs: what they hold is the task's affair (`Task.reply`). Output n is that of input n.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, create_model
from starlette.responses import Response

from heedful import config
from heedful.config import Raw
from heedful.errors import ConfigError
from heedful.models.folder import Folder
from heedful.serve.api import Api, Model, Shared
from heedful.serve.batcher import Queues
from heedful.serve.errors import RequestError, clip, invalid, too_long
from heedful.serve.metrics import Rounds
from heedful.serve.openapi import Endpoint, answer_json, ref, to_json
from heedful.serve.requests import Explain, Keyed, Text, from_json
from heedful.settings import Table
from heedful.tasks.contract import How, Task

Asked = TypeVar("Asked", bound=Keyed)


def _listed(value: object) -> object:
    """Take a list, or one that a form holds as JSON."""
    is_text = isinstance(value, str) and not value.lstrip().startswith("[")
    found = None if is_text else from_json(value)
    if not isinstance(found, list):
        raise ValueError("is not a list")
    return found


Inputs = BeforeValidator(_listed)
Options = Annotated[
    Annotated[dict[str, Any], BeforeValidator(from_json)] | None,
    Field(description="Options of the model's task; in a form, as JSON."),
]


@dataclass(eq=False)
class Served(Model):
    """A model that is served: what `Task.open` gave, and its task."""

    name: str
    about: str
    used: Any
    kind: Task

    def __post_init__(self) -> None:
        """Take the task's name."""
        self.task = self.kind.name

    def options(self, verb: str, own: Mapping[str, Any], asked: Mapping[str, Any]) -> Raw:
        """Check a request's options of the task, laid over those the server was started with."""
        table = self.kind.options.get(verb, Table)
        given = {k: v for k, v in own.items() if k in table.model_fields} | dict(asked)
        return config.part(table, given, "options.").model_dump(exclude_none=True)


@dataclass(frozen=True)
class _Input:
    value: Any
    text: str
    """The input, or its JSON where it is no text: what is measured."""
    options: Raw
    key: str
    """Tells its options from others."""


class _Asked(Keyed):
    """POST /predict."""

    inputs: list[Any]
    options: Options = None
    model: Text | None = None


class _ExplainInput(Explain):
    """POST /explain."""

    input: Text
    options: Options = None
    model: Text | None = None


class Outputs(BaseModel):
    """One output for each input, in their order."""

    outputs: list[Any]


class Predict(Api):
    """The endpoint, and the queue before each model."""

    sentence = "Predictions with POST /predict, and a look inside."
    answers = (Outputs,)

    def __init__(self, models: Sequence[Served], shared: Shared) -> None:
        super().__init__(models, shared)
        options = shared.options
        self._named = {one.name: one for one in models}
        self.queues: Queues[_Input, Any] = Queues(
            {(one.name,): _work(one) for one in models},
            lambda one: one.text,
            options,
            Rounds(shared.metrics.registry, ("model",), "inputs", "heedful_predict"),
            "predict",
            "inputs",
        )
        several = Annotated[list[Any], Field(min_length=1, max_length=options.batch_limit), Inputs]
        told = f"At most {options.char_limit} characters of JSON; a text counts as it is."
        self._asked = self._limited(_Asked, inputs=(several, Field(description=told)))
        text = Annotated[Text, Field(min_length=1, max_length=options.explain_limit)]
        traced = any(one.kind.show is not None for one in models)
        self.explained = self._limited(_ExplainInput, input=(text, ...)) if traced else None

    def _limited(self, model: type[Asked], **fields: Any) -> type[Asked]:
        """Give a request with the limits and the models of this server; of one it needs no name."""
        name = Annotated[Text, Field(json_schema_extra={"enum": [*self._named]})]
        which: Any = (name, ...) if len(self._named) > 1 else (name | None, None)
        return create_model(model.__name__.strip("_"), __base__=model, model=which, **fields)

    @staticmethod
    def load(path: Path, task: Task, how: How) -> Served:
        """Open a model folder to be served."""
        if task.reply is None:
            raise ConfigError(f"{path}: a model for the task {task.name} cannot be served yet")
        about = task.told(Folder.open(path, task.settings).settings)
        return Served(path.resolve().name, about, task.open(path, how), task)

    def endpoints(self) -> list[Endpoint]:
        """Give the endpoint."""
        said = "Answer inputs."
        return [self.post("/predict", self._predict, said, self._asked, ref("Outputs"), True)]

    async def _predict(self, asked: _Asked) -> Response:
        served = self._find(asked.model)
        options = served.options("serve", self.options.own, asked.options or {})
        key = json.dumps(options, sort_keys=True, default=str)
        try:
            texts = [one if isinstance(one, str) else to_json(one).decode() for one in asked.inputs]
        except (RecursionError, ValueError) as error:  # nested too deep for here; 1e999
            raise RequestError(400, "Invalid JSON format") from error
        inputs = [
            _Input(one, text, options, key) for one, text in zip(asked.inputs, texts, strict=True)
        ]
        size = sum(map(len, texts))
        if size > self.options.char_limit:
            raise too_long(size, self.options.char_limit)
        return answer_json({"outputs": await self.queues[served.name,].answer(inputs)})

    def _find(self, name: str | None) -> Served:
        if name is None:  # there is only one, or the request would be refused
            return next(iter(self._named.values()))
        if name not in self._named:
            there = ", ".join(self._named)
            raise invalid(f"no model is called {clip(name)}; there is {there}")
        return self._named[name]

    def explain(self, asked: _ExplainInput) -> Callable[[], dict[str, Any]]:
        """Give what traces an input."""
        served = self._find(asked.model)
        show = served.kind.show
        if show is None:
            raise invalid(f"a model for the task {served.task} cannot be explained yet")
        options = served.options("explain", {}, asked.options or {})

        def work() -> dict[str, Any]:
            from heedful.explain.trace import trace
            from heedful.explain.writer import Extent

            return trace(show(served.used, [asked.input], options), Extent(**asked.extent()))

        return work


def _work(served: Served) -> Callable[[list[_Input]], list[Any]]:
    """Make the function that answers a round; inputs with the same options are one batch."""

    def work(inputs: list[_Input]) -> list[Any]:
        assert served.kind.reply is not None
        found: dict[int, Any] = {}
        for key in dict.fromkeys(one.key for one in inputs):
            rows = [row for row, one in enumerate(inputs) if one.key == key]
            values, options = [inputs[row].value for row in rows], inputs[rows[0]].options
            replies = served.kind.reply(served.used, values, options)
            found.update(zip(rows, replies, strict=True))
        return [found[row] for row in range(len(inputs))]

    return work
