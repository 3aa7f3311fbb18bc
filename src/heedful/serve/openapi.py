"""Endpoints and the OpenAPI document of them: what may be sent, and what comes back."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from heedful import __version__
from heedful.serve.requests import JSON_ONLY, Keyed

Schema = dict[str, Any]

JSON = "application/json"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
REFERENCE = "#/components/schemas/{model}"
KEYED: Schema = {"security": [{"key": []}]}

WRONG = {
    400: "The request is wrong; the text says how.",
    403: "The API key is not known.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The body is neither JSON nor a form.",
    429: "This client has too many requests under way.",
    503: "The server has enough to do, or the request took too long; see Retry-After.",
}


def to_json(value: object) -> bytes:
    """Write JSON as LibreTranslate does, without escaping what is not ASCII."""
    return json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()


def answer_json(value: object, status: int = 200) -> Response:
    """Answer with JSON that no cache keeps."""
    body = value if isinstance(value, bytes) else to_json(value)
    return Response(body, status, {"Cache-Control": "no-store"}, media_type="application/json")


class Error(BaseModel):
    """What every refusal says."""

    error: str


class Health(BaseModel):
    """The server works."""

    status: Literal["ok"]


class ServedModel(BaseModel):
    """A served model: what it is called, its task, and what it is in a few words."""

    name: str
    task: str
    about: str


class _FormSchema(GenerateJsonSchema):
    """Describes a form, where nothing is null."""

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


@dataclass(frozen=True)
class Endpoint:
    """A path, what answers there, and its description, whose methods are those there are."""

    path: str
    handler: Callable[[Request], Awaitable[Response]]
    described: Schema
    costly: bool = False
    """Whether it is refused before its body is read, while its API has no room."""
    hidden: bool = False
    """Whether only a page asks for it, so that the document does not name it."""

    def route(self) -> Route:
        """Give it as starlette wants it."""
        return Route(self.path, self.handler, methods=[one.upper() for one in self.described])


def describe(
    sentence: str, endpoints: Iterable[Endpoint], answers: Iterable[type[BaseModel]], base: str
) -> Schema:
    """Give the document of these endpoints, whose answers are made of these models."""
    every = [(one, "validation") for one in (Error, Health, ServedModel, *answers)]
    _, schemas = models_json_schema(every, ref_template=REFERENCE)  # type: ignore[arg-type]
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Heedful",
            "version": __version__,
            "description": (
                f"{sentence} The parameters of a POST may be sent as JSON, as a form or in the "
                "address; the body counts where a name is in both. Texts must be valid Unicode "
                "without NUL. A parameter that is null or empty counts as not given."
            ),
        },
        "servers": [{"url": base}],
        "paths": {one.path: one.described for one in endpoints if not one.hidden},
        "components": {
            "schemas": schemas["$defs"],
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def post(
    summary: str,
    models: Sequence[type[Keyed]],
    answer: Schema,
    keyed: bool,
    kinds: Sequence[str] = (JSON, *FORMS),
) -> Schema:
    """Describe an endpoint that takes one of some requests; `keyed` is whether keys are needed."""

    def either(kind: str) -> Schema:
        bodies = [_body(one, kind) for one in models]
        return bodies[0] if len(bodies) == 1 else {"anyOf": bodies}

    return {
        "post": {
            "summary": summary,
            "requestBody": {
                "required": True,
                "content": {kind: {"schema": either(kind)} for kind in kinds},
            },
            "responses": {"200": content("Done.", answer), **_refused(*WRONG)},
            **({"security": [*KEYED["security"], {}]} if keyed else {}),
        }
    }


def _body(model: type[BaseModel], kind: str) -> Schema:
    """Describe a body in one of its kinds."""
    generator = GenerateJsonSchema if kind == JSON else _FormSchema
    schema = model.model_json_schema(ref_template=REFERENCE, schema_generator=generator)
    if kind != JSON:
        for name in JSON_ONLY:
            schema["properties"].pop(name, None)
        for one in schema["properties"].values():
            if one.get("default", ...) is None:
                del one["default"]
    return schema


def ref(name: str, many: bool = False) -> Schema:
    """Name a described answer, or a list of such."""
    one = {"$ref": REFERENCE.format(model=name)}
    return {"type": "array", "minItems": 1, "items": one} if many else one


def get(summary: str, answer: Schema, kind: str = JSON, keyed: bool = False) -> Schema:
    """Describe an endpoint that is only read."""
    answers = {"200": content("The answer.", answer, kind)}
    if not keyed:
        return {"get": {"summary": summary, "responses": answers}}
    return {"get": {"summary": summary, "responses": answers | _refused(400, 403), **KEYED}}


def _refused(*codes: int) -> Schema:
    """Describe refusals."""
    found = {str(code): content(WRONG[code], ref("Error")) for code in codes}
    for code in {"429", "503"} & found.keys():
        found[code]["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return found


def content(description: str, schema: Schema, kind: str = JSON) -> Schema:
    """Describe one answer."""
    return {"description": description, "content": {kind: {"schema": schema}}}
