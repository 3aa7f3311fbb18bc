"""Our models on CTranslate2: the same scores and text, and never from a stale or broken cache."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from heedful.decoding.batch import TorchEngine
from heedful.decoding.hypothesis import LengthPenalty
from heedful.errors import InterchangeError
from heedful.models.folder import Folder
from heedful.settings import DecodeSettings
from heedful.tasks.translation.exchange import ctranslate2 as engine_file
from heedful.tasks.translation.exchange.conversions import open_engine
from heedful.tasks.translation.exchange.ctranslate2 import CTranslate2Engine, convert
from heedful.tasks.translation.model import load_model
from heedful.tasks.translation.using import Translator
from model_case import SENTENCES, make


def sources(folder: Folder, count: int = 12) -> list[list[int]]:
    random = np.random.default_rng(5)
    return [
        random.integers(2, folder.ids.size - 1, size=n).tolist()
        for n in random.integers(1, 25, size=count)
    ]


MODELS: list[dict[str, Any]] = [
    {},
    {"norm": "pre"},
    {"norm": "pre", "positions": "concatenated", "activation": "gelu"},
    {"activation": "swish", "share_embeddings": False, "share_output": False, "output_bias": True},
    {"attention": "dot", "sharp": 1.0},
    {"positions": "learned", "max_positions": 300},
]


@pytest.mark.parametrize("model", MODELS)
def test_both_engines_find_and_score_the_same(tmp_path: Path, model: dict[str, Any]) -> None:
    folder = make(tmp_path / "model", **model)
    convert(folder, tmp_path / "converted")
    theirs = CTranslate2Engine(tmp_path / "converted", folder)
    ours = TorchEngine(load_model(folder))
    given = sources(folder)
    for beam in (1, 4):
        decode = DecodeSettings(beam=beam, max_length=24, guards=False)
        one, other = ours.search(given, decode, beam), theirs.search(given, decode, beam)
        if beam == 1:  # the two beams end a search by other rules, greedy has but one way
            assert [h[0].ids for h in one] == [h[0].ids for h in other]
            assert [h[0].stop for h in one] == [h[0].stop for h in other]
            quick = theirs.search(given, decode, scored=False)
            assert [h[0].ids for h in quick] == [h[0].ids for h in one]
        for found in (one, other):
            ended = [
                (s, h) for s, hs in zip(given, found, strict=True) for h in hs if h.stop == "end"
            ]
            scores = ours.score([s for s, _ in ended], [h.ids for _, h in ended], 500)
            again = theirs.score([s for s, _ in ended], [h.ids for _, h in ended], 500)
            for (_, h), (a, n), (b, _) in zip(ended, scores, again, strict=True):
                assert h.logp == pytest.approx(a, abs=1e-4 * n)
                assert b == pytest.approx(a, abs=1e-4 * n)
                assert h.score == pytest.approx(h.logp / LengthPenalty(0.6, 5.0)(n))


def test_a_prefix_is_kept_and_costs_nothing(tmp_path: Path) -> None:
    folder = make(tmp_path / "model")
    convert(folder, tmp_path / "converted")
    theirs = CTranslate2Engine(tmp_path / "converted", folder)
    ours = TorchEngine(load_model(folder))
    decode = DecodeSettings(beam=1, max_length=12)
    given, forced = [[5, 9, 300], [41, 8]], [[77, 90], [301]]
    one = ours.search(given, decode, prefixes=forced)
    other = theirs.search(given, decode, prefixes=forced)
    for a, b, prefix in zip(one, other, forced, strict=True):
        assert a[0].ids == b[0].ids
        assert b[0].ids[: len(prefix)] == prefix
        assert a[0].logp == pytest.approx(b[0].logp, abs=1e-3)


def test_auto_takes_ctranslate2_and_says_what_it_did(tmp_path: Path) -> None:
    folder = make(tmp_path / "model")
    said: list[str] = []
    translator = Translator.load(folder.path, note=said.append)
    assert translator.engine.name == "ctranslate2"
    assert said[0] == f"converting {folder.path} for CTranslate2, once"
    assert said[1].startswith("converted: scores equal to ")
    text = translator.translate(SENTENCES[:4], max_length=20)
    assert text == Translator.load(folder.path, engine="torch").translate(
        SENTENCES[:4], max_length=20
    )
    again: list[str] = []
    Translator.load(folder.path, note=again.append)
    assert again == []  # once


def test_what_ctranslate2_cannot_run_runs_on_torch_and_says_so(tmp_path: Path) -> None:
    folder = make(tmp_path / "model", attention="additive")
    said: list[str] = []
    translator = Translator.load(folder.path, note=said.append)
    assert translator.engine.name == "torch"
    assert said == [
        f"CTranslate2 cannot run {folder.path}: it has no additive attention; on torch instead"
    ]
    with pytest.raises(InterchangeError, match="it has no additive attention"):
        Translator.load(folder.path, engine="ctranslate2")


def test_sampling_goes_to_torch_unless_asked_for(tmp_path: Path) -> None:
    from heedful.settings import SamplingSettings

    folder = make(tmp_path / "model")
    said: list[str] = []
    translator = Translator.load(folder.path, note=said.append)
    decode = translator.decoding(max_length=12)
    drawn = list(translator.lines(SENTENCES[:2], decode, 3, SamplingSettings(top_k=5)))
    assert "sampling on torch" in said[-1]
    ours = Translator.load(folder.path, engine="torch")
    assert drawn == list(ours.lines(SENTENCES[:2], decode, 3, SamplingSettings(top_k=5)))
    insisted = Translator.load(folder.path, engine="ctranslate2", note=said.append)
    count = len(said)
    found = list(insisted.lines(SENTENCES[:2], decode, 3, SamplingSettings(top_k=5)))
    assert len(said) == count
    assert [len(t.candidates) for t in found] == [3, 3]


def test_long_text_goes_to_torch_and_says_so(tmp_path: Path) -> None:
    folder = make(tmp_path / "model", positions="learned", max_positions=40)
    said: list[str] = []
    translator = Translator.load(folder.path, note=said.append)
    with pytest.raises(Exception, match="past the learned table"):
        translator.translate([" ".join(SENTENCES[:6])], max_length=5)
    assert "longer than CTranslate2's table of positions" in said[-1]


def fresh(folder: Folder) -> Path:
    """Where the conversion is."""
    (place,) = (p for p in (folder.path / "ctranslate2").iterdir() if not p.name.startswith("."))
    return place


def test_a_changed_model_is_never_served_from_an_old_cache(tmp_path: Path) -> None:
    folder = make(tmp_path / "model", seed=1)
    before = Translator.load(folder.path).translate(SENTENCES[:5], max_length=20)
    place = fresh(folder)
    other = make(tmp_path / "other", seed=2)
    folder.write_weights(other.weights())
    after = Translator.load(folder.path).translate(SENTENCES[:5], max_length=20)
    assert after != before
    assert after == Translator.load(other.path, engine="torch").translate(
        SENTENCES[:5], max_length=20
    )
    assert fresh(folder) != place  # and the old one is gone


def test_a_damaged_conversion_is_made_again(tmp_path: Path) -> None:
    folder = make(tmp_path / "model")
    text = Translator.load(folder.path).translate(SENTENCES[:5], max_length=20)
    for damage in ("flip", "cut", "remove", "config"):
        place = fresh(folder)
        file = place / ("config.json" if damage == "config" else "model.bin")
        data = bytearray(file.read_bytes())
        if damage == "remove":
            file.unlink()
        elif damage == "cut":
            file.write_bytes(data[: len(data) // 2])
        else:
            data[len(data) // 2] ^= 4
            file.write_bytes(data)
        said: list[str] = []
        translator = Translator.load(folder.path, note=said.append)
        assert "converting" in said[0], damage
        assert translator.translate(SENTENCES[:5], max_length=20) == text


def test_a_conversion_killed_at_any_write_leaves_nothing_to_believe(tmp_path: Path) -> None:
    folder = make(tmp_path / "model")
    text = Translator.load(folder.path).translate(SENTENCES[:3], max_length=20)
    shutil.rmtree(folder.path / "ctranslate2")
    code = (
        "import os, sys\n"
        "from pathlib import Path\n"
        "from heedful import files\n"
        "from heedful.tasks.translation.exchange import conversions as it\n"
        "from heedful.tasks.translation.model import open_folder\n"
        "left = int(sys.argv[2])\n"
        "def counted(real):\n"
        "    def call(*a, **k):\n"
        "        global left\n"
        "        left -= 1\n"
        "        if left == 0: os._exit(9)\n"
        "        return real(*a, **k)\n"
        "    return call\n"
        "os.rename, os.replace = counted(os.rename), counted(os.replace)\n"
        "files.force, files.sha256 = counted(files.force), counted(files.sha256)\n"
        "it.convert, it._prove = counted(it.convert), counted(it._prove)\n"
        "it.open_engine(open_folder(Path(sys.argv[1])))\n"
    )
    killed = 0
    for moment in (4, 6, 9, 12, 14, 15, 16):
        shutil.rmtree(folder.path / "ctranslate2", ignore_errors=True)
        ran = subprocess.run([sys.executable, "-c", code, str(folder.path), str(moment)])
        killed += ran.returncode == 9
        found = Translator.load(folder.path).translate(SENTENCES[:3], max_length=20)
        assert found == text, moment
    assert killed >= 5


def test_a_read_only_model_is_converted_in_the_users_cache(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path / "model")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    real = Path.mkdir

    def mkdir(self: Path, *a: Any, **k: Any) -> None:
        if folder.path in self.parents:  # a read-only folder, whoever runs the test
            raise PermissionError(13, "Permission denied", str(self))
        real(self, *a, **k)

    monkeypatch.setattr(Path, "mkdir", mkdir)
    open_engine(folder)
    assert not (folder.path / "ctranslate2").exists()
    assert list((tmp_path / "cache" / "heedful" / "ctranslate2").iterdir())


def test_a_conversion_that_is_wrong_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = make(tmp_path / "model")
    monkeypatch.setattr(engine_file, "POSITIONS", 2048)
    real = engine_file._positions

    def shifted(s: Any, weights: dict[str, Any]) -> Any:
        return np.roll(real(s, weights), 1, axis=0)

    monkeypatch.setattr(engine_file, "_positions", shifted)
    said: list[str] = []
    assert Translator.load(folder.path, note=said.append).engine.name == "torch"
    assert "does not give the same scores on CTranslate2" in said[-1]
    with pytest.raises(InterchangeError, match="does not give the same scores"):
        Translator.load(folder.path, engine="ctranslate2")
    assert [p.name for p in (folder.path / "ctranslate2").iterdir()] == [".lock"]


def test_translating_with_a_conversion_never_loads_torch(tmp_path: Path) -> None:
    folder = make(tmp_path / "model")
    Translator.load(folder.path)
    code = (
        "import sys\n"
        "from heedful.cli.main import run\n"
        f"sys.argv = ['heedful', 'translate', {str(folder.path)!r}, {SENTENCES[0]!r}]\n"
        "try:\n    run()\nexcept SystemExit:\n    pass\n"
        "assert 'torch' not in sys.modules, 'torch was imported'\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.count("\n") == 1


def test_int8_is_close(tmp_path: Path) -> None:
    folder = make(tmp_path / "model")
    exact = Translator.load(folder.path)
    rough = Translator.load(folder.path, compute="int8")
    assert rough.engine.name == "ctranslate2"
    targets = exact.translate(SENTENCES[:4], max_length=10)
    pairs = zip(
        exact.score(SENTENCES[:4], targets), rough.score(SENTENCES[:4], targets), strict=True
    )
    for (a, n), (b, _) in pairs:
        assert a != b
        assert abs(a - b) / n < 1.0
