"""From TOML to settings: recipes, overrides, and every mistake in them told at once.

A raw configuration is the nested dictionary that TOML gives. Raw ones are merged, the later on
top; only `resolve` turns the result into settings, so what a person wrote stays known (see
`chosen`). The settings themselves and their defaults are in `settings.py` and in each task's.
"""

from __future__ import annotations

import difflib
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, TypeVar

import tomli_w
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from heedful.errors import ConfigError
from heedful.mistakes import kind_of, mistake, tables_of, types_of, unknown, unknown_kind
from heedful.settings import FORMAT_VERSION, TaskSettings, TokenIds

Raw = dict[str, Any]
Table = TypeVar("Table", bound=BaseModel)
SettingsT = TypeVar("SettingsT", bound=TaskSettings)

KEY = re.compile(r"[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*")
NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")


def read(path: str | Path) -> Raw:
    """Read a TOML file."""
    try:
        return tomllib.loads(Path(path).read_text("utf-8"))
    except OSError as error:
        known = {FileNotFoundError: "does not exist", IsADirectoryError: "is a folder"}
        reason = known.get(type(error), f"cannot be read: {error.strerror}")
        raise ConfigError(f"{path} {reason}; give the path of a TOML file") from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"{path} is not UTF-8 text: byte {error.start} is {error.object[error.start]:#04x}; "
            f"save it as UTF-8"
        ) from error
    except tomllib.TOMLDecodeError as error:
        reason = re.sub(r" \(at (.*)\)$", r" at \1", str(error))
        raise ConfigError(f"{path} is not valid TOML: {reason}; mend it there") from error


def presets(package: str) -> list[str]:
    """Name the recipes that come with a task, which are in the folder `recipes` of its package."""
    folder = resources.files(package) / "recipes"
    names = (file.name for file in folder.iterdir()) if folder.is_dir() else iter(())
    return sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml"))


def recipe(name_or_path: str | Path, package: str) -> Raw:
    """Read a preset of a task by its name, or any TOML file by its path."""
    names = presets(package)
    if str(name_or_path) in names:  # `--recipe tiny` comes as a path
        file = resources.files(package) / "recipes" / f"{name_or_path}.toml"
        return tomllib.loads(file.read_text("utf-8"))
    path = Path(name_or_path)
    if path.exists() or path.name.endswith(".toml") or path.name != str(name_or_path):
        return read(path)
    near = difflib.get_close_matches(path.name, names, n=1)
    raise ConfigError(
        f"{str(name_or_path)!r} is not a preset; the presets are {', '.join(names)}; "
        + (f"did you mean {near[0]}?" if near else "take one of them or the path of a TOML file")
    )


def parse_overrides(overrides: Iterable[str]) -> Raw:
    """Turn `train.lr=3e-4` and the like into a raw configuration; a later one wins.

    Values are TOML numbers, true, false or quoted strings; anything else is taken as the string
    it is, so that nobody has to quote quotes for a shell.
    """
    raw: Raw = {}
    for override in overrides:
        key, equals, value = (part.strip() for part in override.partition("="))
        if not equals or not value or not KEY.fullmatch(key):
            raise ConfigError(
                f"{override!r} does not set anything; write it as table.name=value, "
                f"for example train.lr=3e-4"
            )
        table: Any = _scalar(value)
        for name in reversed(key.split(".")):
            table = {name: table}
        raw = merge(raw, table)
    return raw


def _scalar(text: str) -> bool | int | float | str:
    try:
        parsed = tomllib.loads(f"value = {text}")
    except tomllib.TOMLDecodeError:
        return float(text) if NUMBER.fullmatch(text) else text  # TOML itself refuses `.3` and `1.`
    value = parsed["value"]
    if len(parsed) == 1 and isinstance(value, bool | int | float | str):
        return value
    return text


def merge(*raws: Mapping[str, Any]) -> Raw:
    """Lay raw configurations over each other, table by table; the later value wins."""
    merged: Raw = {}
    for raw in raws:
        for key, value in raw.items():
            if isinstance(value, Mapping):
                below = merged.get(key)
                value = merge(below if isinstance(below, Mapping) else {}, value)
            merged[key] = value
    return merged


def chosen(raw: Mapping[str, Any], key: str) -> bool:
    """Say whether `raw` itself sets a key such as "model.d_model", whatever the default is."""
    value: Any = raw
    for name in key.split("."):
        if not isinstance(value, Mapping) or name not in value:
            return False
        value = value[name]
    return True


def resolve(raw: Mapping[str, Any], settings: type[SettingsT]) -> SettingsT:
    """Turn a raw configuration into a task's settings, or report all mistakes, a line each.

    The `config.toml` of a model folder is a recipe too: its `format` and the tables that belong to
    that folder are passed over here.
    """
    passed = ("format", *settings.tables)
    return part(settings, {k: v for k, v in raw.items() if k not in passed}, "")


def token_ids(raw: Mapping[str, Any]) -> TokenIds:
    """Read the `[ids]` of a model folder's configuration."""
    table = raw.get("ids")
    if not isinstance(table, Mapping):
        raise ConfigError("the table [ids] is missing; it says which token ids are special")
    ids = part(TokenIds, table, "ids.")
    outside = [
        f"ids.{name} = {value} is outside the vocabulary; expected 0 to {ids.size - 1}"
        for name, value in ids.model_dump(exclude={"size"}).items()
        if not 0 <= value < ids.size
    ]
    if outside:
        raise ConfigError("\n".join(outside))
    return ids


RETIRED = {"train.ema": "train.average averages the last checkpoints instead"}
"""Settings of earlier versions that have no effect on a trained model, and what to use instead."""


def upgrade(raw: Mapping[str, Any]) -> Raw:
    """Give what an earlier version wrote into a folder as this one would have written it."""
    new = merge(raw)
    for key in RETIRED:
        table, name = key.split(".")
        if isinstance(new.get(table), dict):
            new[table].pop(name, None)
    return new


def dump(settings: TaskSettings, tables: Mapping[str, Any] | None = None) -> str:
    """Write settings as TOML that `resolve` reads back exactly; what has no value is left out.

    With the tables of a model it is the `config.toml` of a model folder.
    """
    raw = settings.model_dump(exclude_none=True)
    if tables is not None:
        raw = {"format": FORMAT_VERSION, **raw, **tables}
    return tomli_w.dumps(raw)


def part(table: type[Table], raw: Mapping[str, Any], prefix: str) -> Table:
    """Make one table of settings; `prefix` is what a mistake's key begins with.

    After a mistake it is taken out and the rest validated again, until all of them are known.
    """
    clean, known = merge(raw), [*_keys(table, prefix, raw)]
    unknowns: dict[str, str] = {}
    problems: list[str] = []
    wrong: set[str] = set()
    built, again = None, True
    while built is None and again:
        again = False
        try:
            built = table.model_validate(clean, strict=True)
        except ValidationError as error:
            for one in error.errors():
                kind, value = one["type"], one["input"]
                place, owner = _place(table, one["loc"])
                field = owner.model_fields.get(place[-1]) if place else None
                key, above = prefix + ".".join(place), prefix + ".".join(place[:-1])
                if kind == "missing":
                    if key not in wrong:
                        problems.append(f"{key} is missing")
                elif kind == "value_error":  # one of our own, about several fields together
                    text = str(one["ctx"]["error"])
                    if not any(re.search(rf"\b{re.escape(k)}\b", text) for k in wrong):
                        problems.append(text)
                elif key in RETIRED:
                    if value:  # an older folder's config.toml has them switched off
                        problems.append(f"{key} is gone: {RETIRED[key]}; leave it out")
                elif field is None:
                    for name in _leaves(key, value):
                        unknowns[name] = unknown(owner, name, above, known)
                elif kind == "union_tag_invalid":
                    tag = str(field.discriminator)
                    problems.append(unknown_kind(field, f"{key}.{tag}", value[tag]))
                elif (meant := _meant(field, kind, value)) is not None:
                    _holder(clean, place)[place[-1]] = meant
                    again = True
                    continue
                else:
                    problems.append(mistake(key, value, kind, field))
                if field is not None:
                    wrong.add(key)
                if place and kind != "missing":  # neither that nor the whole can be taken out
                    del _holder(clean, place)[place[-1]]
                    again = True
    written = (key for name, value in raw.items() for key in _leaves(prefix + name, value))
    problems = [unknowns[key] for key in written if key in unknowns] + problems
    if problems or built is None:
        raise ConfigError("\n".join(problems))
    return built


def _meant(field: FieldInfo, kind: str, value: Any) -> Any:
    """Give what a value may stand for: 1e5 for a whole number, a table for its default kind."""
    if kind == "union_tag_not_found":
        kinds, usual = tables_of(field), kind_of(field)
        return {field.discriminator: next(k for k in kinds if kinds[k] is usual), **value}
    if isinstance(value, float) and value.is_integer() and int in types_of(field):
        return int(value)
    return None


def _leaves(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for name, below in value.items():
            yield from _leaves(f"{key}.{name}", below)
    else:
        yield key


def _holder(raw: Raw, place: Sequence[str]) -> Raw:
    for name in place[:-1]:
        raw = raw[name]
    return raw


def _keys(table: type[BaseModel], prefix: str = "", raw: Any = None) -> Iterator[str]:
    """Name every setting there is; of a table of several kinds, those of the kind in `raw`."""
    for name, field in table.model_fields.items():
        value = raw.get(name) if isinstance(raw, Mapping) else None
        if tables_of(field):
            yield from _keys(kind_of(field, value), f"{prefix}{name}.", value)
        else:
            yield prefix + name


def _place(table: type[BaseModel], where: Sequence[str | int]) -> tuple[list[str], type[BaseModel]]:
    """Give the keys an error of pydantic is about, and the table that the last of them is in.

    It names kinds between keys.
    """
    keys: list[str] = []
    owner, steps = table, iter(where)
    for name in steps:
        keys.append(str(name))
        owner = table
        field = owner.model_fields.get(keys[-1])
        tables = tables_of(field) if field is not None else {}
        if field is None or not tables:
            break  # what follows is inside a value
        kind = next(steps, None) if field.discriminator else next(iter(tables))
        if kind is not None:
            table = tables[kind]
    return keys, owner
