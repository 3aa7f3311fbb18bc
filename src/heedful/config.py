"""From TOML to settings: recipes, overrides, and every mistake in them told at once.

A raw configuration is the nested dictionary that TOML gives. Raw ones are merged, the later on
top; only `resolve` turns the result into settings, so what a person wrote stays known (see
`chosen`). The settings themselves and their defaults are in `settings.py` and in each task's.
"""

from __future__ import annotations

import difflib
import json
import math
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import resources
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args, get_origin

import tomli_w
from pydantic import BaseModel, ValidationError
from pydantic.fields import FieldInfo

from heedful.errors import ConfigError
from heedful.settings import FORMAT_VERSION, TaskSettings, TokenIds

__all__ = [
    "Raw",
    "chosen",
    "dump",
    "merge",
    "parse_overrides",
    "part",
    "presets",
    "read",
    "recipe",
    "resolve",
    "token_ids",
    "upgrade",
]

Raw = dict[str, Any]
Table = TypeVar("Table", bound=BaseModel)
SettingsT = TypeVar("SettingsT", bound=TaskSettings)

# What the paper and other toolkits call it: spelling alone would not lead from these to ours.
OTHER_NAMES = {
    "accum_count": "train.accumulate",
    "attention_heads": "model.n_heads",
    "batch_size": "data.batch_tokens",
    "beam_size": "decode.beam",
    "d_k": "model.d_head",
    "d_v": "model.d_value",
    "embed_dim": "model.d_model",
    "ffn_dim": "model.d_ff",
    "grad_clip": "train.clip",
    "gradient_accumulation": "train.accumulate",
    "heads": "model.n_heads",
    "hidden_size": "model.d_model",
    "layers": "model.encoder_layers",
    "learning_rate": "train.lr",
    "max_epochs": "train.epochs",
    "max_steps": "train.steps",
    "max_tokens": "data.batch_tokens",
    "max_updates": "train.steps",
    "n_layers": "model.encoder_layers",
    "num_heads": "model.n_heads",
    "num_layers": "model.encoder_layers",
    "smoothing": "train.label_smoothing",
    "src_lang": "source",
    "tgt_lang": "target",
    "train_steps": "train.steps",
    "update_freq": "train.accumulate",
    "valid_steps": "train.evaluate_every",
    "vocab": "tokenizer.vocab_size",
    "warmup_steps": "train.warmup",
    "warmup_updates": "train.warmup",
}

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
    problems: list[str] = []
    clean = _known(table, raw, prefix, problems, [*_keys(table, prefix)])
    wrong: set[str] = set()
    built = None
    while built is None:
        try:
            built = table.model_validate(clean, strict=True)
        except ValidationError as error:
            mistakes = error.errors()
            for one in mistakes:
                key = prefix + ".".join(map(str, one["loc"]))
                if one["type"] == "missing":
                    problems.append(f"{key} is missing")
                    continue
                if one["type"] == "value_error":  # one of our own, about several fields together
                    text = str(one["ctx"]["error"])
                    if not any(re.search(rf"\b{re.escape(k)}\b", text) for k in wrong):
                        problems.append(text)
                else:
                    problems.append(_mistake(key, one["input"], one["type"], _field(table, one)))
                wrong.add(key)
                if one["loc"]:
                    _remove(clean, one["loc"])
            # What is missing cannot be taken out, nor can the whole table.
            if any(one["type"] == "missing" or not one["loc"] for one in mistakes):
                break
    if problems or built is None:
        raise ConfigError("\n".join(problems))
    return built


def _known(
    table: type[BaseModel],
    raw: Mapping[str, Any],
    prefix: str,
    problems: list[str],
    known: Sequence[str],
) -> Raw:
    """Copy the keys that exist; whole floats become ints where an int is wanted (1e5 steps)."""
    clean: Raw = {}
    for key, value in raw.items():
        field = table.model_fields.get(key)
        if prefix + key in RETIRED:
            if value:  # an older folder's config.toml has them switched off
                problems.append(f"{prefix}{key} is gone: {RETIRED[prefix + key]}; leave it out")
        elif field is None:
            problems += [
                _unknown(table, name, prefix, known) for name in _leaves(prefix + key, value)
            ]
        elif isinstance(value, Mapping) and _is_table(field):
            below: Any = field.annotation
            clean[key] = _known(below, value, f"{prefix}{key}.", problems, known)
        elif isinstance(value, float) and not math.isfinite(value):
            problems.append(_mistake(prefix + key, value, "finite", field))
        elif isinstance(value, float) and int in _types(field) and value.is_integer():
            clean[key] = int(value)
        else:
            clean[key] = value
    return clean


def _leaves(key: str, value: Any) -> Iterator[str]:
    if isinstance(value, Mapping) and value:
        for name, below in value.items():
            yield from _leaves(f"{key}.{name}", below)
    else:
        yield key


def _remove(raw: Raw, place: tuple[int | str, ...]) -> None:
    for name in place[:-1]:
        raw = raw[str(name)]
    del raw[str(place[-1])]


def _is_table(field: FieldInfo) -> bool:
    return isinstance(field.annotation, type) and issubclass(field.annotation, BaseModel)


def _types(field: FieldInfo) -> tuple[Any, ...]:
    """Give the types a field may have; a Literal's are kept as they are."""
    annotation = field.annotation
    return (annotation,) if get_origin(annotation) in (None, Literal) else get_args(annotation)


def _keys(table: type[BaseModel], prefix: str = "") -> Iterator[str]:
    for name, field in table.model_fields.items():
        if _is_table(field):
            yield from _keys(field.annotation, f"{prefix}{name}.")  # type: ignore[arg-type]
        else:
            yield prefix + name


def _field(table: type[BaseModel], error: Mapping[str, Any]) -> FieldInfo:
    """Find the field an error of pydantic is about."""
    *way, last = error["loc"]
    for name in way:
        table = table.model_fields[name].annotation  # type: ignore[assignment]
    return table.model_fields[last]


def _unknown(table: type[BaseModel], key: str, prefix: str, known: Sequence[str]) -> str:
    near = _nearest(key, known)
    if near is not None:
        return f"{key} is not a setting; did you mean {near}?"
    has = f"{prefix.rstrip('.')} has" if prefix else "expected one of"
    return f"{key} is not a setting; {has} {', '.join(table.model_fields)}"


def _nearest(key: str, known: Sequence[str]) -> str | None:
    """Find the setting that was meant: right name elsewhere, another toolkit's name, a slip."""
    place, _, name = key.rpartition(".")
    elsewhere = [k for k in known if k.rpartition(".")[2] == name]
    if elsewhere:
        return difflib.get_close_matches(key, elsewhere, n=1, cutoff=0.0)[0]
    if OTHER_NAMES.get(name) in known:
        return OTHER_NAMES[name]
    beside = [k for k in known if k.rpartition(".")[0] == place]
    for candidates, cutoff in ((beside, 0.6), (known, 0.8)):
        names = {k.rpartition(".")[2]: k for k in candidates}
        slips = difflib.get_close_matches(name, names, n=1, cutoff=cutoff)
        if slips:
            return names[slips[0]]
    return None


def _mistake(key: str, value: Any, kind: str, field: FieldInfo) -> str:
    if _is_table(field):
        names = ", ".join(field.annotation.model_fields)  # type: ignore[union-attr]
        return f"{key} = {_shown(value)} is not a table; {key} has {names}"
    ranges = ("greater_than", "greater_than_equal", "less_than", "less_than_equal", "finite")
    what = "is out of range" if kind in ranges else "is not allowed"
    expected = _expected(field)
    if kind == "finite":
        expected = expected.replace("a ", "a finite ", 1)
    return f"{key} = {_shown(value)} {what}; expected {expected}"


def _expected(field: FieldInfo) -> str:
    """Say in words what a field takes, from its type and its bounds."""
    kinds = _types(field)
    if get_origin(kinds[0]) is Literal:
        return "one of " + ", ".join(map(str, get_args(kinds[0])))
    words = {int: "a whole number", float: "a number", bool: "true or false", str: "a string"}
    limits = {"ge": "at least", "gt": "above", "le": "at most", "lt": "below"}
    bounds = [
        f"{limits[name]} {getattr(bound, name)}"
        for bound in field.metadata
        for name in limits
        if getattr(bound, name, None) is not None
    ]
    return f"{words[kinds[0]]}{', ' if bounds else ''}{' and '.join(bounds)}"


def _shown(value: Any) -> str:
    """Show a value as TOML would, cut where it is long."""
    if isinstance(value, bool | str):
        text = json.dumps(value, ensure_ascii=False)
    else:
        text = str(value)
    return text if len(text) <= 60 else f"{text[:57]}..."
