"""`make docs`: the pages of docs/reference, written from the code itself.

Commands come from typer, settings from pydantic, the Python API from its signatures and docstrings.
`--check` writes nothing and names the pages that are no longer what the code says.
"""

from __future__ import annotations

import ast
import dataclasses
import importlib
import inspect
import json
import re
import sys
import textwrap
from collections.abc import Callable, Iterable, Iterator
from importlib import resources
from pathlib import Path
from types import ModuleType
from typing import Any, get_args

import typer
import typer.main
from pydantic import BaseModel

import heedful
from heedful import config
from heedful.cli.main import build
from heedful.settings import SamplingSettings
from heedful.tasks import registry

__all__ = ["PAGES", "main", "stale"]

FOLDER = Path(__file__).parent / "reference"
HEAD = "<!-- Written by `make docs` from the code: change it there. -->\n"

EXAMPLES = {
    "average": "heedful average my-model lawyer -o both",
    "backtranslate": "heedful backtranslate en-ko more.en -o more.tsv",
    "check": "heedful check corpus.ko corpus.en --test test.ko test.en",
    "demo": "heedful demo --to ko",
    "distill": "heedful distill my-model corpus.ko -o small-model --minutes 30",
    "evaluate": "heedful evaluate my-model test.ko test.en --compare other-model",
    "explain": 'heedful explain my-model "나는 학생이다." -o page.html',
    "export": "heedful export my-model --to huggingface -o for-transformers",
    "finetune": "heedful finetune my-model law.ko law.en -o lawyer --mix corpus.ko corpus.en",
    "import": "heedful import opus-mt-ko-en -o ko-en",
    "info": "heedful info my-model",
    "plan": "heedful plan corpus.ko corpus.en --minutes 60",
    "serve": "heedful serve my-model en-ko --port 8080",
    "train": "heedful train corpus.ko corpus.en -o my-model --minutes 30",
    "translate": 'heedful translate my-model "나는 학생이다." --beam 8 --n-best 3',
}
"""One line a person may type, for each command."""


def row(*cells: str) -> str:
    """Write one line of a table."""
    return "| " + " | ".join(" ".join(cell.split()).replace("|", "\\|") for cell in cells) + " |"


def table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Write a table, or nothing where it has no rows."""
    lines = [row(*cells) for cells in rows]
    return [row(*head), row(*("---" for _ in head)), *lines, ""] if lines else []


def code(text: str) -> str:
    """Put a text into backticks, and nothing where there is none."""
    return f"`{text}`" if text else ""


# -- commands --------------------------------------------------------------------


def commands() -> str:
    """Write every command with its arguments and options, as `--help` has them."""
    group: Any = typer.main.get_command(build())
    for name in sorted(group.commands.keys() ^ EXAMPLES.keys()):
        raise SystemExit(f"{name} is a command or has an example, not both; mend docs/make.py")
    out = [HEAD, "# Commands", "", "`heedful COMMAND --help` says the same.", ""]
    out += table(
        ("command", "what it does"),
        ((f"[`{name}`](#{name})", each.help) for name, each in group.commands.items()),
    )
    out += ["Before a command:", "", *options_of(group, "heedful")]
    for name, command in group.commands.items():
        out += [f"## {name}", "", command.help, "", "```sh", EXAMPLES[name], "```", ""]
        out += options_of(command, name)
    return "\n".join(out)


def options_of(command: Any, name: str) -> list[str]:
    """Write the table of what a command takes; what `--help` has in brackets is in the middle."""
    context = typer.Context(command, info_name=name)
    rows = []
    for parameter in command.params:
        written, said = parameter.get_help_record(context)
        found = re.fullmatch(r"(.*?)(?:\s*\[([^\[\]]*)\])?", said, re.DOTALL)
        meaning, limits = found.groups() if found else (said, None)
        limits = re.sub(r"default: ([^;]*)", r"`\1`", limits or "")
        limits = re.sub(r"(\S+)<=x<=(\S+)", r"from \1 to \2", limits)
        limits = re.sub(r"x>=(\S+)", r"at least \1", limits)
        rows.append((code(written), limits, meaning))
    return table(("argument or option", "default", "meaning"), rows)


# -- settings --------------------------------------------------------------------


def settings() -> str:
    """Write every setting of every task, and what the presets set."""
    out = [
        *(HEAD, "# Settings", ""),
        "Each stands in a recipe, a TOML file with these tables, or on the command line:",
        "`--set train.lr=3e-4`. Where no default is given, training chooses from the data, or",
        "nothing limits it. `--preset NAME` takes a recipe that comes with a task, and",
        *("`--recipe FILE` is laid over it.", ""),
    ]
    for task in registry.tasks().values():
        out += [f"## {task.name}", "", task.sentence, "", *fields_of(task.settings)]
        for name, part in tables_of(task.settings):
            out += [f"### [{name}]", "", inspect.getdoc(part) or "", "", *fields_of(part)]
        for name in config.presets(task.recipes) if task.recipes else ():
            text = (resources.files(task.recipes) / "recipes" / f"{name}.toml").read_text("utf-8")
            out += [f"### --preset {name}", "", "```toml", text.strip(), "```", ""]
    out += ["## Sampling", "", inspect.getdoc(SamplingSettings) or "", ""]
    out += ["These are options of `heedful translate --sample`.", "", *fields_of(SamplingSettings)]
    return "\n".join(out)


def tables_of(whole: type[Any]) -> Iterator[tuple[str, type[BaseModel]]]:
    """Give the tables of a task's settings; one that has several kinds comes once for each."""
    fields = whole.model_fields if issubclass(whole, BaseModel) else {}
    for name, field in fields.items():
        for kind in (field.annotation, *get_args(field.annotation)):
            if isinstance(kind, type) and issubclass(kind, BaseModel):
                yield name, kind


def fields_of(part: type[BaseModel]) -> list[str]:
    """Write the settings of one table, tables below it left out."""
    inner = {name for name, _ in tables_of(part)}
    shown = {k: v for k, v in part.model_json_schema()["properties"].items() if k not in inner}
    rows = (
        (code(name), takes(field), default_of(field), field.get("description", ""))
        for name, field in shown.items()
    )
    return table(("setting", "takes", "default", "meaning"), rows)


def takes(field: dict[str, Any]) -> str:
    """Say in words what a setting takes."""
    given = next((kind for kind in field.get("anyOf", ()) if kind.get("type") != "null"), field)
    if "enum" in given or "const" in given:
        *most, last = (code(str(each)) for each in given.get("enum", [given.get("const")]))
        return f"{', '.join(most)} or {last}" if most else last
    words = {"integer": "a whole number", "number": "a number", "boolean": "true or false"}
    words |= {"string": "a text", "array": "a list", "object": "a table"}
    bounds = {"minimum": "at least", "exclusiveMinimum": "above"}
    bounds |= {"maximum": "at most", "exclusiveMaximum": "below"}
    limits = [f"{word} {given[key]:,}" for key, word in bounds.items() if key in given]
    return ", ".join([words[given["type"]], *([" and ".join(limits)] if limits else [])])


def default_of(field: dict[str, Any]) -> str:
    """Write a default as TOML has it."""
    if "default" not in field:
        return "required"
    given = field["default"]
    return "" if given is None else code(json.dumps(given, ensure_ascii=False))


# -- Python ----------------------------------------------------------------------


class Raw(str):
    """A text whose representation is itself: annotations are shown as they are written."""

    __slots__ = ()
    __repr__ = str.__str__


def api() -> str:
    """Write the public functions, classes and errors, and the classes that those give."""
    public = {name: getattr(heedful, name) for name in heedful.__all__ if name != "__version__"}
    errors = {k: v for k, v in public.items() if inspect.isclass(v) and issubclass(v, Exception)}
    classes = {k: v for k, v in public.items() if inspect.isclass(v) and k not in errors}
    functions = {k: v for k, v in public.items() if inspect.isfunction(v)}
    out = [
        *(HEAD, "# Python API", ""),
        *(
            "What `import heedful` offers. A whole session with its output: [api.md](../api.md).",
            "",
        ),
        *("## Functions", ""),
    ]
    for name, function in functions.items():
        out += [f"### {name}", "", *described(function, name)]
    out += ["## Classes", ""]
    for name, kind in classes.items():
        out += [f"### {name}", "", *class_of(kind)]
    out += ["## What they give", ""]
    for kind in given_by([*functions.values(), *classes.values()]):
        out += [f"### {kind.__name__}", "", f"In `{kind.__module__}`.", "", *class_of(kind)]
    out += ["## Errors", "", *table(("error", "exit code", "means"), error_rows(errors.values()))]
    return "\n".join(out)


def error_rows(errors: Iterable[type[Any]]) -> Iterator[tuple[str, ...]]:
    """Give each error with the exit code of the command it ends."""
    for kind in errors:
        yield code(kind.__name__), str(kind.exit_code), inspect.getdoc(kind) or ""


def described(function: Callable[..., Any], name: str, before: str = "") -> list[str]:
    """Write a function's signature and its docstring."""
    doc = inspect.getdoc(function) or ""
    return ["```python", before + signature(function, name), "```", "", doc, ""]


def signature(function: Callable[..., Any], name: str) -> str:
    """Write a signature as a stub has it, an argument a line where it is long."""
    found = inspect.signature(function)
    parts: list[str] = []
    for each in found.parameters.values():
        if each.kind is each.KEYWORD_ONLY and not any(part.startswith("*") for part in parts):
            parts.append("*")
        if each.name in ("self", "cls"):
            parts.append(each.name)
            continue
        default = each.empty if each.default is each.empty else Raw(typed(each.default))
        parts.append(str(each.replace(annotation=Raw(each.annotation), default=default)))
    given = f" -> {found.return_annotation}: ..."
    line = f"def {name}({', '.join(parts)}){given}"
    if len(line) <= 96:
        return line
    return f"def {name}(\n" + "".join(f"    {part},\n" for part in parts) + f"){given}"


def typed(value: Any) -> str:
    """Write a default as one types it; one such as a logger's method has no such form."""
    if callable(value):
        return "..."
    return json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)


def class_of(kind: type[Any]) -> list[str]:
    """Write a class: its docstring, its fields and properties, its public methods."""
    out = [inspect.getdoc(kind) or "", ""]
    if tables := [code(name) for name, _ in tables_of(kind)]:
        return [*out, f"Its tables are {', '.join(tables)}: [settings.md](settings.md).", ""]
    out += table(("field", "type", "default", "meaning"), class_fields(kind))
    members = {k: v for k, v in vars(kind).items() if not k.startswith("_")}
    for name, member in members.items():
        if inspect.isfunction(member):
            out += described(member, name)
        elif isinstance(member, classmethod):
            out += described(member.__func__, name, "@classmethod\n")
    return out


def class_fields(kind: type[Any]) -> Iterator[tuple[str, ...]]:
    """Give the fields of a class with the docstring below each, and all properties."""
    docs = docstrings_of(kind)
    for name, given, default in fields_with_defaults(kind):
        if not name.startswith("_"):
            yield code(name), code(given), code(default), docs.get(name, "")
    for name, member in vars(kind).items():
        if isinstance(member, property) and not name.startswith("_"):
            given = inspect.signature(member.fget).return_annotation  # type: ignore[arg-type]
            yield code(name), code(given), "", inspect.getdoc(member) or ""


def fields_with_defaults(kind: type[Any]) -> Iterator[tuple[str, str, str]]:
    """Give name, type and default of the fields of a dataclass or a pydantic model."""
    if issubclass(kind, BaseModel):
        types = inspect.get_annotations(kind)
        for name, one in kind.model_fields.items():
            yield name, str(types[name]), "" if one.is_required() else typed(one.get_default())
    elif dataclasses.is_dataclass(kind):
        for field in dataclasses.fields(kind):
            default = field.default
            if field.default_factory is not dataclasses.MISSING:
                default = field.default_factory()
            given = "" if default is dataclasses.MISSING else typed(default)
            yield field.name, str(field.type), given


def docstrings_of(kind: type[Any]) -> dict[str, str]:
    """Read the docstrings that stand below the fields of a class."""
    (body,) = ast.parse(textwrap.dedent(inspect.getsource(kind))).body
    assert isinstance(body, ast.ClassDef)
    found = {}
    for field, doc in zip(body.body, body.body[1:], strict=False):
        if (
            isinstance(field, ast.AnnAssign)
            and isinstance(field.target, ast.Name)
            and isinstance(doc, ast.Expr)
            and isinstance(doc.value, ast.Constant)
        ):
            found[field.target.id] = str(doc.value.value)
    return found


def given_by(members: list[Any]) -> list[type[Any]]:
    """Find the dataclasses of ours that public functions and fields give, and are not public."""
    public = {getattr(heedful, name) for name in heedful.__all__}
    found: list[type[Any]] = []
    waiting = list(members)
    while waiting:
        member = waiting.pop(0)
        for name in re.findall(r"[A-Za-z]\w+", " ".join(annotations_of(member))):
            kind = named(name, sys.modules[member.__module__])
            if not isinstance(kind, type) or not dataclasses.is_dataclass(kind):
                continue
            if kind not in public and kind not in found:
                found.append(kind)
                waiting.append(kind)
    return sorted(found, key=lambda kind: kind.__name__)


def named(name: str, module: ModuleType) -> Any:
    """Find what a name in an annotation means, also where only a type checker imports it."""
    for node in ast.walk(ast.parse(inspect.getsource(module))):
        if not isinstance(node, ast.ImportFrom) or name not in {each.name for each in node.names}:
            continue
        if node.module is not None and node.module.startswith("heedful."):
            return getattr(importlib.import_module(node.module), name)
    return getattr(module, name, None)


def annotations_of(member: Any) -> Iterator[str]:
    """Give what a function returns, or what the fields and methods of a class are."""
    if inspect.isfunction(member):
        yield str(inspect.signature(member).return_annotation)
        return
    if dataclasses.is_dataclass(member):
        yield from (str(field.type) for field in dataclasses.fields(member))
    for name, each in vars(member).items():
        if inspect.isfunction(each) and not name.startswith("_"):
            yield str(inspect.signature(each).return_annotation)


# -- the pages -------------------------------------------------------------------

PAGES: dict[str, Callable[[], str]] = {
    "commands.md": commands,
    "settings.md": settings,
    "api.md": api,
}


def written(page: Callable[[], str]) -> str:
    """Give a page as it stands on disk: no two empty lines in a row, one line feed at the end."""
    return re.sub(r"\n{3,}", "\n\n", page()).strip() + "\n"


def stale() -> list[str]:
    """Name the pages that are no longer what the code says."""
    return [
        f"docs/reference/{name} is not what the code says; run make docs"
        for name, page in PAGES.items()
        if not (FOLDER / name).exists()
        or (FOLDER / name).read_text(encoding="utf-8") != written(page)
    ]


def main() -> None:
    """Write the pages, or say which are stale."""
    if sys.argv[1:] == ["--check"]:
        sys.exit("\n".join(stale()) or 0)
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(written(page), encoding="utf-8")


if __name__ == "__main__":
    main()
