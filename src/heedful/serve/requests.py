"""What each endpoint may be asked, as models: they check a request and describe it in OpenAPI.

As LibreTranslate has it, numbers and flags may come as text, and what is null or an empty text
counts as not given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

from pydantic import (
    BaseModel,
    BeforeValidator,
    Field,
    InstanceOf,
    TypeAdapter,
    ValidationError,
    WithJsonSchema,
    create_model,
    model_validator,
)

from heedful.serve.errors import RequestError, clip, invalid, missing, too_long
from heedful.serve.forms import Upload, parse_value
from heedful.serve.options import ServeOptions
from heedful.tasks.translation.terms import LONGEST_TERM, MOST_TERMS

__all__ = [
    "JSON_ONLY",
    "Detect",
    "Explain",
    "Keyed",
    "Translate",
    "TranslateFile",
    "check",
    "limited",
]

Asked = TypeVar("Asked", bound="Keyed")

JSON_ONLY = ("terms", "keep", "layers", "heads")
"""Parameters that a form holds as JSON, or as numbers with commas: a schema cannot say that."""
MOST = 256
"""Layers or heads one can choose."""

WITHOUT_NUL = r"^[^\u0000]*$"
VISIBLE = (
    r"^[^\u0000]*[^\u0000-\u0020\u007f-\u00a0\u00ad\u1680\u2000-\u200b\u2028\u2029\u202f\u205f"
    r"\u2060\u2581\u3000\ufeff][^\u0000]*$"
)
"""A text of which something is left when it has been normalised."""

SURROGATE = re.compile("[\ud800-\udfff]")
HOLDS_NUL = "holds a NUL character"
HOLDS_SURROGATE = "holds half a surrogate pair"
WRONG = {
    "string_type": "is not a text",
    "string_pattern_mismatch": HOLDS_NUL,
    "string_unicode": HOLDS_SURROGATE,
    "value_error": "{error}",
    "list_type": "is not a list of numbers",
    "greater_than_equal": "must be >= {ge}",
    "less_than_equal": "must be <= {le}",
    **dict.fromkeys(("bool_type", "bool_parsing"), "is not true or false"),
    **dict.fromkeys(
        ("int_type", "int_parsing", "int_parsing_size", "int_from_float", "finite_number"),
        "is not a number",
    ),
}
"""Our words for pydantic's errors, by their type."""


def _no_flag(value: object) -> object:
    if isinstance(value, bool):  # pydantic would make it 0 or 1
        raise ValueError("is not a number")
    return value


def _split(value: object) -> object:
    return value.split(",") if isinstance(value, str) else value


def _from_json(value: object) -> object:
    """Read the JSON that a form holds as text, and check every text in it, however deep."""
    if isinstance(value, str):
        try:
            value = parse_value(value.encode()) if value.strip() else None
        except (RequestError, UnicodeEncodeError) as error:
            raise ValueError("is not JSON") from error
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, str):
            if "\0" in one:
                raise ValueError(HOLDS_NUL)
            if SURROGATE.search(one):
                raise ValueError(HOLDS_SURROGATE)
        elif isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list):
            waiting += one
    return value


def _described(kind: Any) -> WithJsonSchema:
    """Describe JSON as `kind`; its content is validated where it is used."""
    return WithJsonSchema(TypeAdapter(kind | None).json_schema())


Text = Annotated[str, Field(pattern=WITHOUT_NUL)]
Source = Annotated[Text, Field(description="A language code, or auto where allowed.")]
Target = Annotated[Text, Field(description="A language code.")]
NO_FLAG = BeforeValidator(_no_flag)
Chosen = Annotated[
    list[Annotated[int, Field(ge=0), NO_FLAG]],
    Field(max_length=MOST, fail_fast=True),
    BeforeValidator(_split),
]
Json = BeforeValidator(_from_json)
Term = Annotated[str, Field(min_length=1, max_length=LONGEST_TERM, pattern=VISIBLE)]
AT_MOST = Field(max_length=MOST_TERMS // 2)
Glossary = Annotated[
    Any,
    Json,
    _described(Annotated[dict[Term, Term], AT_MOST] | Annotated[list[tuple[Term, Term]], AT_MOST]),
    Field(description="Words and what they have to become; in a form, as JSON."),
]
Kept = Annotated[
    Any,
    Json,
    _described(Annotated[list[Term], AT_MOST]),
    Field(description="Words to leave as they are; in a form, as JSON."),
]
FILE = {"type": "string", "contentMediaType": "application/octet-stream", "minLength": 1}


class Keyed(BaseModel):
    """What every request may have."""

    api_key: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _given(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value not in (None, "")}


class Detect(Keyed):
    """POST /detect."""

    q: Text | list[Text]


class Translate(Keyed):
    """POST /translate."""

    q: Text | list[Text]
    source: Source
    target: Target
    format: Literal["text", "html"] | None = "text"
    alternatives: int | None = 0
    terms: Glossary = None
    keep: Kept = None


class TranslateFile(Keyed):
    """POST /translate_file."""

    file: Annotated[InstanceOf[Upload], WithJsonSchema(FILE)] = Field(
        description="Its name says what it is."
    )
    source: Source
    target: Target
    terms: Glossary = None
    keep: Kept = None


class Explain(Keyed):
    """POST /explain."""

    q: Text
    source: Source
    target: Target
    translation: Text | None = None
    layers: Chosen | None = Field(None, description="Those of the model that are wanted.")
    heads: Chosen | None = Field(None, description="Those of each layer that are wanted.")
    decimals: Annotated[int, Field(ge=0, le=8), NO_FLAG] | None = 4
    values: bool | None = True


def limited(model: type[Asked], options: ServeOptions) -> type[Asked]:
    """Give a request with the limits of one server."""
    most = options.explain_limit if model is Explain else options.char_limit
    text = Annotated[Text, Field(min_length=1, max_length=most)]
    part = Annotated[Text, Field(max_length=most)]
    several = Field(min_length=1, max_length=options.batch_limit, fail_fast=True)
    others = Field(le=options.alternatives_limit)
    more = Field(0, description="Other translations wanted.")
    told = Field(description=f"At most {most} characters, all texts together.")
    limits: dict[str, Any] = {
        "q": (text if model is Explain else text | Annotated[list[part], several], told),
        "alternatives": (Annotated[int, others, NO_FLAG] | None, more),
        "translation": (part | None, None),
    }
    own = {name: limit for name, limit in limits.items() if name in model.model_fields}
    return create_model(model.__name__, __base__=model, **own)


def check(model: type[Asked], values: Mapping[str, Any]) -> Asked:
    """Make a request of what was sent, or say in one line what is wrong with it."""
    try:
        return model.model_validate(values)
    except ValidationError as error:
        mistakes = error.errors(include_url=False)
        name = str(mistakes[0]["loc"][0])
        # What may be a text or a list fails as both: the last mistake is that of the list.
        last = isinstance(values.get(name), list)
        one = [each for each in mistakes if each["loc"][0] == name][-1 if last else 0]
        raise _error(name, one["type"], one) from error


def _error(name: str, kind: str, mistake: Mapping[str, Any]) -> RequestError:
    context, given = mistake.get("ctx", {}), mistake["input"]
    if kind in ("missing", "too_short", "is_instance_of"):
        return missing(name)
    if kind in ("too_long", "string_too_long"):
        return too_long(len(given), context["max_length"])
    if kind == "literal_error":
        if not isinstance(given, str):
            return invalid(f"{name} parameter is not a text")
        return RequestError(400, f"{clip(given)} {name} is not supported")
    said = WRONG.get(kind, mistake["msg"]).format(**context)
    return invalid(f"{name} parameter {said}")
