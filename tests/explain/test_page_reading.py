"""The page for everybody: languages, keys, screens, light and dark, long and hostile texts."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_family import FAMILY
from made_trace import made_trace
from playwright.sync_api import Page, expect

from heedful.explain.writer import LEFT_OUT
from page_case import latin_words, reload_until

Show = Callable[..., Page]
VIEWS = ("heads", "map", "steps", "positions", "decoding", "alignment")
AXE = Path(__file__).parents[2] / "build" / "node" / "node_modules" / "axe-core" / "axe.min.js"
HOSTILE = '</script><script>document.title = "caught"</script><img src=x onerror=alert(1)>{0}'
PAPER = {"light": "rgb(247, 245, 240)", "dark": "rgb(20, 23, 26)"}


def focused(page: Page) -> str:
    return str(page.evaluate("document.activeElement.id"))


def tab_to(page: Page, wanted: str) -> None:
    """Press Tab until an element has the focus, as somebody without a mouse does."""
    for _ in range(60):
        if focused(page) == wanted:
            return
        page.keyboard.press("Tab")
    pytest.fail(f"the Tab key does not reach {wanted}; it is at {focused(page)}")


def paper(page: Page) -> str:
    return str(page.evaluate("getComputedStyle(document.body).backgroundColor"))


def test_korean_readers_are_at_home(show: Show) -> None:
    page = show(made_trace(), locale="ko-KR")
    assert page.locator("html").get_attribute("lang") == "ko"
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        lead = page.locator(f"#view-{view} .lead").first.inner_text()
        assert any("가" <= letter <= "힣" for letter in lead)
    page.locator("#language").click()
    assert page.locator("#tab-steps").inner_text() == "Step by step"
    assert page.locator("#view-alignment h2").inner_text() == "What each word looked at"
    reload_until(page, lambda: page.locator("html").get_attribute("lang") == "en")
    page.locator("#language").click()
    assert page.locator("#view-heads h2").inner_text() == "어느 단어가 어느 단어를 보는가"


NAMES = {"Heedful", "demo-en-ko", "d_model", "d_k", "English", "SVG", "PNG", "JSON"}
"""What stays as it is in every language: names, and the button that leads to English."""


@pytest.mark.parametrize(
    "kind",
    [
        {"best": 0.87},
        {"best": 0.04, "norm": "pre", "attention": "dot"},
        {"attention": "additive", "given": True},
        {"values": False, "repeat": 2},
    ],
    ids=str,
)
def test_every_word_of_the_korean_page_is_korean(show: Show, kind: dict[str, Any]) -> None:
    trace = made_trace(**kind)
    chosen = trace["chosen"]
    kinds = {"items": ["source", 300, 200], "saliency": [64], "parts": [8]}
    for one, values in kinds.items():
        chosen["left_out"].append(LEFT_OUT.get(one, "{0} parts").format(*values))
        chosen["left_out_kinds"].append([one, *values])
    page = show(trace, locale="ko-KR")
    items = [item["text"] for stream in trace["streams"] for item in stream["items"]]
    pieces = {*items, "</s>", "a", "il"}
    allowed = NAMES | {piece.strip("▁") for piece in pieces} | set(sentence_words(trace))
    allowed |= {"it", "exp"}  # the English word that was measured, and the function
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        for name in (f"{view}-kind-decoder", f"{view}-kind-cross", "ties-saliency", ""):
            if name and page.locator(f"#{name}").count():
                page.locator(f"label:has(#{name})").click()
            for details in page.locator("details:not([open]) summary:visible").all():
                details.click()
            assert latin_words(page, allowed) == set(), f"{view} {name}"
        if view == "map":
            page.locator("#map-0-0").click()
        for word in page.locator("#query-0, #key-0, #source-word-0, #target-word-0").all():
            if word.is_visible():
                word.click()
        for name in ("top-p", "temperature"):
            if page.locator(f"#{name}").count() and page.locator(f"#{name}").is_visible():
                page.locator(f"#{name}").fill("0.3" if name == "top-p" else "6")
        if page.locator("#positions-map, #map-large").first.is_visible():
            page.locator("#positions-map:visible, #map-large:visible").press("ArrowDown")
        assert latin_words(page, allowed) == set(), view


def sentence_words(trace: dict[str, Any]) -> list[str]:
    """The words a sentence is shown as, which are pieces joined."""
    source = trace["streams"][0]
    pieces, spans = [item["text"] for item in source["items"]], source["words"]
    return ["".join(pieces[a:b]).strip("▁") for a, b in spans]


def test_the_keyboard_reaches_everything(show: Show) -> None:
    page = show(made_trace())
    page.keyboard.press("Tab")
    assert page.locator(".skip").evaluate("e => e === document.activeElement")
    for name in ("language", "theme", "tab-heads", "heads-save-svg"):
        tab_to(page, name)
    tab_to(page, "heads-kind-encoder")
    page.keyboard.press("ArrowRight")
    assert page.locator("#heads-kind-decoder").is_checked()
    assert focused(page) == "heads-kind-decoder"
    tab_to(page, "heads-layer")
    page.keyboard.press("ArrowUp")
    assert "Layer 1" in page.locator("#view-heads .caption").inner_text()
    tab_to(page, "head-1")
    page.keyboard.press("Enter")
    assert page.locator("#head-1").get_attribute("aria-pressed") == "false"
    tab_to(page, "query-0")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "query-1"
    assert page.locator("#heads-readout").inner_text().startswith("“동물은” looks most")
    page.keyboard.press("Enter")
    assert page.locator("#query-1").get_attribute("aria-selected") == "true"
    assert focused(page) == "query-1"
    page.keyboard.press("ArrowRight")
    assert focused(page) == "key-1"
    tab_to(page, "heads-arithmetic")
    page.keyboard.press("Enter")
    assert focused(page) == "tab-steps"
    assert page.locator("#steps-query").input_value() == "1"


def test_arrows_change_the_view_and_what_is_in_it(show: Show) -> None:
    page = show(made_trace())
    page.locator("#tab-heads").focus()
    seen = []
    for _ in VIEWS:
        seen.append(page.locator("[role=tab][aria-selected=true]").get_attribute("data-view"))
        page.keyboard.press("ArrowRight")
    assert seen == list(VIEWS)
    assert focused(page) == "tab-heads"
    page.keyboard.press("ArrowRight")
    tab_to(page, "map-0-0")
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    assert focused(page) == "map-1-1"
    page.keyboard.press("Enter")
    assert focused(page) == "map-large"
    page.keyboard.press("ArrowRight")
    assert page.locator("#map-readout").inner_text().startswith("The → animal: ")
    page.locator("#tab-map").focus()
    page.keyboard.press("End")
    tab_to(page, "source-word-0")
    page.keyboard.press("End")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert focused(page) == "target-word-5"
    assert page.locator("#target-word-5").get_attribute("aria-selected") == "true"
    page.locator("#tab-decoding").click()
    tab_to(page, "step")
    page.keyboard.press("ArrowRight")
    assert page.locator("#decoding-output").inner_text() == "동물은 너무"


@pytest.mark.parametrize("locale", ["en-US", "ko-KR"])
def test_a_narrow_screen_needs_no_scrolling_sideways(show: Show, locale: str) -> None:
    page = show(made_trace(best=0.87), locale=locale, viewport={"width": 375, "height": 800})
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 375, view
        assert page.locator(f"#tab-{view}").evaluate(
            "e => { const b = e.getBoundingClientRect(); return b.left >= 0 && b.right <= 375; }"
        ), view


def test_dark_follows_the_system_until_somebody_chooses(show: Show) -> None:
    page = show(made_trace(), color_scheme="dark")
    assert paper(page) == PAPER["dark"]
    assert page.locator("#heads-svg").get_attribute("fill") == "#e9e7e2"
    page.emulate_media(color_scheme="light")
    expect(page.locator("html")).to_have_attribute("data-theme", "light", timeout=60_000)
    assert paper(page) == PAPER["light"]
    assert page.locator("#heads-svg").get_attribute("fill") == "#20252b"
    page.locator("#theme").click()
    assert paper(page) == PAPER["dark"]
    reload_until(page, lambda: paper(page) == PAPER["dark"])


def hostile() -> dict[str, Any]:
    trace = made_trace(best=0.87)
    for stream in trace["streams"]:
        stream["text"] = HOSTILE
        for item in stream["items"]:
            item["text"] = f"▁{HOSTILE}"
    (output,) = trace["outputs"]
    trace["model"]["name"] = HOSTILE
    trace["best_head"]["note"] = HOSTILE
    trace["chosen"] |= {"left_out": [HOSTILE] * 2, "left_out_kinds": [["unknown"]]}
    for one in output["steps"]:
        one["taken"] = HOSTILE
        for each in one["top"]:
            each["name"] = HOSTILE
    for each in [e for layer in output["lens"] for row in layer for e in row]:
        each["name"] = HOSTILE
    for each in [e for step in output["beam"]["steps"] for e in step]:
        each["piece"] = HOSTILE
    return trace


def test_what_people_wrote_stays_text(show: Show) -> None:
    page = show(hostile(), title=HOSTILE)
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        for summary in page.locator("details:not([open]) summary").all():
            if summary.is_visible():
                summary.click()
        assert page.evaluate("document.documentElement.scrollWidth") <= 1100, view
    assert page.title() == HOSTILE
    assert page.locator("img, script:not(#trace)").count() == 1  # our own script
    assert HOSTILE in page.locator("#sentence").inner_text()
    assert page.locator("#left-out li").all_inner_texts() == [HOSTILE] * 2


def test_two_hundred_pieces_stay_usable(show: Show) -> None:
    page = show(made_trace(values=False, repeat=14))
    assert page.locator("#heads-svg [id^=query-]").count() == 14 * 14 + 1
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        for kind in ("decoder", "cross"):
            if page.locator(f"#{view}-kind-{kind}").count():
                page.locator(f"label:has(#{view}-kind-{kind})").click()
        assert page.locator(f"#view-{view} svg *").count() < 20_000, view
        assert page.evaluate("document.documentElement.scrollWidth") <= 1100, view
    page.locator("#tab-map").click()
    page.locator("#map-1-1").click()
    assert page.locator("#map-large image").count() == 1
    assert page.locator("#map-large text").count() == 113 + 197


def test_a_trace_of_another_schema_is_refused_in_words(show: Show) -> None:
    page = show(made_trace() | {"schema": "heedful.trace/3"})
    assert "heedful.trace/3" in page.locator("#error").inner_text()
    assert page.locator("#inside").is_hidden()


@pytest.mark.parametrize("task", ["translation", "tagging"])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_serious(show: Show, scheme: str, task: str) -> None:
    if not AXE.exists():
        pytest.skip(f"no axe-core in {AXE.parent}; make peers installs it")
    page = show(FAMILY.get(task, lambda: made_trace(best=0.87))(), color_scheme=scheme)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for view in VIEWS if task == "translation" else ("decoding",):
        page.locator(f"#tab-{view}").click()
        if view == "map":
            assert serious(page, scheme) == [], view
            page.locator("#map-0-0").click()
        assert serious(page, scheme) == [], view


def serious(page: Page, scheme: str) -> list[str]:
    """Ask axe; what is dark differs from what is light in its colours alone."""
    rules = {"runOnly": ["color-contrast"]} if scheme == "dark" else {}
    found = page.evaluate("rules => axe.run(rules).then((result) => result.violations)", rules)
    return [
        f"{each['id']}: {[node['html'][:120] for node in each['nodes']][:3]}"
        for each in found
        if each["impact"] in ("serious", "critical")
    ]
