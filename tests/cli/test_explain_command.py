"""`explain` as people type it."""

from __future__ import annotations

import json
import re
from pathlib import Path

from command import Trained, call

TEXT = "The cat sleeps because it is tired."


def test_a_sentence_becomes_a_page_or_its_numbers(trained: Trained, tmp_path: Path) -> None:
    page, data = tmp_path / "page.html", tmp_path / "trace.json"
    called = call("explain", trained.model, TEXT, "-o", page)
    assert (called.code, called.out) == (0, "")
    assert called.err.splitlines()[-1] == f"open {page} in a browser"
    assert page.read_text(encoding="utf-8").startswith("<!doctype html>")
    called = call("explain", trained.model, TEXT, "-o", data, "--positions", 70, "--no-values")
    assert called.err.splitlines()[-1] == f"the trace is in {data}"
    trace = json.loads(data.read_text(encoding="utf-8"))
    assert len(trace["positions"][0]["rows"]) == 70
    assert not trace["chosen"]["values"]


def test_what_cannot_be_explained_is_said_in_a_line(trained: Trained, tmp_path: Path) -> None:
    wrong = call("explain", trained.model, TEXT, "-o", tmp_path / "page.pdf")
    assert wrong.mistake == f"{tmp_path / 'page.pdf'}: expected a name that ends in .html or .json"
    far = call("explain", trained.model, TEXT, "-o", tmp_path / "a.html", "--positions", 1001)
    assert far.mistake == "positions = 1001; expected 1 to 1000"
    assert list(tmp_path.iterdir()) == []
    long = call("explain", trained.model, "dog " * 210, "-o", tmp_path / "a.json")
    assert long.code == 0
    assert re.match(r"left out: the text has \d+ parts that are translated by", long.err)
