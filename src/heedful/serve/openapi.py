"""The OpenAPI document: what may be sent and what comes back, from the models that are served."""

from __future__ import annotations

from heedful import __version__
from heedful.documents.formats import SUPPORTED
from heedful.glossary.terms import LONGEST_TERM, MOST_TERMS
from heedful.serve.directions import Directions
from heedful.serve.options import ServeOptions
from heedful.serve.schemas import Schema, answers, ref

__all__ = ["describe"]

PLAIN = r"^[^\u0000]*$"
SEEN = (
    r"^[^\u0000]*[^\u0000-\u0020\u007f-\u00a0\u00ad\u1680\u2000-\u200b\u2028\u2029\u202f\u205f"
    r"\u2060\u2581\u3000\ufeff][^\u0000]*$"
)
"""A text of which something is left when it has been normalised."""
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
MULTIPART = "multipart/form-data"

WRONG = {
    400: "The request is wrong; the text says how.",
    403: "The API key is not known.",
    408: "The body did not arrive in time.",
    413: "The body is too large.",
    415: "The body is neither JSON nor a form.",
    429: "This client has too many requests under way.",
    503: "The server has enough to do, or the request took too long; see Retry-After.",
}
JSON_ONLY = ("terms", "keep", "layers", "heads")
"""Parameters a form holds as text, JSON or numbers with commas: a schema cannot say that."""


def describe(directions: Directions, options: ServeOptions) -> Schema:
    """Give the document for these models and limits."""
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Heedful",
            "version": __version__,
            "description": (
                "Translation with LibreTranslate's API, and a look inside. The parameters of a "
                "POST may be sent as JSON, as a form or in the address; the body counts where a "
                "name is in both. Texts must be valid Unicode without NUL."
            ),
        },
        "servers": [{"url": options.prefix or "/"}],
        "paths": _paths(directions, options),
        "components": {
            "schemas": answers(),
            "securitySchemes": {"key": {"type": "http", "scheme": "bearer"}},
        },
    }


def _paths(directions: Directions, options: ServeOptions) -> Schema:
    keyed = options.keys is not None
    explained = [(one.source, [one.target]) for one in directions.models]
    return {
        "/translate": {
            "post": _post(
                "Translate a text, or a list of texts.",
                _translate(directions, options),
                ref("Translation"),
                keyed,
            )
        },
        "/detect": {
            "post": _post(
                "Guess which of the served languages a text is in.",
                {"type": "object", "required": ["q"], "properties": {"q": _q(options), **_key()}},
                {"type": "array", "minItems": 1, "items": ref("Guess")},
                keyed,
            )
        },
        "/languages": {
            method: {
                "summary": "The languages, and what each can be translated into.",
                "responses": {"200": _json("Them.", _languages())},
            }
            for method in ("get", "post")
        },
        "/translate_file": {
            "post": _post(
                f"Translate a file: {', '.join(SUPPORTED)}.",
                _file(directions),
                ref("File"),
                keyed,
                kinds=(MULTIPART,),
            )
        },
        "/download_file/{name}": {
            "get": {
                "summary": "Fetch a translated file.",
                "parameters": [_named("The last part of translatedFileUrl.")],
                "responses": {
                    "200": _binary("The file."),
                    "404": _json("It is not here, or no longer.", ref("Error")),
                },
            }
        },
        "/frontend/settings": {"get": _get("What a page has to know.", ref("FrontendSettings"))},
        "/suggest": {
            "post": {
                "summary": "LibreTranslate's suggestions, which are not taken here.",
                "responses": {"403": _json("Always.", ref("Error"))},
            }
        },
        "/health": {"get": _get("Whether the server is there.", ref("Health"))},
        "/explain": {
            "post": _post(
                "See inside a translation: docs/trace.md says what is in the answer.",
                _explain(explained, options),
                {"type": "object", "required": ["schema"]},
                keyed,
            )
        },
        "/metrics": {
            "get": {
                "summary": "Counters in Prometheus' text format.",
                "responses": {
                    "200": {
                        "description": "Them.",
                        "content": {"text/plain": {"schema": {"type": "string"}}},
                    },
                    **(_refused(400, 403) if keyed else {}),
                },
                **({"security": [{"key": []}]} if keyed else {}),
            }
        },
        "/openapi.json": {"get": _get("This document.", {"type": "object"})},
        "/": {
            "get": {
                "summary": "The page.",
                "responses": {
                    "200": {
                        "description": "It.",
                        "content": {"text/html": {"schema": {"type": "string"}}},
                    }
                },
            }
        },
    }


def _translate(directions: Directions, options: ServeOptions) -> Schema:
    return {
        "type": "object",
        "required": ["q", "source", "target"],
        "properties": {
            "q": _q(options),
            **_languages_asked(),
            "format": {"enum": ["text", "html", "", None], "default": "text"},
            "alternatives": {
                "description": "Other translations wanted.",
                "default": 0,
                "anyOf": [
                    {"type": "integer", "maximum": options.alternatives_limit},
                    {"type": "string", "enum": ["", *map(str, range(3))]},
                    {"type": "null"},
                ],
            },
            **_terms(),
            **_key(),
        },
        "anyOf": _ways(directions),
    }


def _terms() -> Schema:
    term = {"type": "string", "minLength": 1, "maxLength": LONGEST_TERM, "pattern": SEEN}
    pair = {"type": "array", "minItems": 2, "maxItems": 2, "items": term}
    most = MOST_TERMS // 2
    return {
        "terms": {
            "description": "Words and what they have to become; in a form, as JSON.",
            "anyOf": [
                {
                    "type": "object",
                    "maxProperties": most,
                    "propertyNames": term,
                    "additionalProperties": term,
                },
                {"type": "array", "maxItems": most, "items": pair},
                {"type": "null"},
            ],
        },
        "keep": {
            "description": "Words to leave as they are; in a form, as JSON.",
            "anyOf": [{"type": "array", "maxItems": most, "items": term}, {"type": "null"}],
        },
    }


def _ways(directions: Directions) -> list[Schema]:
    """Say which pairs of languages there is a way between; what is detected may be any of them."""
    targets = {code: directions.targets(code) for code in directions.languages}
    always = [t for t in directions.languages if all(t in found for found in targets.values())]
    pairs = [*targets.items(), *([("auto", always)] if always else [])]
    return [_pair(source, found) for source, found in pairs]


def _pair(source: str, targets: list[str]) -> Schema:
    return {"properties": {"source": {"const": source}, "target": {"enum": targets}}}


def _file(directions: Directions) -> Schema:
    return {
        "type": "object",
        "required": ["file", "source", "target"],
        "properties": {
            "file": {
                "description": "Its name says what it is.",
                "type": "string",
                "contentMediaType": "application/octet-stream",
                "minLength": 1,
            },
            **_languages_asked(),
            **_key(),
        },
        "anyOf": _ways(directions),
    }


def _explain(pairs: list[tuple[str, list[str]]], options: ServeOptions) -> Schema:
    some = {
        "anyOf": [
            {"type": "array", "maxItems": 256, "items": {"type": "integer", "minimum": 0}},
            {"type": "null"},
        ]
    }
    return {
        "type": "object",
        "required": ["q", "source", "target"],
        "properties": {
            "q": _text(options.explain_limit, 1),
            **_languages_asked(),
            "translation": {"anyOf": [_text(options.explain_limit), {"type": "null"}]},
            "layers": some | {"description": "Those of the model that are wanted; all if none."},
            "heads": some | {"description": "Those of each layer that are wanted; all if none."},
            "decimals": {"type": ["integer", "null"], "minimum": 0, "maximum": 8, "default": 4},
            "values": {"type": ["boolean", "null"], "default": True},
            **_key(),
        },
        "anyOf": [_pair(source, targets) for source, targets in pairs],
    }


def _q(options: ServeOptions) -> Schema:
    return {
        "description": f"At most {options.char_limit} characters, all texts together.",
        "anyOf": [
            _text(options.char_limit, 1),
            {
                "type": "array",
                "minItems": 1,
                "maxItems": options.batch_limit,
                "items": _text(options.char_limit),
            },
        ],
    }


def _text(longest: int, shortest: int = 0) -> Schema:
    return {"type": "string", "minLength": shortest, "maxLength": longest, "pattern": PLAIN}


def _languages_asked() -> Schema:
    return {
        "source": {"type": "string", "description": "A language code, or auto where allowed."},
        "target": {"type": "string", "description": "A language code."},
    }


def _key() -> Schema:
    return {"api_key": {"type": ["string", "null"], "pattern": PLAIN}}


def _languages() -> Schema:
    return {"type": "array", "minItems": 1, "items": ref("Language")}


def _post(
    summary: str,
    body: Schema,
    answer: Schema,
    keyed: bool,
    kinds: tuple[str, ...] = (JSON, FORM, MULTIPART),
) -> Schema:
    return {
        "summary": summary,
        "requestBody": {"required": True, "content": _content(body, kinds)},
        "responses": {"200": _json("Done.", answer), **_refused(*WRONG)},
        **({"security": [{"key": []}, {}]} if keyed else {}),
    }


def _content(body: Schema, kinds: tuple[str, ...]) -> Schema:
    """Describe a body in each of its kinds; everything in a form is text, and null is not."""
    form = body | {
        "properties": {
            name: _without_null(one)
            for name, one in body["properties"].items()
            if name not in JSON_ONLY
        }
    }
    return {kind: {"schema": body if kind == JSON else form} for kind in kinds}


def _without_null(schema: Schema) -> Schema:
    """Take away what a form cannot say: null, and a list of one empty text."""
    found = dict(schema)
    if isinstance(found.get("type"), list):
        found["type"] = next(kind for kind in found["type"] if kind != "null")
    if "enum" in found:
        found["enum"] = [value for value in found["enum"] if value is not None]
    if "anyOf" in found:
        found["anyOf"] = [
            one | {"items": one["items"] | {"minLength": 1}} if one["type"] == "array" else one
            for one in found["anyOf"]
            if one["type"] != "null"
        ]
    return found


def _get(summary: str, answer: Schema) -> Schema:
    return {"summary": summary, "responses": {"200": _json("It.", answer)}}


def _refused(*codes: int) -> Schema:
    found = {str(code): _json(WRONG[code], ref("Error")) for code in codes}
    for code in ("429", "503"):
        if code in found:
            found[code]["headers"] = {"Retry-After": {"schema": {"type": "integer"}}}
    return found


def _json(description: str, schema: Schema) -> Schema:
    return {"description": description, "content": {JSON: {"schema": schema}}}


def _binary(description: str) -> Schema:
    return {"description": description, "content": {"application/octet-stream": {"schema": {}}}}


def _named(description: str) -> Schema:
    return {
        "name": "name",
        "in": "path",
        "required": True,
        "description": description,
        "schema": {"type": "string", "minLength": 1},
    }
