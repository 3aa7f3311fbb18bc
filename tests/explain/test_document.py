"""The page as one file: its script put together, its policy, and nothing that could get out."""

from __future__ import annotations

import base64
import hashlib
import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from made_trace import made_trace

from heedful.explain import document
from heedful.explain.document import as_page, as_script, page_files

HOSTILE = "</script><img src=x onerror=alert(1)><!--"


def test_a_module_comes_after_those_it_needs_and_only_once() -> None:
    modules = {
        "main.js": 'import { b } from "./b.js";\nimport { a } from "./a.js";\nb(a);\n',
        "b.js": 'import {\n  a, other,\n} from "./a.js";\nexport function b(x) { return a + x; }\n',
        "a.js": "export const a = 1;\nexport async function other() {}\n",
        "unused.js": "never();\n",
    }
    script = as_script(modules, "main.js")
    order = re.findall(r'modules\["(\w+\.js)"\] =', script)
    assert order == ["a.js", "b.js", "main.js"]
    assert 'const { a, other } = modules["a.js"];' in script
    assert "return { a, other };" in script
    assert not re.search(r"^(import|export)", script, re.MULTILINE)


@pytest.mark.parametrize(
    "line",
    [
        "export default 3;",
        "export let changing = 1;",
        "export { a };",
        'export * from "./a.js";',
        'import "./a.js";',
        'import all from "./a.js";',
        'import { a as b } from "./a.js";',
        'const late = import("./a.js");',
        "const here = import.meta.url;",
        '  import { a } from "./a.js";',
    ],
)
def test_what_is_not_in_the_convention_is_refused_by_name(line: str) -> None:
    modules = {"main.js": f"const first = 1;\n{line}\n", "a.js": "export const a = 1;\n"}
    with pytest.raises(ValueError, match=r"^main\.js does not keep to the convention: "):
        as_script(modules, "main.js")


def test_a_circle_and_a_missing_name_are_refused() -> None:
    circle = {
        "a.js": 'import { b } from "./b.js";\nexport const a = 1;\n',
        "b.js": 'import { a } from "./a.js";\nexport const b = 1;\n',
    }
    with pytest.raises(ValueError, match=r"^modules need each other: a\.js > b\.js > a\.js$"):
        as_script(circle, "a.js")
    with pytest.raises(ValueError, match=r"^a\.js imports c, not in b\.js$"):
        as_script({"a.js": 'import { c } from "./b.js";\n', "b.js": ""}, "a.js")


def test_the_policy_allows_our_script_and_style_and_nothing_else() -> None:
    page = as_page(made_trace(), "a title")
    (policy,) = re.findall(r'Content-Security-Policy" content="([^"]+)"', page)
    (script,) = re.findall(r"<script>(.*?)</script>", page, re.DOTALL)
    (style,) = re.findall(r"<style>(.*?)</style>", page, re.DOTALL)
    for kind, text in (("script-src", script), ("style-src", style)):
        digest = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        assert f"{kind} 'sha256-{digest}';" in policy
    assert policy.startswith("default-src 'none'; ")
    assert "img-src data: blob:;" in policy
    assert "unsafe" not in policy
    assert page.index("Content-Security-Policy") < page.index("<style>")


def test_nothing_in_a_trace_or_a_title_becomes_markup() -> None:
    trace = made_trace()
    trace["streams"][0]["text"] = HOSTILE
    trace["model"]["name"] = HOSTILE
    page = as_page(trace, HOSTILE)
    assert "<img" not in page
    (data,) = re.findall(r'<script type="application/json" id="trace">(.*?)</script>', page)
    assert json.loads(data) == trace
    assert "<title>&lt;/script&gt;&lt;img" in page


def test_a_number_that_json_does_not_know_is_refused() -> None:
    trace = made_trace()
    trace["outputs"][0]["steps"][0]["logp"] = float("nan")
    with pytest.raises(ValueError, match="JSON"):
        as_page(trace, "a title")


def test_the_page_points_nowhere_else() -> None:
    page = as_page(made_trace(), "a title")
    assert re.findall(r'(?:src|href)="(?!data:|#)[^"]*"', page) == []
    assert set(re.findall(r"https?://[^\"'\s]+", page)) == {"http://www.w3.org/2000/svg"}
    assert not re.search(r"@import|url\(|innerHTML|outerHTML|insertAdjacentHTML|\beval\b", page)


def test_a_server_is_given_every_file_and_none_is_long() -> None:
    found = page_files()
    assert {"index.html", "style.css", "main.js", "words.js"} <= set(found)
    folder = Path(document.__file__).parent / "page"
    assert found == {path.name: path.read_bytes() for path in folder.iterdir()}
    for name, content in found.items():
        assert content.count(b"\n") < 400, name
        assert re.fullmatch(r"[a-z]+\.(js|css|html)", name)


def test_every_word_the_page_asks_for_is_there_in_both_languages() -> None:
    found = {name: content.decode() for name, content in page_files().items()}
    listed = found["phrases.js"].split("const PHRASES = {")[1].split("\n};")[0]
    entries = re.findall(r'^  "?([\w-]+)"?: \[(.*?)\],$', listed, re.MULTILINE | re.DOTALL)
    words = dict(entries)
    assert len(words) == len(entries)
    code = "".join(text for name, text in found.items() if name != "phrases.js")
    asked = set(re.findall(r'\bsay\("([\w-]+)"', code))
    asked |= set(re.findall(r'data-say(?:-label|-placeholder)?="([\w-]+)"', code))
    assert asked <= set(words), asked - set(words)
    for key, pair in entries:
        pair = re.sub(r'"\s*\+\s*"', "", pair)
        both = re.findall(r'"([^"]*)"', pair)
        assert len(both) == 2, key
        assert set(re.findall(r"\{\d\}", both[0])) == set(re.findall(r"\{\d\}", both[1])), key


def test_making_a_page_loads_no_torch() -> None:
    code = "import sys, heedful.explain.document; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
