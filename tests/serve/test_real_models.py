"""Served through HTTP, a real model says what it says anywhere else."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from serve_case import PAGE, ask, post
from starlette.applications import Starlette

from heedful.serve.app import build_app
from heedful.serve.options import ServeOptions
from heedful.tasks.translation.documents import passages
from heedful.tasks.translation.using import Translator
from model_case import SENTENCES, make

ENGLISH = SENTENCES[:12:2]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("served") / "모델"
    make(path)
    return path


@pytest.fixture(scope="module")
def app(folder: Path) -> Starlette:
    return build_app([folder], ServeOptions(threads=1, timeout=300.0), page=PAGE, note=str)


@pytest.fixture(scope="module")
def translator(folder: Path) -> Translator:
    return Translator.load(folder, workers=1)


def test_lines_are_those_of_the_translator(app: Starlette, translator: Translator) -> None:
    expected = translator.translate(ENGLISH)
    body = {"source": "en", "target": "ko"}
    assert post(app, "/translate", q=ENGLISH, **body).json()["translatedText"] == expected
    text = "\n\n".join(ENGLISH)
    joined = post(app, "/translate", q=text, **body).json()["translatedText"]
    assert joined == "\n\n".join(expected)


def test_a_page_on_one_line_is_what_the_translator_makes_of_it(
    app: Starlette, translator: Translator, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(passages, "LONG_LINE", 600)
    text = " ".join(SENTENCES[:40:2])
    assert len(text) > 600
    answer = post(app, "/translate", q=text, source="en", target="ko").json()
    assert answer["translatedText"] == translator.translate([text])[0]


def test_alternatives_are_the_beams(app: Starlette, translator: Translator) -> None:
    answer = post(app, "/translate", q=ENGLISH[0], source="en", target="ko", alternatives=5).json()
    best = next(translator.lines(ENGLISH[:1], translator.decoding(beam=6), n_best=6))
    texts = list(dict.fromkeys(candidate.text for candidate in best.candidates))
    assert [answer["translatedText"], *answer["alternatives"]] == texts


def test_tags_are_put_where_their_words_went(app: Starlette) -> None:
    html = f"<p>{ENGLISH[0].split()[0]} <b>{' '.join(ENGLISH[0].split()[1:])}</b></p>"
    answer = post(app, "/translate", q=html, source="en", target="ko", format="html").json()
    found = answer["translatedText"]
    assert found.startswith("<p>")
    assert found.count("<b>") == found.count("</b>") == 1


def test_a_trace_is_that_of_the_translator(app: Starlette, translator: Translator) -> None:
    chosen = {"layers": [1], "heads": [0, 2], "decimals": 2, "values": False}
    answer = post(app, "/explain", q=ENGLISH[0], source="en", target="ko", **chosen)
    expected = translator.trace(ENGLISH[0], None, **chosen)  # type: ignore[arg-type]
    assert answer.json() == json.loads(json.dumps(expected))
    wrong = post(app, "/explain", q="x", source="en", target="ko", layers=[99])
    assert wrong.status_code == 400
    assert wrong.json()["error"].startswith("Invalid request: ")


def test_the_model_is_named_after_its_folder(app: Starlette) -> None:
    models = ask(app, "GET", "/frontend/settings").json()["models"]
    assert models == [{"name": "모델", "source": "en", "target": "ko"}]


def test_serving_loads_no_torch_until_somebody_looks_inside(folder: Path, app: Starlette) -> None:
    code = (
        "import sys, asyncio, pathlib, httpx\n"
        "from heedful.serve.app import build_app\n"
        "app = build_app([pathlib.Path(sys.argv[1])])\n"
        "async def go():\n"
        "    web = httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url='http://s')\n"
        "    body = {'q': '<p>A dog.</p>', 'source': 'auto', 'target': 'ko', 'format': 'html'}\n"
        "    assert (await web.post('/translate', json=body)).status_code == 200\n"
        "asyncio.run(go())\n"
        "assert 'torch' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code, str(folder)], check=True, timeout=300)
