"""What holds for the package as a whole: who imports whom, what is shipped, what is exported."""

from __future__ import annotations

import ast
import importlib
import os
import pkgutil
import re
import shutil
import subprocess
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import heedful
from heedful import config
from heedful.tasks.translation.settings import Settings

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "heedful"
MODULES = sorted(SOURCE.rglob("*.py"))

ORDER = """
    cli > serve > verbs > tasks > train, explain, interchange > decoding
    > models, metrics > nn, data > config > mistakes, settings > errors, files, machine
"""
LEVELS = [[name.strip() for name in level.split(",")] for level in ORDER.split(">")]
LEVEL = {name: number for number, level in enumerate(LEVELS) for name in level}

ROOMS = {
    "ctranslate2": ["tasks/translation/exchange/ctranslate2.py"],
    "prometheus_client": ["serve/metrics.py"],
    "py3langid": ["serve/translation/detect.py"],
    "pydantic": ["config.py", "mistakes.py", "settings.py", "serve/", "tasks/", "cli/generate.py"],
    "python_multipart": ["serve/"],
    "rich": ["cli/", "train/report.py"],
    "sacrebleu": ["metrics/text.py"],
    "safetensors": ["files.py", "models/folder.py", "train/checkpoint.py"],
    "sentencepiece": ["data/tokenizer.py"],
    "starlette": ["serve/"],
    "tomli_w": ["config.py"],
    "transformers": [],
    "typer": ["cli/"],
    "uvicorn": ["serve/"],
    # No pickle, whatever its name.
    **{name: [] for name in ("cloudpickle", "dill", "joblib", "marshal", "pickle", "shelve")},
}


def imported(path: Path) -> Iterator[str]:
    """Every module a file names in an import, inside functions and for type checkers too."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path} imports relatively"
            assert node.module is not None
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def room(module: str) -> str | None:
    """The part of the package that a module belongs to."""
    parts = module.split(".")
    return parts[1] if parts[0] == "heedful" and len(parts) > 1 and parts[1] in LEVEL else None


def home(path: Path) -> str:
    first = path.relative_to(SOURCE).parts[0]
    return first.removesuffix(".py")


def test_every_file_has_its_place_in_the_order() -> None:
    assert {home(path) for path in MODULES} <= {*LEVEL, "__init__", "__main__"}


def test_imports_go_one_way() -> None:
    wrong = []
    for path in MODULES:
        own = home(path)
        if own in ("__init__", "__main__"):  # they name the public API, lazily, and the command
            continue
        for module in imported(path):
            other = room(module)
            if other is None or other == own or (own, other) == ("files", "errors"):
                continue
            if LEVEL[other] <= LEVEL[own]:
                wrong.append(f"{path.relative_to(SOURCE)} imports {module}")
    assert wrong == []


def test_the_order_can_tell_a_wrong_import(tmp_path: Path) -> None:
    code = "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from heedful import train\n"
    path = tmp_path / "x.py"
    path.write_text(code + "def f():\n    import heedful.nn.masks\n", encoding="utf-8")
    assert {room(module) for module in imported(path)} == {None, "train", "nn"}


def test_the_mathematics_sees_no_settings() -> None:
    for path in sorted((SOURCE / "nn").rglob("*.py")):
        rooms = {room(module) for module in imported(path)} - {None}
        assert rooms <= {"nn", "errors"}, path


def test_foreign_packages_stay_in_their_rooms() -> None:
    wrong = []
    for path in MODULES:
        place = path.relative_to(SOURCE).as_posix()
        for module in imported(path):
            rooms = ROOMS.get(module.split(".")[0])
            if rooms is not None and not any(place.startswith(allowed) for allowed in rooms):
                wrong.append(f"{place} imports {module}")
    assert wrong == []


def test_nothing_is_imported_that_is_not_declared() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    asked = [*project["dependencies"], *(d for k, v in extras.items() if k != "dev" for d in v)]
    declared = {re.split(r"[^\w-]", name)[0].replace("-", "_") for name in asked}
    for path in MODULES:
        tops = {module.split(".")[0] for module in imported(path)}
        assert tops <= {*sys.stdlib_module_names, "heedful", *declared}, path


def test_weights_are_never_pickled() -> None:
    for path in MODULES:
        if "exchange" in path.parts:  # reads old public checkpoints, weights_only
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                assert (node.value.id, node.attr) not in {("torch", "load"), ("torch", "save")}, (
                    path
                )


def written() -> Iterator[Path]:
    for folder in ("src", "tests", "benchmarks", "examples", "docs"):
        yield from sorted((ROOT / folder).rglob("*.py"))


def test_no_file_is_long_and_none_is_left_to_do() -> None:
    marks = re.compile(r"\b(TO" + r"DO|FIX" + r"ME|XX" + r"X)\b")
    for path in written():
        lines = path.read_text(encoding="utf-8").splitlines()
        assert len(lines) <= 400, f"{path} has {len(lines)} lines"
        assert not any(map(marks.search, lines)), path


def test_every_module_says_what_it_is_and_exports_what_it_names() -> None:
    found = [module.name for module in pkgutil.walk_packages(heedful.__path__, "heedful.")]
    assert len(found) == len(MODULES) - 1
    for name in found:
        module = importlib.import_module(name)
        assert module.__doc__, name
        exported = getattr(module, "__all__", [])
        assert len(set(exported)) == len(exported), name
        assert [each for each in exported if not hasattr(module, each)] == [], name


def test_what_the_package_exports_is_there() -> None:
    assert dir(heedful) == sorted(heedful.__all__)
    for name in heedful.__all__:
        assert getattr(heedful, name) is not None
    with pytest.raises(
        AttributeError, match=r"^module 'heedful' has no attribute 'Transmogrifier'$"
    ):
        heedful.Transmogrifier  # noqa: B018


def test_every_shipped_recipe_resolves_and_tells_what_it_is() -> None:
    package = "heedful.tasks.translation"
    names = config.presets(package)
    assert {"tiny", "small", "base", "big", "demo"} <= set(names)
    for name in names:
        config.resolve(config.recipe(name, package), Settings)
        file = SOURCE / "tasks" / "translation" / "recipes" / f"{name}.toml"
        assert file.read_text(encoding="utf-8").startswith("# ")


def run(*command: object, **kind: object) -> str:
    done = subprocess.run(
        [sys.executable, *map(str, command)],
        capture_output=True,
        text=True,
        check=False,
        **kind,  # type: ignore[call-overload]
    )
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return str(done.stdout)


@pytest.mark.parametrize(("given", "found"), [(None, "passive"), ("active", "active")])
def test_threads_that_wait_sleep_in_python_too(given: str | None, found: str) -> None:
    environment = {k: v for k, v in os.environ.items() if k != "OMP_WAIT_POLICY"}
    environment |= {} if given is None else {"OMP_WAIT_POLICY": given}
    code = "import os, heedful; heedful.train_model; print(os.environ['OMP_WAIT_POLICY'])"
    assert run("-c", code, env=environment) == f"{found}\n"


def test_the_wheel_holds_everything_and_runs(tmp_path: Path) -> None:
    project, wheels, target = (tmp_path / name for name in ("project", "wheels", "target"))
    project.mkdir()
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, project)
    leave = shutil.ignore_patterns("__pycache__", "*.egg-info")
    shutil.copytree(ROOT / "src", project / "src", ignore=leave)
    run("-m", "build", "--wheel", "--no-isolation", "--outdir", wheels, project)
    (wheel,) = wheels.iterdir()
    packed = {name for name in zipfile.ZipFile(wheel).namelist() if name.startswith("heedful/")}
    ours = {p.relative_to(SOURCE.parent).as_posix() for p in SOURCE.rglob("*") if p.is_file()}
    assert packed == {name for name in ours if "__pycache__" not in name}
    assert {
        "heedful/py.typed",
        "heedful/tasks/translation/recipes/tiny.toml",
        "heedful/data/grammar/korean.py",
    } <= (packed)
    run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", target, wheel)
    elsewhere = {"cwd": tmp_path, "env": os.environ | {"PYTHONPATH": str(target)}}
    assert run("-m", "heedful", "--version", **elsewhere) == f"heedful {heedful.__version__}\n"
    told = run("-c", "import heedful; print(heedful.__file__)", **elsewhere)
    assert Path(told.strip()) == target / "heedful" / "__init__.py"
    presets = "from heedful import config; print(*config.presets('heedful.tasks.translation'))"
    assert run("-c", presets, **elsewhere).split() == config.presets("heedful.tasks.translation")
