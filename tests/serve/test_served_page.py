"""The page as people meet it: a real browser, a real server, a real (small) model behind it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, BrowserContext, Page
from serve_case import Running, fake, model, running

from heedful.explain.document import page_files
from heedful.serve.keys import Keys
from heedful.serve.translation.directions import Served
from heedful.tasks.translation.using import Translator
from model_case import make
from page_case import watch

AXE = Path(__file__).parents[2] / "build" / "node" / "node_modules" / "axe-core" / "axe.min.js"
TRICK = '<img src=x onerror="document.title=1">'
VIEWS = ("heads", "map", "steps", "positions", "decoding", "alignment")
Open = Callable[..., Page]


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    folder = make(tmp_path_factory.mktemp("served") / TRICK).path
    translator = Translator.load(folder, engine="torch", workers=1)
    named = Served(folder.name, "en", "ko", translator)
    with running(named, model("ko", "en"), page=page_files(), prefix="/under/here") as one:
        yield one


@pytest.fixture
def visit(browser: Browser) -> Iterator[Open]:
    """Open an address; an error on the page or a request to another host fails the test."""
    wrong: list[str] = []
    contexts: list[BrowserContext] = []

    def go(url: str, refused: bool = False, **kind: Any) -> Page:
        context = browser.new_context(locale="en-US", **kind)
        contexts.append(context)
        page = context.new_page()
        # The browser tells of every answer that is no success.
        watch(page, wrong, (url,), console=not refused)
        page.goto(url)
        page.locator("#target-language option").first.wait_for(state="attached")
        return page

    yield go
    for context in contexts:
        context.close()
    assert wrong == []


def typed(page: Page, text: str) -> None:
    page.locator("#source-text").fill(text)
    page.locator("#source-text").press("Control+Enter")
    page.locator("#tab-heads").wait_for()
    page.locator("#facts").wait_for()


def test_a_text_is_translated_and_every_view_shows_its_pass(served: Running, visit: Open) -> None:
    page = visit(f"{served.url}/under/here/")
    typed(page, f"The dog sees {TRICK} the cat.")
    said = page.locator("#result").inner_text()
    assert said
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        assert page.locator(f"#view-{view}").is_visible()
        assert page.locator(f"#view-{view} svg, #view-{view} .strip").count() > 0
    assert TRICK in page.locator("#facts").inner_text()  # the model's name is text too
    assert page.title() != "1"
    assert page.locator("img").count() == 0


def test_the_other_language_of_the_page_and_of_the_text(served: Running, visit: Open) -> None:
    page = visit(f"{served.url}/under/here/", viewport={"width": 375, "height": 700})
    page.locator("#language").click()
    assert "번역" in page.locator("#translate").inner_text()
    page.locator("#source-language").select_option("auto")
    page.locator("#target-language").select_option("ko")
    typed(page, "The dog sees the cat.")
    assert page.locator("#result").inner_text()
    wide = page.evaluate("document.documentElement.scrollWidth - innerWidth")
    assert wide <= 0


def test_an_error_is_said_where_a_screen_reader_hears_it(visit: Open) -> None:
    with running(model(), page=page_files(), char_limit=10) as small:
        page = visit(f"{small.url}/", refused=True)
        page.locator("#source-text").fill("far too long for this server")
        page.locator("#translate").click()
        page.locator("#error:not(:empty)").wait_for()
        assert "exceeds text limit" in page.locator("#error").inner_text()
        page.context.close()  # before the server goes


def test_a_server_with_keys_asks_for_one(visit: Open) -> None:
    keys, key = Keys.make()
    one = model()
    with running(one, page=page_files(), keys=keys) as closed:
        page = visit(f"{closed.url}/")
        page.locator("#api-key").fill(key)
        page.locator("#source-text").fill("hello")
        with page.expect_response("**/translate") as answer:
            page.locator("#translate").click()
        assert answer.value.status == 200
        assert fake(one).rounds == [["hello"]]
        page.context.close()  # before the server goes


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(served: Running, visit: Open, scheme: str) -> None:
    if not AXE.exists():
        pytest.skip("axe-core is not there; `make peers` installs it")
    page = visit(f"{served.url}/under/here/", color_scheme=scheme, bypass_csp=True)
    typed(page, "The dog sees the cat.")
    page.add_script_tag(content=AXE.read_text(encoding="utf-8"))
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        found = page.evaluate("axe.run()")["violations"]
        serious = [f["id"] for f in found if f["impact"] in ("serious", "critical")]
        assert serious == [], view
