"""Clients that other people wrote for LibreTranslate, as they are, against a running server."""

import json
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from serve_case import Running, model, running

from heedful.serve.keys import Keys

NODE = Path(__file__).parents[2] / "build" / "node"


@pytest.fixture(scope="module")
def served() -> Iterator[Running]:
    with running(model(), model("ko", "en"), model("en", "fr")) as one:
        yield one


def python(script: str, *arguments: str) -> str:
    """Run a client in a process of its own: its warnings are not ours."""
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def node(script: str, *arguments: str) -> str:
    if shutil.which("node") is None or not (NODE / "node_modules" / "translate").is_dir():
        pytest.skip("no node, or its clients are not there; `make peers` installs them")
    done = subprocess.run(
        ["node", "--input-type=module", "-e", script, *arguments],
        cwd=NODE,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


def test_libretranslatepy(served: Running) -> None:
    script = """
import json, sys
from libretranslatepy import LibreTranslateAPI
api = LibreTranslateAPI(sys.argv[1])
print(json.dumps([
    api.translate("나는 학생이다.", "ko", "en"),
    api.translate("I am a student.", "auto", "fr"),
    api.detect("나는 학생이다.")[0]["language"],
    [one["code"] for one in api.languages()],
]))
"""
    found = json.loads(python(script, served.url))
    assert found == ["en:나는 학생이다.", "fr:I am a student.", "ko", ["en", "ko", "fr"]]


def test_deep_translator(served: Running) -> None:
    script = """
import json, sys
from deep_translator import LibreTranslator
one = LibreTranslator(source="en", target="ko", custom_url=sys.argv[1] + "/", api_key="any")
print(json.dumps([one.translate("a & b?"), *one.translate_batch(["고양이", "x=1"])]))
"""
    assert json.loads(python(script, served.url)) == ["ko:a & b?", "ko:고양이", "ko:x=1"]


def test_translate_of_pypi(served: Running) -> None:
    script = """
import json, sys
from translate import Translator
for source in ("en", "autodetect"):
    one = Translator(provider="libre", from_lang=source, to_lang="ko", base_url=sys.argv[1])
    print(one.translate("I love you."))
"""
    assert python(script, served.url).split("\n") == ["ko:I love you."] * 2


def test_libretranslate_ts(served: Running) -> None:
    script = """
import client from "libretranslate-ts";
const { libreTranslate } = client;
libreTranslate.setApiEndpoint(process.argv[1]);
const said = await libreTranslate.translate("나는 너를 사랑한다.", "ko", "en");
const found = await libreTranslate.detect("I love you.");
const listed = await libreTranslate.listLanguages();
console.log(JSON.stringify([said.translatedText, found.language, listed.map((one) => one.code)]));
"""
    assert json.loads(node(script, served.url)) == [
        "en:나는 너를 사랑한다.",
        "en",
        ["en", "ko", "fr"],
    ]


def test_translate_of_npm(served: Running) -> None:
    script = """
import translate from "translate";
translate.engine = "libre";
translate.url = process.argv[1] + "/translate";
console.log(await translate("I am a student.", { from: "en", to: "ko" }));
"""
    assert node(script, served.url) == "ko:I am a student."


def test_a_key_goes_the_way_each_client_sends_it() -> None:
    keys, key = Keys.make()
    with running(keys=keys) as closed:
        script = """
import sys
from libretranslatepy import LibreTranslateAPI
print(LibreTranslateAPI(sys.argv[1], api_key=sys.argv[2]).translate("hello", "en", "ko"))
"""
        assert python(script, closed.url, key) == "ko:hello"
        script = """
import sys
from deep_translator import LibreTranslator
from deep_translator.exceptions import AuthorizationException
how = {"source": "en", "target": "ko", "custom_url": sys.argv[1] + "/"}
print(LibreTranslator(**how, api_key=sys.argv[2]).translate("hello"))
try:
    LibreTranslator(**how, api_key="wrong").translate("hello")
except AuthorizationException:
    print("refused")
"""
        assert python(script, closed.url, key).split("\n") == ["ko:hello", "refused"]
