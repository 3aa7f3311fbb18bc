"""What an endpoint may be asked, as models: they check a request and describe it in OpenAPI.

Here is what all of them share. As LibreTranslate has it, numbers and flags may come as text, and
what is null or an empty text counts as not given.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, Field, ValidationError, model_validator

from heedful.serve.errors import RequestError, clip, invalid, too_long
from heedful.serve.forms import parse_value

Asked = TypeVar("Asked", bound="Keyed")

JSON_ONLY = ("terms", "keep", "layers", "heads", "inputs", "options")
"""Parameters that a form holds as JSON, or as numbers with commas: a schema cannot say that."""
MOST = 256
"""Layers or heads one can choose."""

WITHOUT_NUL = r"^[^\u0000]*$"

SURROGATE = re.compile("[\ud800-\udfff]")
HOLDS_NUL = "holds a NUL character"
HOLDS_SURROGATE = "holds half a surrogate pair"
WRONG = {
    "string_type": "is not a text",
    "string_pattern_mismatch": HOLDS_NUL,
    "string_unicode": HOLDS_SURROGATE,
    "value_error": "{error}",
    "list_type": "is not a list of numbers",
    "dict_type": "is not an object",
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


def from_json(value: object) -> object:
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


Text = Annotated[str, Field(pattern=WITHOUT_NUL)]
NO_FLAG = BeforeValidator(_no_flag)
Chosen = Annotated[
    list[Annotated[int, Field(ge=0), NO_FLAG]],
    Field(max_length=MOST, fail_fast=True),
    BeforeValidator(_split),
]
Json = BeforeValidator(from_json)


class Keyed(BaseModel):
    """What every request may have."""

    api_key: Text | None = None

    @model_validator(mode="before")
    @classmethod
    def _given(cls, values: Mapping[str, Any]) -> dict[str, Any]:
        return {name: value for name, value in values.items() if value not in (None, "")}


class Explain(Keyed):
    """What of a trace is wanted."""

    layers: Chosen | None = Field(None, description="Those of the model that are wanted.")
    heads: Chosen | None = Field(None, description="Those of each layer that are wanted.")
    decimals: Annotated[int, Field(ge=0, le=8), NO_FLAG] | None = 4
    values: bool | None = True
    positions: Annotated[int, Field(ge=1), NO_FLAG] | None = Field(
        None, description="Positions to give at least, whatever the input's length."
    )

    def extent(self) -> dict[str, Any]:
        """Give what bounds the trace, where it was asked for."""
        wanted = self.model_dump(include=set(Explain.model_fields) - {"api_key"})
        return {k: v for k, v in wanted.items() if k != "positions" or v is not None}


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
        return invalid(f"missing {name} parameter")
    if kind in ("too_long", "string_too_long"):
        return too_long(len(given), context["max_length"])
    if kind == "literal_error":
        if not isinstance(given, str):
            return invalid(f"{name} parameter is not a text")
        return RequestError(400, f"{clip(given)} {name} is not supported")
    said = WRONG.get(kind, mistake["msg"]).format(**context)
    return invalid(f"{name} parameter {said}")
