"""`export` and `import` as people type them."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command import Trained, call

SENTENCES = ["The cat sleeps.", "I am a student.", "고양이가 잔다."]


def test_a_model_goes_out_and_comes_back(trained: Trained, tmp_path: Path) -> None:
    out = call("export", trained.model, "--to", "huggingface", "-o", tmp_path / "theirs")
    assert (out.code, out.out) == (0, "")
    assert out.err == f"{trained.model} is now {tmp_path / 'theirs'}, for huggingface\n"
    told = json.loads((tmp_path / "theirs" / "config.json").read_text())
    assert told["architectures"][0] in ("MarianMTModel", "PegasusForConditionalGeneration")
    back = call("import", tmp_path / "theirs", "-o", tmp_path / "ours")
    assert back.code == 0
    assert "en to fr" in back.err
    assert f"heedful translate {tmp_path / 'ours'}" in back.err
    both = [
        call("translate", model, *SENTENCES, "--engine", "torch").out
        for model in (trained.model, tmp_path / "ours")
    ]
    assert both[0] == both[1]
    assert both[0].count("\n") == len(SENTENCES)


def test_both_engines_are_one_flag_away(trained: Trained) -> None:
    greedy = [
        call("translate", trained.model, *SENTENCES, "--beam", 1, "--engine", engine)
        for engine in ("torch", "ctranslate2", "auto")
    ]
    assert [c.code for c in greedy] == [0, 0, 0]
    assert greedy[0].out == greedy[1].out == greedy[2].out
    rough = call("translate", trained.model, *SENTENCES, "--compute", "int8")
    assert rough.code == 0
    assert rough.out.count("\n") == len(SENTENCES)


@pytest.mark.parametrize(
    ("arguments", "line"),
    [
        (
            ("export", "MODEL", "--to", "word", "-o", "x"),
            "--to word: expected one of huggingface, ctranslate2, argos, onnx",
        ),
        (
            ("translate", "MODEL", "a", "--engine", "steam"),
            "engine 'steam' is not known; expected auto, torch, ctranslate2",
        ),
        (
            ("translate", "MODEL", "a", "--compute", "int3"),
            "compute 'int3' is not known; expected float32, int8",
        ),
        (
            ("translate", "MODEL", "a", "--engine", "torch", "--compute", "int8"),
            "compute 'int8' needs CTranslate2; leave out engine = 'torch'",
        ),
        (
            ("import", "HERE", "-o", "x"),
            "HERE/config.json is missing; give a folder transformers wrote",
        ),
        (
            ("export", "MODEL", "--to", "ctranslate2", "-o", "MODEL"),
            "MODEL is there already; choose a new or empty folder",
        ),
    ],
)
def test_a_mistake_is_one_line(
    trained: Trained, tmp_path: Path, arguments: tuple[str, ...], line: str
) -> None:
    names = {"MODEL": str(trained.model), "HERE": str(tmp_path), "x": str(tmp_path / "x")}
    called = call(*(names.get(a, a) for a in arguments))
    assert called.code == 2
    for short, name in names.items():
        line = line.replace(short, name) if short != "x" else line
    assert called.mistake == line
    assert not (tmp_path / "x").exists()
