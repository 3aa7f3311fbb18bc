"""The package Argos Translate installs, in the real argostranslate, says what we say."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

from heedful.data.text import normalise
from heedful.errors import InterchangeError
from heedful.tasks.translation.exchange.argos import write_argos
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.settings import Settings
from heedful.tasks.translation.using import Translator
from model_case import SENTENCES, make

ARGOS = Path(__file__).parents[4] / "build" / "argos"
"""Where `make peers` puts argostranslate, which wants other versions of things than we test."""

SPLITTERS = {
    "stanza.py": "",
    "minisbd.py": (
        "class models:\n"
        "    cache_dir = ''\n"
        "    def list_models():\n        return ['en']\n"
        "class SBDetect:\n"
        "    def __init__(self, *a, **k):\n        pass\n"
        "    def sentences(self, text):\n        return [text]\n"
    ),
}
"""Argos splits text with models it downloads; here every line is one sentence."""

RUN = """
import json, sys
from argostranslate import package, settings, translate
settings.beam_size, settings.compute_type = 1, "float32"
package.install_from_path(sys.argv[1])
texts = json.load(sys.stdin)
one, other = sys.argv[2:]
languages = {l.code: l for l in translate.get_installed_languages()}
how = languages[one].get_translation(languages[other])
print(json.dumps([how.hypotheses(text, num_hypotheses=1)[0].value for text in texts]))
"""


def argos(package: Path, texts: list[str], folder: Path, codes: tuple[str, str]) -> list[str]:
    """Install a package into an empty home and translate with the real thing."""
    if not (ARGOS / "argostranslate").is_dir():
        pytest.skip("argostranslate is not there; `make peers` installs it")
    stubs = folder / "stubs"
    stubs.mkdir()
    for name, text in SPLITTERS.items():
        stubs.joinpath(name).write_text(text, encoding="utf-8")
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join([str(stubs), str(ARGOS)]),
        "HOME": str(folder),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "ARGOS_PACKAGES_DIR": str(folder / "packages"),
    }
    ran = subprocess.run(
        [sys.executable, "-c", RUN, str(package), *codes],
        input=json.dumps(texts),
        capture_output=True,
        text=True,
        env=environment,
    )
    assert ran.returncode == 0, ran.stderr
    found: list[str] = json.loads(ran.stdout.splitlines()[-1])
    return found


def test_argos_translate_says_what_we_say(tmp_path: Path) -> None:
    folder = make(tmp_path / "model", sharp=2.0)
    write_argos(folder, tmp_path / "out")
    (package,) = (tmp_path / "out").iterdir()
    assert package.name == "translate-en_ko-1_0.argosmodel"
    texts = list(dict.fromkeys(SENTENCES[::2]))[:50]
    ours = Translator.load(folder.path).translate(
        texts, beam=1, max_length=256, guards=False, split_above=512
    )
    theirs = argos(package, texts, tmp_path, ("en", "ko"))
    # They write a space for an underscore and leave control characters alone.
    assert [normalise(t) for t in theirs] == [t.replace("_", " ") for t in ours]


def test_the_package_is_what_argos_reads(tmp_path: Path) -> None:
    folder = make(tmp_path / "model")
    write_argos(folder, tmp_path / "a.argosmodel")
    write_argos(folder, tmp_path / "b.argosmodel")
    assert (tmp_path / "a.argosmodel").read_bytes() == (tmp_path / "b.argosmodel").read_bytes()
    with zipfile.ZipFile(tmp_path / "a.argosmodel") as package:
        names = set(package.namelist())
        told = json.loads(package.read("translate-en_ko-1_0/metadata.json"))
    inside = {name.removeprefix("translate-en_ko-1_0/") for name in names}
    assert {"metadata.json", "sentencepiece.model", "README.md", "model/model.bin"} <= inside
    assert (told["from_name"], told["to_name"]) == ("English", "Korean")
    with pytest.raises(InterchangeError, match="is there already"):
        write_argos(folder, tmp_path / "a.argosmodel")


def test_a_model_of_unknown_languages_is_refused(tmp_path: Path) -> None:
    folder = make(tmp_path / "model")
    nameless = Settings(model=folder.settings.model, decode=folder.settings.decode)
    folder.write_settings(nameless)
    with pytest.raises(InterchangeError, match="does not say what its source language is"):
        write_argos(open_folder(folder.path), tmp_path / "out")
    assert not (tmp_path / "out").exists()
