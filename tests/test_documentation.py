"""The documentation stays true: pages say what the code says, links lead somewhere."""

from __future__ import annotations

import ast
import doctest
import importlib.util
import json
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import typer.main
from command import call

import heedful
from heedful import config
from heedful.cli.main import build
from heedful.tasks import registry
from heedful.tasks.translation.settings import Settings

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
TEXTS = sorted([*ROOT.glob("*.md"), *DOCS.rglob("*.md")])
LOGS = sorted((DOCS / "log").glob("*.md"))


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def prose_of(path: Path) -> str:
    """A page without its blocks of code, where a # is a comment and no heading."""
    return re.sub(r"^```.*?^```", "", text_of(path), flags=re.DOTALL | re.MULTILINE)


def anchors(path: Path) -> list[str]:
    """The anchors GitHub makes of a page's headings."""
    titles = re.findall(r"^#+ (.+)$", prose_of(path), re.MULTILINE)
    return [re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in titles]


@pytest.fixture(autouse=True)
def _only_our_tasks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The pages are about our tasks, whatever other tests have registered or installed."""
    monkeypatch.setattr(registry, "_registered", {})
    monkeypatch.setattr(registry, "GROUP", "heedful.tasks.of-nobody")


@pytest.fixture(scope="module")
def make() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make", DOCS / "make.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_written_pages_are_what_the_code_says(make: ModuleType) -> None:
    stale = make.stale()
    if stale:
        pytest.fail("\n".join(stale), pytrace=False)  # one line a page, and no traceback


def test_a_page_that_is_stale_or_missing_is_named(
    make: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(make, "FOLDER", tmp_path / "reference")
    monkeypatch.setattr(make.sys, "argv", ["make.py"])
    assert len(make.stale()) == 3
    make.main()
    assert make.stale() == []
    page = tmp_path / "reference" / "settings.md"
    page.write_text(text_of(page).replace("residual", "principal"), encoding="utf-8")
    line = "docs/reference/settings.md is not what the code says; run make docs"
    assert make.stale() == [line]
    monkeypatch.setattr(make.sys, "argv", ["make.py", "--check"])
    with pytest.raises(SystemExit) as ended:
        make.main()
    assert ended.value.code == line


def test_a_command_without_an_example_is_named(
    make: ModuleType, monkeypatch: pytest.MonkeyPatch
) -> None:
    without = {k: v for k, v in make.EXAMPLES.items() if k != "plan"}
    monkeypatch.setattr(make, "EXAMPLES", without)
    with pytest.raises(SystemExit, match=r"^plan is a command or has an example, not both"):
        make.commands()


def test_every_option_of_every_command_has_its_line() -> None:
    sections = dict(
        re.findall(r"^## (\S+)\n(.*?)(?=^## |\Z)", page("commands"), re.DOTALL | re.MULTILINE)
    )
    group: Any = typer.main.get_command(build())
    assert list(sections) == list(group.commands)
    for name, command in group.commands.items():
        rows = re.findall(r"^\| `(.+?)` \| (.*?) \| (.+?) \|$", sections[name], re.MULTILINE)
        assert len(rows) == len(command.params), name
        for parameter, (written, default, meaning) in zip(command.params, rows, strict=True):
            assert parameter.opts[-1] in written, name
            assert (default == "required") == parameter.required, (name, written)
            assert meaning == parameter.help, (name, written)


def test_every_setting_has_its_line_with_its_default() -> None:
    tasks = re.split(r"^## (\S+)\n", page("settings"), flags=re.MULTILINE)
    told = dict(zip(tasks[1::2], tasks[2::2], strict=True))
    assert list(told) == [*registry.tasks(), "Sampling"]
    section = r"^### \[(\w+)\]\n(.*?)(?=^### |\Z)"
    sections = dict(re.findall(section, told["translation"], re.DOTALL | re.MULTILINE))
    tables = {k: v for k, v in Settings().model_dump().items() if isinstance(v, dict)}
    assert list(sections) == list(tables)
    for name, values in tables.items():
        rows = re.findall(r"^\| `(\w+)` \| .+? \| (.*?) \| .+\. \|$", sections[name], re.MULTILINE)
        assert [key for key, _ in rows] == list(values)
        for key, default in rows:
            assert (json.loads(default.strip("`")) if default else None) == values[key], (name, key)
    presets = re.findall(r"^### --preset (\S+)$", told["translation"], re.MULTILINE)
    assert presets == config.presets(registry.find("translation").recipes)


def test_everything_public_has_its_heading() -> None:
    headings = re.findall(r"^### (\w+)$", page("api"), re.MULTILINE)
    errors = re.findall(r"^\| `(\w+)` \| [12] \|", page("api"), re.MULTILINE)
    assert {*headings, *errors} >= {*heedful.__all__} - {"__version__"}
    assert {"Candidate", "Measurement", "Result"} <= set(headings)  # given, though not exported


def page(name: str) -> str:
    return text_of(DOCS / "reference" / f"{name}.md")


def test_a_signature_is_written_as_a_stub(make: ModuleType) -> None:
    def few(one: int, *, two: str | None = None, tell: Any = print) -> list[str]: ...

    def many(first_argument: Path, second_argument: Path, third_argument: float = 0.5) -> None: ...

    assert make.signature(few, "few") == (
        "def few(one: int, *, two: str | None = None, tell: Any = ...) -> list[str]: ..."
    )
    assert make.signature(many, "a_function_of_a_longer_name") == (
        "def a_function_of_a_longer_name(\n    first_argument: Path,\n    second_argument: Path,\n"
        "    third_argument: float = 0.5,\n) -> None: ..."
    )


@pytest.mark.parametrize(
    ("field", "said"),
    [
        ({"enum": ["a", "b", "c"]}, "`a`, `b` or `c`"),
        ({"const": "a", "type": "string"}, "`a`"),
        ({"type": "boolean"}, "true or false"),
        ({"type": "integer", "minimum": 7}, "a whole number, at least 7"),
        (
            {"anyOf": [{"type": "number", "exclusiveMinimum": 0, "maximum": 1}, {"type": "null"}]},
            "a number, above 0 and at most 1",
        ),
    ],
)
def test_what_a_setting_takes_is_said_in_words(
    make: ModuleType, field: dict[str, Any], said: str
) -> None:
    assert make.takes(field) == said


def test_every_link_leads_to_a_file_and_to_a_heading_there() -> None:
    wrong = []
    for path in TEXTS:
        links = re.findall(r"\]\(([^):\s]+)\)|^\[[^\]]+\]: ([^:\s]+)$", text_of(path), re.MULTILINE)
        for target in ("".join(pair) for pair in links):
            name, _, anchor = target.partition("#")
            there = path.parent / name if name else path
            if not there.exists() or (anchor and anchor not in anchors(there)):
                wrong.append(f"{path.relative_to(ROOT)} links to {target}")
    assert wrong == []


def test_python_in_the_documentation_parses_and_names_what_there_is() -> None:
    blocks = [
        (path, block)
        for path in TEXTS
        for block in re.findall(r"^```py\w+\n(.*?)^```", text_of(path), re.DOTALL | re.MULTILINE)
    ]
    assert len({path for path, _ in blocks}) >= 4
    for path, block in blocks:
        examples = doctest.DocTestParser().get_examples(block)
        code = "".join(example.source for example in examples) if examples else block
        for node in ast.walk(ast.parse(code, str(path))):
            if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Name):
                continue
            if node.value.id == "heedful" and node.attr not in heedful.__all__:
                assert importlib.util.find_spec(f"heedful.{node.attr}"), f"{path}: {node.attr}"


def test_both_glossaries_have_the_same_entries_in_the_same_order() -> None:
    words = [
        re.findall(r"^\| ([^|]+?) \|.*\. \|$", text_of(DOCS / name), re.MULTILINE)
        for name in ("glossary.md", "glossary.ko.md")
    ]
    assert words[0] == words[1]
    assert len(set(words[0])) == len(words[0]) > 50


@pytest.mark.parametrize("path", LOGS, ids=[path.stem for path in LOGS])
def test_a_log_begins_with_a_table_of_all_that_it_tells(path: Path) -> None:
    text = text_of(path)
    assert len(text.splitlines()) < 400
    top, *_ = re.split(r"^## ", text, maxsplit=1, flags=re.MULTILINE)
    assert "| tried | gain | kept | when |\n" in top
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.+?) \| \[.+?\]\((.*?)\) \|$", top, re.MULTILINE)
    assert len(rows) == top.count("\n| ") - 2  # the head and the line below it
    assert all(kept.split()[0].strip(",;") in ("yes", "no", "until", "-") for _, _, kept, _ in rows)
    told = {f"#{anchor}" for anchor in anchors(path)[1:]}
    assert told <= {target for *_, target in rows}


def test_the_index_names_every_log() -> None:
    assert {f"log/{path.name}" for path in LOGS} == set(
        re.findall(r"\]\((log/[\w-]+\.md)\)", text_of(DOCS / "log.md"))
    )


def test_the_session_of_the_readme_begins_as_it_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("README.md", "README.ko.md"):
        session = text_of(ROOT / name).split(
            "## One session" if name == "README.md" else "## 한 번 해 보기"
        )[1]
        (python,) = re.findall(r"^```python\n(.*?)^```", session, re.DOTALL | re.MULTILINE)
        exec(compile(python, name, "exec"), {})
        command, said = re.findall(
            r"^\$ heedful (check .*)\n((?:(?!\$).*\n)+)", session, re.MULTILINE
        )[0]
        out = call(*command.split()).out
        assert [line for line in said.splitlines() if line != "..." and line not in out] == []
