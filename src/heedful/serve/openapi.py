"""The OpenAPI document: what may be sent and what comes back, from the models of both."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel
from pydantic.json_schema import GenerateJsonSchema, JsonSchemaValue, models_json_schema

from heedful import __version__
from heedful.serve.answers import ANSWERS
from heedful.serve.directions import Directions
from heedful.serve.options import ServeOptions
from heedful.serve.requests import (
    JSON_ONLY,
    Detect,
    Explain,
    Keyed,
    Translate,
    TranslateFile,
    limited,
)
from heedful.tasks.translation.documents.formats import SUPPORTED

__all__ = ["describe"]

Schema = dict[str, Any]

JSON = "application/json"
FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
REFERENCE = "#/components/schemas/{model}"
KEY: list[Schema] = [{"key": []}]

WRONG = {
    400: "The request is wrong; the text says how.",
    403: "The API key is not known.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The body is neither JSON nor a form.",
    429: "This client has too many requests under way.",
    503: "The server has enough to do, or the request took too long; see Retry-After.",
}


class _FormSchema(GenerateJsonSchema):
    """Describes a form, where nothing is null."""

    def nullable_schema(self, schema: Any) -> JsonSchemaValue:
        return self.generate_inner(schema["schema"])


def describe(directions: Directions, options: ServeOptions) -> Schema:
    """Give the document for these models and limits."""
    _, answers = models_json_schema(
        [(one, "validation") for one in ANSWERS], ref_template=REFERENCE
    )
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Heedful",
            "version": __version__,
            "description": (
                "Translation with LibreTranslate's API, and a look inside. The parameters of a "
                "POST may be sent as JSON, as a form or in the address; the body counts where a "
                "name is in both. Texts must be valid Unicode without NUL. A parameter that is "
                "null or empty counts as not given."
            ),
        },
        "servers": [{"url": options.prefix or "/"}],
        "paths": _paths(directions, options),
        "components": {
            "schemas": answers["$defs"],
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _paths(directions: Directions, options: ServeOptions) -> Schema:
    keyed = options.keys is not None
    targets = {code: directions.targets(code) for code in directions.languages}
    # A detected language may be any that is served: auto leads where every one of them does.
    always = [t for t in directions.languages if all(t in found for found in targets.values())]
    ways = targets | ({"auto": always} if always else {})
    explained: dict[str, list[str]] = {}
    for one in directions.models:
        explained.setdefault(one.source, []).append(one.target)

    def post(
        summary: str,
        model: type[Keyed],
        answer: Schema,
        pairs: Mapping[str, Sequence[str]] | None = None,
        kinds: Sequence[str] = (JSON, *FORMS),
    ) -> Schema:
        return {
            "post": {
                "summary": summary,
                "requestBody": {
                    "required": True,
                    "content": {
                        kind: {"schema": _body(limited(model, options), pairs, kind)}
                        for kind in kinds
                    },
                },
                "responses": {"200": _content("Done.", answer), **_refused(*WRONG)},
                **({"security": [*KEY, {}]} if keyed else {}),
            }
        }

    languages = _get("The languages, and what each can be translated into.", _list("Language"))
    files = f"Translate a file: {', '.join(SUPPORTED)}."
    text = {"type": "string"}
    metrics = _get("Counters in Prometheus' text format.", text, "text/plain")
    if keyed:
        metrics["get"] |= {"security": KEY}
        metrics["get"]["responses"] |= _refused(400, 403)
    download = _get("Fetch a translated file.", {}, "application/octet-stream")
    download["get"]["parameters"] = [
        {
            "name": "name",
            "in": "path",
            "required": True,
            "description": "The last part of translatedFileUrl.",
            "schema": {"type": "string", "minLength": 1},
        }
    ]
    gone = _content("It is not here, or no longer.", _ref("Error"))
    download["get"]["responses"]["404"] = gone
    return {
        "/translate": post(
            "Translate a text, or a list of texts.", Translate, _ref("Translation"), ways
        ),
        "/detect": post(
            "Guess which of the served languages a text is in.", Detect, _list("Guess")
        ),
        "/languages": languages | {"post": languages["get"]},
        "/translate_file": post(files, TranslateFile, _ref("File"), ways, FORMS[1:]),
        "/download_file/{name}": download,
        "/frontend/settings": _get("What a page has to know.", _ref("FrontendSettings")),
        "/suggest": {
            "post": {
                "summary": "LibreTranslate's suggestions, which are not taken here.",
                "responses": {"403": _content("Always.", _ref("Error"))},
            }
        },
        "/health": _get("Whether the server is there.", _ref("Health")),
        "/explain": post(
            "See inside a translation: docs/trace.md says what is in the answer.",
            Explain,
            {"type": "object", "required": ["schema"]},
            explained,
        ),
        "/metrics": metrics,
        "/openapi.json": _get("This document.", {"type": "object"}),
        "/": _get("The page.", text, "text/html"),
    }


def _body(model: type[BaseModel], pairs: Mapping[str, Sequence[str]] | None, kind: str) -> Schema:
    """Describe a body in one of its kinds, and the pairs of languages there is a way between."""
    generator = GenerateJsonSchema if kind == JSON else _FormSchema
    schema = model.model_json_schema(ref_template=REFERENCE, schema_generator=generator)
    if kind != JSON:
        for name in JSON_ONLY:
            schema["properties"].pop(name, None)
        for one in schema["properties"].values():
            if one.get("default", ...) is None:
                del one["default"]
    if pairs is not None:
        schema["anyOf"] = [
            {"properties": {"source": {"const": source}, "target": {"enum": [*targets]}}}
            for source, targets in pairs.items()
        ]
    return schema


def _ref(name: str) -> Schema:
    return {"$ref": REFERENCE.format(model=name)}


def _list(name: str) -> Schema:
    return {"type": "array", "minItems": 1, "items": _ref(name)}


def _get(summary: str, answer: Schema, kind: str = JSON) -> Schema:
    return {
        "get": {"summary": summary, "responses": {"200": _content("The answer.", answer, kind)}}
    }


def _refused(*codes: int) -> Schema:
    found = {str(code): _content(WRONG[code], _ref("Error")) for code in codes}
    for code in {"429", "503"} & found.keys():
        found[code]["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return found


def _content(description: str, schema: Schema, kind: str = JSON) -> Schema:
    return {"description": description, "content": {kind: {"schema": schema}}}
