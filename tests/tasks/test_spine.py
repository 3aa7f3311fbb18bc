"""The spine knows no task: none is named outside its place; a new one needs only its own file."""

from __future__ import annotations

import ast
import dataclasses
import importlib.util
import json
import os
import random
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from command import Called, call
from starlette.testclient import TestClient

import heedful
from heedful.serve.app import build_app
from heedful.tasks import registry

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "heedful"
TOY = Path(__file__).parent / "toy"


def load_toy() -> Any:
    """Load the toy without its folder on the path, where its entry point would be found."""
    spec = importlib.util.spec_from_file_location("heedful_toy", TOY / "heedful_toy.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules["heedful_toy"] = module  # where its annotations are looked up
    spec.loader.exec_module(module)
    return module.TASK


TASK = load_toy()


def words(task: str) -> set[str]:
    """A task's name as code may have it."""
    return {task, task.replace("-", "_"), task.title().replace("-", "")}


def named(path: Path, tasks: list[str]) -> Iterator[str]:
    """Every place of a file's code that names a task; prose may say what it likes."""
    tree = ast.parse(path.read_text(encoding="utf-8"))
    names = {word for task in tasks for word in words(task)}
    for node in ast.walk(tree):
        found: list[str] = []
        if isinstance(node, ast.Import):
            found = [part for alias in node.names for part in alias.name.split(".")]
        elif isinstance(node, ast.ImportFrom):
            found = (node.module or "").split(".") + [alias.name for alias in node.names]
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            found = [node.value, *node.value.replace(":", ".").split(".")]
        for one in found:
            if one in names:
                yield f"{path.name}:{getattr(node, 'lineno', 0)} {one}"


def outside() -> list[Path]:
    """Every file but the tasks, their table, the APIs of the world and what the package exports."""
    places = [SOURCE / "tasks" / name for name in ("registry.py", *registry.OURS)]
    places += [SOURCE / "serve" / name for name in ("api.py", *registry.OURS)]
    places.append(SOURCE / "__init__.py")
    return [
        path
        for path in sorted(SOURCE.rglob("*.py"))
        if not any(path == place or place in path.parents for place in places)
    ]


def test_no_task_is_named_outside_its_place() -> None:
    tasks = list(registry.OURS)
    assert [place for path in outside() for place in named(path, tasks)] == []


def test_the_search_finds_a_task_where_one_is_named(tmp_path: Path) -> None:
    file = tmp_path / "x.py"
    file.write_text(
        '"""Prose about translation."""\n'
        "from heedful.tasks.translation import TASK\n"
        'if task == "translation":\n'
        '    place = "heedful.tasks.translation:TASK"\n',
        encoding="utf-8",
    )
    assert {place.split()[0] for place in named(file, ["translation"])} == {
        "x.py:2",
        "x.py:3",
        "x.py:4",
    }
    assert {"train.py", "commands.py", "contract.py", "batcher.py"} <= {
        path.name for path in outside()
    }


# -- a task of another package ----------------------------------------------------------------


@pytest.fixture
def toy() -> Iterator[None]:
    before = dict(registry._registered)
    heedful.tasks.register(TASK)
    yield
    registry._registered.clear()
    registry._registered.update(before)


def letters(path: Path, count: int, seed: int) -> Path:
    """Write lines of letters, and which there are more of."""
    draw, lines = random.Random(seed), []
    for _ in range(count):
        text = "".join(draw.choice("ab") for _ in range(draw.choice((3, 5, 7))))
        lines.append(f"{text}\t{max('ab', key=text.count)}\n")
    path.write_text("".join(lines), encoding="utf-8")
    return path


def good(*arguments: object) -> Called:
    called = call(*arguments)
    assert called.code == 0, called.err
    return called


def test_a_new_task_goes_through_every_ordinary_command(toy: None, tmp_path: Path) -> None:
    data, test = letters(tmp_path / "x.letters", 200, 1), letters(tmp_path / "y.letters", 60, 2)
    model, tuned, mean = (tmp_path / name for name in ("model", "tuned", "mean"))
    assert "200 examples" in good("check", data).out
    assert json.loads(good("check", data, "--json").out)["examples"] == 200
    assert "M parameters" in good("plan", data).out
    said = good("train", data, "-o", model, "--test", test, "--set", "train.steps=80").err
    assert "counting: letters (--task says otherwise)" in said
    assert "always a: accuracy" in said
    assert "of the test set: the Transformer is better" in said, said
    assert f"heedful count {model} aab" in said
    assert json.loads((model / "run" / "done.json").read_text())["verdict"]["better"] == "model"
    card = (model / "README.md").read_text(encoding="utf-8")
    assert "## Is something simpler as good?" in card
    assert "always a: accuracy" in card
    assert good("count", model, "aab", "abbab").out == "a\nb\n"
    assert good("count", model, "--simple", "bbb").out == "a\n"
    measured = json.loads(good("evaluate", model, test, "--json").out)
    assert measured["accuracy"] > 90
    assert measured["examples"] == 60
    low, high = measured["interval"]["accuracy"]
    assert low <= measured["accuracy"] <= high
    assert good("evaluate", model, test, "--compare", model).out.count("not significant") == 1
    facts = json.loads(good("info", model, "--json").out)
    assert (facts["task"], facts["settings"]["model"]) == ("counting", {"width": 8})
    assert good("info", model).out.startswith(f"{model}: counting\n")
    assert "Width of the residual stream." in good("info", "--settings").out
    new = good("finetune", model, data, "-o", tuned, "--set", "train.steps=100").err
    assert "accuracy, new data" in new
    good("average", model, tuned, "-o", mean)
    assert good("count", mean, "aab").out == "a\n"
    good("explain", model, "aab", "-o", tmp_path / "page.html")
    good("explain", model, "aab", "-o", tmp_path / "trace.json")
    trace = json.loads((tmp_path / "trace.json").read_text(encoding="utf-8"))
    assert [item["text"] for item in trace["streams"][0]["items"]] == ["a", "a", "b"]
    assert trace["attentions"][0]["from"] == trace["attentions"][0]["to"] == "letters"
    assert heedful.load(model).say(["bab"]) == ["b"]
    again = good("train", data, "-o", model, "--test", test).err
    assert "nothing to do" in again


def test_a_new_task_is_served(toy: None, tmp_path: Path) -> None:
    data, model = letters(tmp_path / "x.letters", 40, 1), tmp_path / "model"
    good("train", data, "-o", model, "--set", "train.steps=2")
    web = TestClient(build_app([model]))
    texts = ["aab", "abbbb", "b"]
    said = web.post("/predict", json={"inputs": texts}).json()
    assert said == {"outputs": heedful.load(model).say(texts)}
    assert web.get("/models").json() == [{"name": "model", "task": "counting", "about": ""}]
    traced = web.post("/explain", json={"input": "aab"}).json()
    assert [item["text"] for item in traced["streams"][0]["items"]] == ["a", "a", "b"]


REFUSED = [
    (("train", "{x}", "-o", "m", "--task", "countin"), "there is no such task; did you mean co"),
    (("train", "{x}", "-o", "m", "--task", "translation"), "target missing for"),
    (("train", "{x}", "-o", "m", "--from", "de"), "--from is no option of the task counting"),
    (("train", "{x}", "-o", "m", "--columns", "1,,2"), "--columns 1,,2: one of them is empty"),
    (("train", "{x}", "-o", "m", "--set", "model.wide=2"), "did you mean model.width?"),
    (("train", "{x}", "-o", "{m}", "--task", "translation"), "for the task counting, not transl"),
    (("train", "{text}", "-o", "m"), "no task is known by data like this; name it with --task"),
    (
        ("train", "{tsv}", "-o", "m", "--columns", "7,8"),
        "look at the other problems and at the col",
    ),
    (("train", "{tsv}", "-o", "m", "--columns", "ko,en"), "has no column 'ko'; expected a number"),
    (
        ("train", "{tsv}", "-o", "m", "--test", "{tsv}", "--columns", "2,3"),
        "no pair of 3 can be tr",
    ),
    (("export", "{m}", "--to", "onnx", "-o", "x"), "this task has no format of another tool"),
    (("translate", "{m}", "aab"), "is a model for the task counting; expected translation"),
    (("evaluate", "{m}", "{x}", "--beam", "2"), "--beam is no option of the task counting"),
]


def test_a_wrong_use_of_a_task_is_one_line(toy: None, tmp_path: Path) -> None:
    data, text = letters(tmp_path / "x.letters", 40, 1), tmp_path / "one.txt"
    text.write_text("alone\n", encoding="utf-8")
    tsv = tmp_path / "pairs.tsv"
    tsv.write_text("one\t하나\ntwo\t둘\nthree\t셋\n", encoding="utf-8")
    model = tmp_path / "model"
    good("train", data, "-o", model, "--set", "train.steps=2")
    for command, says in REFUSED:
        words = [part.format(x=data, m=model, text=text, tsv=tsv) for part in command]
        called = call(*(str(tmp_path / "m") if word == "m" else word for word in words))
        assert called.code == 2, words
        assert says in called.mistake, (words, called.mistake)
        assert not (tmp_path / "m").exists()


def test_data_that_two_tasks_claim_is_asked_about(
    toy: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = letters(tmp_path / "x.letters", 40, 1)
    registry.register(heedful.tasks.translation.TASK)
    both = {**vars(TASK), "name": "spelling"}
    registry.register(type(TASK)(**both))
    mistake = call("train", data, "-o", tmp_path / "m").mistake
    assert mistake == (
        f"{data} could be several things; say which: "
        "--task counting (letters), --task spelling (letters)"
    )


def test_a_preparation_that_was_interrupted_goes_on(toy: None, tmp_path: Path) -> None:
    data, found = letters(tmp_path / "x.letters", 40, 1), []

    def prepare(request: Any, made: Path, report: Any) -> Any:
        half = made / "half"
        found.append(half.exists())
        if not half.exists():
            made.mkdir()
            half.write_text("a long way", encoding="utf-8")
            raise KeyboardInterrupt
        return TASK.prepare(request, made, report)

    registry.register(dataclasses.replace(TASK, prepare=prepare))
    command = ("train", data, "-o", tmp_path / "model", "--set", "train.steps=2")
    assert call(*command).code == 130
    assert good(*command).code == 0
    assert found == [False, True]
    other = letters(tmp_path / "y.letters", 40, 2)
    assert call("train", other, "-o", tmp_path / "new", "--set", "train.steps=2").code == 130
    assert call("train", data, "-o", tmp_path / "new", "--set", "train.steps=2").code == 130
    assert found == [False, True, False, False]  # of other data nothing is taken over


# -- killed at any moment -----------------------------------------------------------------------

KILLED = """
import os, sys, threading
from heedful.cli.main import run
seconds = float(sys.argv.pop(1))
if seconds:
    end = threading.Timer(seconds, os._exit, [9])
    end.daemon = True
    end.start()
run()
"""


def train_elsewhere(seconds: float, *arguments: object) -> int:
    """Train in a process of its own, which finds the task as an installed package's entry point."""
    place = os.pathsep.join([str(TOY), str(ROOT / "src")])
    done = subprocess.run(
        [sys.executable, "-c", KILLED, str(seconds), "train", *map(str, arguments)],
        env={**os.environ, "PYTHONPATH": place},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode in (0, 9), done.stderr
    return done.returncode


def losses(model: Path) -> list[float]:
    log = (model / "run" / "log.jsonl").read_text(encoding="utf-8").splitlines()
    return [record["loss"] for record in map(json.loads, log) if "loss" in record]


def test_a_new_task_killed_at_random_moments_ends_with_the_same_bytes(tmp_path: Path) -> None:
    data, test = letters(tmp_path / "x.letters", 200, 1), letters(tmp_path / "y.letters", 30, 2)
    more = ("--test", test, "--threads", 1, "--set", "train.patience=1000")
    steps = ("--set", "train.steps=400", "--set", "train.evaluate_every=20")
    whole, killed = tmp_path / "whole", tmp_path / "killed"
    begun = time.monotonic()
    assert train_elsewhere(0, data, "-o", whole, *more, *steps) == 0
    seconds = time.monotonic() - begun  # to import, to prepare and to train
    draw = random.Random(1)
    ended = [
        train_elsewhere(draw.uniform(0.25, 0.5) * seconds, data, "-o", killed, *more, *steps)
        for _ in range(5)
    ]
    assert ended.count(9) >= 3  # a quick machine may have finished before
    assert train_elsewhere(0, data, "-o", killed, *more, *steps) == 0
    for name in ("model.safetensors", "config.toml"):
        assert (killed / name).read_bytes() == (whole / name).read_bytes()
    assert losses(killed) == losses(whole)
