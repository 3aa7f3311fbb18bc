"""What a field of settings may be, and how a mistake in one is told in a line."""

from __future__ import annotations

import difflib
import json
import math
from collections.abc import Mapping, Sequence
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin

from pydantic import BaseModel
from pydantic.fields import FieldInfo

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


def tables_of(field: FieldInfo) -> dict[Any, type[BaseModel]]:
    """Give the tables a field may be, by their kind: one but for a union, none for a value."""
    kind, annotation = field.discriminator, field.annotation
    union = get_origin(annotation) in (Union, UnionType)
    found: dict[Any, type[BaseModel]] = {}
    for one in get_args(annotation) if union else (annotation,):
        if isinstance(one, type) and issubclass(one, BaseModel):
            names = get_args(one.model_fields[str(kind)].annotation) if kind else (one.__name__,)
            found |= dict.fromkeys(names, one)
    return found


def kind_of(field: FieldInfo, value: Any = None) -> type[BaseModel]:
    """Find the table that a raw value is for: of its kind, or else of the default one.

    The default is the kind of the field's own default, or else the first.
    """
    tables, default = tables_of(field), type(field.get_default(call_default_factory=True))
    usual = default if default in tables.values() else next(iter(tables.values()))
    kind = value.get(str(field.discriminator)) if isinstance(value, Mapping) else None
    return tables.get(kind, usual) if isinstance(kind, str) else usual


def types_of(field: FieldInfo) -> tuple[Any, ...]:
    """Give the types a field may have; a Literal's are kept as they are."""
    annotation = field.annotation
    return (annotation,) if get_origin(annotation) in (None, Literal) else get_args(annotation)


def unknown_kind(field: FieldInfo, key: str, value: Any) -> str:
    """Refuse a kind of table that there is not, naming those there are."""
    kinds = [*tables_of(field)]
    near = difflib.get_close_matches(str(value), kinds, n=1)
    meant = f"; did you mean {near[0]}?" if near else ""
    return f"{key} = {_shown(value)} is not allowed; expected one of {', '.join(kinds)}{meant}"


def unknown(table: type[BaseModel], key: str, prefix: str, known: Sequence[str]) -> str:
    """Refuse a key that there is not, with the one of `known` that was meant."""
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


def mistake(key: str, value: Any, kind: str, field: FieldInfo) -> str:
    """Refuse a value, saying what was expected; `kind` is what pydantic calls the mistake."""
    if tables_of(field):
        names = ", ".join(kind_of(field).model_fields)
        return f"{key} = {_shown(value)} is not a table; {key} has {names}"
    finite = not isinstance(value, float) or math.isfinite(value)
    ranges = ("greater_than", "greater_than_equal", "less_than", "less_than_equal")
    what = "is out of range" if kind in ranges or not finite else "is not allowed"
    expected = _expected(field) if finite else _expected(field).replace("a ", "a finite ", 1)
    return f"{key} = {_shown(value)} {what}; expected {expected}"


def _expected(field: FieldInfo) -> str:
    """Say in words what a field takes, from its type and its bounds."""
    kinds = types_of(field)
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
