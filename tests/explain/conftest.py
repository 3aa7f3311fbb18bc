"""A real browser for the page of a trace, with every request to a network refused and noted."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page

from heedful.explain.document import as_page
from page_case import watch

Show = Callable[..., Page]


@pytest.fixture
def show(browser: Browser, tmp_path: Path) -> Iterator[Show]:
    """Open a trace as a file; whatever goes wrong while it is looked at fails the test."""
    wrong: list[str] = []
    contexts: list[BrowserContext] = []

    def open_file(trace: dict[str, Any], title: str = "Heedful", **kind: Any) -> Page:
        wanted = {"locale": "en-US", "viewport": {"width": 1100, "height": 800}} | kind
        context = browser.new_context(**wanted)
        contexts.append(context)
        context.set_offline(True)
        context.set_default_timeout(120_000)  # a busy machine is no failure
        page = context.new_page()
        watch(page, wrong, ("file:",))
        file = tmp_path / f"page{len(contexts)}.html"
        file.write_text(as_page(trace, title), encoding="utf-8")
        page.goto(file.as_uri())
        return page

    yield open_file
    for context in contexts:
        context.close()
    assert wrong == []
