"""Typer commands made from classes of options: a field is an option, its docstring is the help."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping
from copy import copy
from typing import Any, Optional

import typer
from pydantic import create_model

from heedful import config
from heedful.settings import Table

BOUNDS = {"ge": "min", "gt": "min", "le": "max", "lt": "max"}


def command(
    name: str, options: type[Table], run: Callable[[Any], None], meaning: str | None = None
) -> Callable[..., None]:
    """Make a function that typer can take, which checks the options and runs."""

    def call(**given: Any) -> None:
        values = {key: value for key, value in given.items() if value is not None}
        lists = {key: tuple(v) for key, v in values.items() if isinstance(v, list)}
        run(config.part(options, values | lists, "--"))

    parameters = [
        inspect.Parameter(
            key,
            inspect.Parameter.KEYWORD_ONLY,
            default=inspect.Parameter.empty if field.is_required() else _default(field.default),
            annotation=typing.Annotated[_plain(field.annotation), _typer(key, field)],
        )
        for key, field in sorted(options.model_fields.items(), key=lambda item: _rank(item[1]))
    ]
    call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
    call.__annotations__ = {one.name: one.annotation for one in parameters}
    call.__name__, call.__doc__ = name, meaning or options.__doc__
    return call


def merged(name: str, generic: type[Table], own: Mapping[str, type[Table]]) -> type[Table]:
    """Put the options of several tasks, given by their names, beside those every task has."""
    fields: dict[str, Any] = {}
    for task, table in own.items():
        for key, field in table.model_fields.items():
            if key in generic.model_fields or key in fields:
                continue
            option = copy(field)
            option.default = None  # it was not given
            if len(own) > 1:
                option.description = f"{(field.description or '').rstrip('.')} ({task})."
            fields[key] = (Optional[field.annotation], option)  # noqa: UP045 (known only now)
    return create_model(name, __base__=generic, **fields) if fields else generic


def flags_of(key: str, field: Any) -> list[str]:
    """Give how an option is written."""
    return _extra(field).get("flags") or [f"--{key.replace('_', '-')}"]


def _rank(field: Any) -> tuple[bool, bool]:
    """Arguments come first, what is compulsory before what is not."""
    return not _extra(field).get("argument"), not field.is_required()


def _extra(field: Any) -> dict[str, Any]:
    extra = field.json_schema_extra
    return extra if isinstance(extra, dict) else {}


def _default(value: Any) -> Any:
    return list(value) or None if isinstance(value, tuple) else value


def _plain(annotation: Any) -> Any:
    """Give a type as typer has it: several values are a list."""
    parts = typing.get_args(annotation)
    if typing.get_origin(annotation) is tuple:
        return list[parts[0]] | None  # type: ignore[valid-type]
    if typing.get_origin(annotation) in (types.UnionType, typing.Union):
        kinds = [_plain(part) for part in parts if part is not type(None)]
        return Optional[kinds[0]]  # noqa: UP045
    return annotation


def _typer(key: str, field: Any) -> Any:
    """Give typer's own description of an argument or an option."""
    help = " ".join((field.description or "").split())
    if _extra(field).get("argument"):
        return typer.Argument(help=help, show_default=False)
    flags = flags_of(key, field)
    kinds = set(typing.get_args(field.annotation)) | {field.annotation}
    if bool in kinds and not field.default:  # no --no-... for what is off anyhow
        return typer.Option(*flags, help=help)
    bounds = {
        mark: getattr(bound, name)
        for bound in field.metadata
        for name, mark in BOUNDS.items()
        if getattr(bound, name, None) is not None and name in ("ge", "le")
    }
    if not kinds & {int, float}:
        bounds = {}
    show = field.default not in (None, (), "")
    return typer.Option(*_both(flags, kinds, field), help=help, show_default=show, **bounds)


def _both(flags: list[str], kinds: set[Any], field: Any) -> list[str]:
    """Name the way to turn off what is on by default."""
    if bool not in kinds:
        return flags
    return [f"{flags[0]}/--no-{flags[0].removeprefix('--')}"]
