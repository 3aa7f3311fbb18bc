"""Every `heedful ...` that a text names is a command there is, with options it has."""

from __future__ import annotations

import ast
import contextlib
import io
import re
import shlex
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
import typer.main
from command import call

from heedful.cli.main import build, spread
from heedful.tasks.translation.settings import Settings

ROOT = Path(__file__).parents[2]
TEXTS = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md")]
SOURCES = [
    path
    for folder in ("src", "examples", "benchmarks")
    for ending in ("*.py", "*.toml")
    for path in (ROOT / folder).rglob(ending)
]
GROUP: Any = typer.main.get_command(build())


Found = tuple[str, bool]
"""A command, and whether it is given whole, to be typed."""


def in_backticks(text: str) -> Iterator[Found]:
    """Commands in a sentence, which may go on in the next line and leave things out."""
    for found in re.findall(r"`([^`]*)`", re.sub(r"\n\s*(?:# )?", " ", text)):
        for command in re.findall(r"(?:^|-m )(heedful [a-z].*)", found):
            yield command, False


def alone(text: str) -> Iterator[Found]:
    """Commands on a line of their own or after a prompt, or on several that end in a backslash."""
    text = text.replace("\\\n", "")
    for command in re.findall(r"^(?:.*-m |\$ |\s*)(heedful [a-z].*)$", text, re.MULTILINE):
        yield command, True


def of_text(path: Path) -> Iterator[Found]:
    parts = path.read_text(encoding="utf-8").split("```")
    for number, part in enumerate(parts):
        yield from alone(part) if number % 2 else in_backticks(part)


def of_source(path: Path) -> Iterator[Found]:
    """Commands in docstrings, in comments and in what is told to a person."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".toml":
        yield from in_backticks(text)
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield from in_backticks(node.value)
        elif isinstance(node, ast.JoinedStr):
            told = "".join(
                part.value if isinstance(part, ast.Constant) else "X" for part in node.values
            )
            yield from alone(told)
    comments = (t for t in tokenize.generate_tokens(io.StringIO(text).readline))
    yield from in_backticks("\n".join(t.string for t in comments if t.type == tokenize.COMMENT))


FOUND = sorted(
    {
        (str(path.relative_to(ROOT)), command, whole)
        for paths, commands in ((TEXTS, of_text), (SOURCES, of_source))
        for path in paths
        for command, whole in commands(path)
    }
)


def parse(command: str, whole: bool) -> None:
    """Parse a command as it would be typed, but run nothing; N stands for any number."""
    command = re.sub(r"\bN\b", "7", command)
    name, *words = spread(shlex.split(command, comments=True)[1:])
    assert name in GROUP.commands, f"there is no command {name}"
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.suppress(typer.Exit):
            GROUP.commands[name].make_context(name, list(words))
    except typer.BadParameter as error:
        missing = type(error).__name__ == "MissingParameter"  # typer does not export it
        if whole or not missing:
            raise


def test_commands_are_found_where_they_are_written() -> None:
    places = {place for place, _, _ in FOUND}
    assert {"README.md", "README.ko.md", "docs/trace.md", "src/heedful/settings.py"} <= places
    assert {"docs/reference/commands.md", "docs/log/models.md"} <= places
    assert ("docs/scaling.md", "heedful train corpus.de corpus.en -o model", True) in FOUND
    assert ("src/heedful/tasks/translation/demo.py", "heedful serve X", True) in FOUND


@pytest.mark.parametrize(("place", "command", "whole"), FOUND)
def test_a_documented_command_can_be_typed(place: str, command: str, whole: bool) -> None:
    parse(command, whole)


@pytest.mark.parametrize(
    ("command", "whole", "says"),
    [
        ("heedful look model", False, "there is no command look"),
        ('heedful explain model "text" --json trace.json', False, "No such option: --json"),
        ("heedful train one two", True, "Missing parameter: output"),
    ],
)
def test_a_command_that_does_not_exist_is_noticed(command: str, whole: bool, says: str) -> None:
    with pytest.raises(Exception, match=says):
        parse(command, whole)


def test_info_explains_every_setting() -> None:
    lines = call("info", "--settings").out.splitlines()
    assert "  d_model = 512                   Width of the residual stream." in lines
    assert '  activation = "relu"             The feed-forward\'s non-linearity.' in lines
    tables = {k: v for k, v in Settings().model_dump().items() if isinstance(v, dict)}
    wanted = [name for k, v in tables.items() for name in (f"[{k}]", *v)]
    assert [line.split()[0] for line in lines] == wanted
    assert all(re.search(r"\S  +[A-Z0-9].*[.]$", line) for line in lines if line[0] == " ")
    for wrong in (("info",), ("info", "model", "--settings")):
        assert call(*wrong).mistake.startswith("info: give a model folder, or --settings")
