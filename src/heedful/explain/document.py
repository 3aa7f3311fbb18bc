"""The page as one file, which works from a disk and offline.

Browsers load no modules over file://, so the modules of `page` become one classic script. For that
they keep to a small convention, checked here: an import is `import { a, b } from "./name.js";`, an
export is `export` before a `function`, an `async function` or a `const`, both at the beginning of
a line; nothing is exported under another name, and imports are not circular.
"""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from html import escape
from importlib import resources
from typing import Any

IMPORT = re.compile(r'^import \{\s*(\w+(?:,\s*\w+)*),?\s*\}\s+from "\./(\w+\.js)";\n', re.MULTILINE)
EXPORT = re.compile(r"^export ((?:async )?function|const) (\w+)", re.MULTILINE)
LEFT = re.compile(r"^\s*(import|export)\b.*|\bimport[.(].*", re.MULTILINE)
STYLE = '<link rel="stylesheet" href="page/style.css">'
SCRIPT = '<script type="module" src="page/main.js"></script>'
TITLE = "<title>Heedful</title>"
CHARSET = '<meta charset="utf-8">'


def page_files() -> dict[str, bytes]:
    """Give every file of the page by its name, for a server to serve."""
    folder = resources.files("heedful.explain").joinpath("page")
    return {each.name: each.read_bytes() for each in folder.iterdir() if each.is_file()}


def as_page(trace: Mapping[str, Any], title: str) -> str:
    """Make one html file that shows a trace and needs nothing else, no network and no server."""
    found = {name: content.decode() for name, content in page_files().items()}
    script = _enclosed(as_script(found, "main.js"), "script")
    style = _enclosed(found["style.css"], "style")
    # In a script element nothing but "<" can end it, or begin a comment.
    data = json.dumps(trace, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    data = data.replace("<", "\\u003c")
    policy = (
        f"default-src 'none'; script-src {_hash(script)}; style-src {_hash(style)}; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
    parts = {
        CHARSET: f'{CHARSET}\n<meta http-equiv="Content-Security-Policy" content="{policy}">',
        TITLE: f"<title>{escape(title)}</title>",
        STYLE: f"<style>{style}</style>",
        SCRIPT: f'<script type="application/json" id="trace">{data}</script>\n'
        f"<script>{script}</script>",
    }
    return re.sub(
        "|".join(map(re.escape, parts)), lambda match: parts[match[0]], found["index.html"]
    )


def as_script(modules: Mapping[str, str], first: str) -> str:
    """Turn a module and all that it imports into one classic script.

    Each becomes a function that gives its exports, called once, after those that it needs.
    """
    done: dict[str, str] = {}

    def take(name: str, way: tuple[str, ...]) -> None:
        if name in way:
            raise ValueError(f"modules need each other: {' > '.join((*way, name))}")
        if name in done:
            return
        code, needs = modules[name], []
        for names, other in IMPORT.findall(code):
            take(other, (*way, name))
            wanted = re.findall(r"\w+", names)
            missing = set(wanted) - {each for _, each in EXPORT.findall(modules[other])}
            if missing:
                raise ValueError(f"{name} imports {', '.join(sorted(missing))}, not in {other}")
            needs.append(f'const {{ {", ".join(wanted)} }} = modules["{other}"];\n')
        given = [each for _, each in EXPORT.findall(code)]
        body = EXPORT.sub(r"\1 \2", IMPORT.sub("", code))
        if strange := LEFT.search(body):
            raise ValueError(f"{name} does not keep to the convention: {strange[0].strip()}")
        done[name] = (
            f'modules["{name}"] = (() => {{\n{"".join(needs)}{body}'
            f"return {{ {', '.join(given)} }};\n}})();\n"
        )

    take(first, ())
    return f'(() => {{\n"use strict";\nconst modules = {{}};\n{"".join(done.values())}}})();\n'


def _enclosed(text: str, tag: str) -> str:
    """Refuse a text that would end the element it stands in."""
    if re.search(rf"</{tag}|<!--", text, re.IGNORECASE):
        raise ValueError(f"the page's {tag} would end too early: it holds </{tag} or <!--")
    return text


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"
