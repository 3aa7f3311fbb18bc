"""The page for every model of the family, and for traces of the version before."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_family import FAMILY
from made_trace import made_trace
from playwright.sync_api import Page

from heedful.tasks.translation.heads import Heads, keep
from heedful.tasks.translation.using import Translator
from model_case import make as make_folder
from page_case import latin_words

Show = Callable[..., Page]
VIEWS = ("heads", "map", "steps", "positions", "decoding", "alignment")
KEPT = Path(__file__).parent / "trace-1.json"
EMPTY = """() => [...document.querySelectorAll("main section.card, main .picture")]
  .filter((e) => e.checkVisibility())
  .filter((e) => !(e.innerText.trim() && e.querySelector("svg, td, li, span, p:not(.caption)"))
    || e.getBoundingClientRect().height < 20)
  .map((e) => e.outerHTML.slice(0, 200))"""


def offered(page: Page) -> list[str]:
    found = page.locator("[role=tab]:visible")
    return [str(view) for view in found.evaluate_all("all => all.map((e) => e.dataset.view)")]


@pytest.mark.parametrize("locale", ["en-US", "ko-KR"])
@pytest.mark.parametrize("task", FAMILY)
def test_a_model_of_one_stack_has_the_views_that_make_sense(
    show: Show, task: str, locale: str
) -> None:
    trace = FAMILY[task]()
    page = show(trace, locale=locale)
    output = trace["outputs"][0]
    assert offered(page) == list(VIEWS[:3] if output["kind"] == "forecast" else VIEWS[:5])
    items = [item.get("text", "") for item in trace["streams"][0]["items"]]
    allowed = {piece.strip("▁") for piece in items} | {"didn't", "tired", "exp", "cls"}
    allowed |= {"Heedful", "demo-en-ko", "d_model", "d_k", "English", "SVG", "PNG", "JSON", "B"}
    allowed |= {"what it is called", "cat", "dog", "boat", "animal", "place", "</s>"}
    for view in offered(page):
        page.locator(f"#tab-{view}").click()
        assert page.locator("[role=tabpanel]:visible").count() == 1
        assert page.evaluate(EMPTY) == [], view
        for details in page.locator("details:not([open]) summary:visible").all():
            details.click()
        if locale == "ko-KR":
            assert latin_words(page, allowed) == set(), view


@pytest.mark.parametrize("task", FAMILY)
def test_items_are_written_by_their_kind_and_unknown_ones_by_their_place(
    show: Show, task: str
) -> None:
    trace = FAMILY[task]()
    trace["streams"][0]["items"][1] = {"kind": "smell", "text": "burnt"}
    page = show(trace)
    names = page.locator("#heads-svg [id^=query-] text").all_text_contents()
    items = trace["streams"][0]["items"]
    assert len(names) == len(items)
    for place, (item, name) in enumerate(zip(items, names, strict=True)):
        known = item["text"].strip("▁") if item["kind"] == "piece" else str(place)
        assert name == known
    if trace["outputs"][0]["kind"] not in ("forecast", "next-piece"):
        page.locator("#tab-decoding").click()
        assert "burnt" not in page.locator("#decoding-output").inner_text()


def test_answers_stand_at_their_places(show: Show) -> None:
    page = show(FAMILY["masked-language-model"]())
    page.locator("#tab-decoding").click()
    assert page.locator("#view-decoding h2").inner_text() == "What the model says"
    read = page.locator("#decoding-output")
    assert read.inner_text() == "<s> The animal didn't cross the street because it was too tired."
    assert page.locator("#decoding-output mark").inner_text() == "animal"
    page.locator("#step-on").click()
    assert page.locator("#decoding-output mark").inner_text() == "the"
    assert page.locator("#mask-svg, #temperature, #beam-svg, #play").count() == 0
    assert page.locator("#decoding-bars li").count() == 11, "ten and all others"


def test_few_classes_leave_no_others(show: Show) -> None:
    trace = FAMILY["image-classification"]()
    page = show(trace)
    page.locator("#tab-decoding").click()
    assert page.locator("#step").count() == 0, "there is one answer"
    pieces = page.locator("#decoding-bars .piece").all_inner_texts()
    (step,) = trace["outputs"][0]["steps"]
    assert pieces == [each["name"] for each in step["top"]]
    assert sorted(pieces) == ["boat", "cat", "dog"]
    assert page.locator("#decoding-bars .taken .piece").all_inner_texts() == [step["taken"]]


def test_a_language_model_writes_under_its_mask(show: Show) -> None:
    trace = FAMILY["language-model"]()
    page = show(trace)
    page.locator("#tab-decoding").click()
    page.locator("#step-on").click()
    written = [step["taken"].strip("▁") for step in trace["outputs"][0]["steps"][:2]]
    assert page.locator("#decoding-output span > *").all_inner_texts() == written
    assert page.locator("#mask-svg").get_attribute("data-filled") == "2"
    assert page.locator("#temperature").count() == 1
    assert "no search" not in page.locator("#view-decoding").inner_text()


def test_the_keyboard_passes_over_views_that_are_not_offered(show: Show) -> None:
    page = show(FAMILY["forecasting"]())
    page.locator("#tab-heads").focus()
    page.keyboard.press("End")
    assert page.evaluate("document.activeElement.id") == "tab-steps"
    page.keyboard.press("ArrowRight")
    assert page.evaluate("document.activeElement.id") == "tab-heads"


def test_several_encodings_of_positions_are_chosen_from(show: Show) -> None:
    trace = made_trace()
    (both,) = trace["positions"]
    trace["positions"] = [both | {"streams": ["source"]}]
    trace["positions"] += [{"streams": ["target"], "kind": "learned", "rows": both["rows"][:9]}]
    page = show(trace)
    page.locator("#tab-positions").click()
    assert page.locator("#positions-map rect").count() == 50 * 8 + 1
    page.locator("label:has(#positions-of-1)").click()
    assert page.locator("#positions-map rect").count() == 9 * 8 + 1
    assert "learned its positions" in page.locator("#view-positions").inner_text()


def keys(value: Any) -> Any:
    """The names in a trace, however many of each there are."""
    if isinstance(value, dict):
        return {name: keys(each) for name, each in value.items()}
    if isinstance(value, list):
        return [keys(value[0])] if value else []
    return None


def test_a_real_trace_has_the_fields_of_the_made_one(show: Show, tmp_path: Path) -> None:
    folder = make_folder(tmp_path / "model", d_model=8, n_heads=2, encoder_layers=2)
    keep(Heads([[0.1, 0.7], [0.2, 0.3]], 4, 0.25, 60), folder.path)
    translator = Translator.load(folder.path, engine="torch", workers=1)
    trace = translator.trace("The dog sees it.")
    made = made_trace(best=0.87)
    assert keys(json.loads(json.dumps(trace))) == keys(made)
    given = translator.trace("The dog sees it.", "개가 봅니다.", values=False)
    assert keys(given["attentions"]) == keys(made_trace(values=False)["attentions"])
    for each in (trace, given):
        page = show(each)
        for view in VIEWS:
            page.locator(f"#tab-{view}").click()
            assert page.evaluate(EMPTY) == [], view


def test_a_trace_of_version_1_becomes_one_of_version_2(show: Show) -> None:
    old = json.loads(KEPT.read_text(encoding="utf-8"))
    assert old["schema"] == "heedful.trace/1"
    page = show(old)
    with page.expect_download() as waiting:
        page.locator("#save-trace").click()
    new = json.loads(waiting.value.path().read_text(encoding="utf-8"))
    made = made_trace(best=0.87)
    made["outputs"][0]["words"] = new["outputs"][0]["words"]
    made["attentions"][0]["keep"] = None
    assert keys(new) == keys(made)
    source, target = new["streams"]
    assert [item["text"] for item in source["items"]] == old["source"]["pieces"]
    assert [item["text"] for item in target["items"]] == old["target"]["pieces"]
    assert [step["taken"] for step in new["outputs"][0]["steps"]] == old["target"]["next"]
    assert [one["heads"] for one in new["attentions"]] == [
        one["heads"] for one in old["attentions"]
    ]
    assert new["best_head"]["item"] == old["best_head"]["word"]


def test_every_view_of_a_trace_of_version_1_is_there(show: Show) -> None:
    old = json.loads(KEPT.read_text(encoding="utf-8"))
    page = show(old)
    assert page.locator("#sentence p").all_inner_texts() == ["Look, it sees.", "→", "bbbbbb"]
    assert page.locator("#facts").inner_text().startswith("tiny-en-ko")
    assert "English → Korean" in page.locator("#facts").inner_text()
    assert "in 70% of 60 held-out" in page.locator("#best-head").inner_text()
    assert page.locator("#query-6").get_attribute("aria-selected") == "true"
    assert offered(page) == list(VIEWS)
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        assert page.evaluate(EMPTY) == [], view
    page.locator("#tab-decoding").click()
    assert page.locator("#beam-svg [data-won]").count() == len(old["beam"]["best"])
    page.locator("#tab-alignment").click()
    shares = page.locator("#view-alignment [data-share]")
    assert shares.evaluate_all("all => all.map((e) => Number(e.dataset.share))") == [
        word["confidence"] for word in old["alignment"]["words"]
    ]
    page.locator("label:has(#ties-saliency)").click()
    assert page.locator("#alignment-svg path").count() > 0


def test_what_version_1_left_out_of_both_sides_is_said_of_each(show: Show) -> None:
    old = json.loads(KEPT.read_text(encoding="utf-8"))
    old["chosen"] |= {"left_out": ["of 230 source and 7 target pieces", "more"]}
    old["chosen"] |= {"left_out_kinds": [["pieces", 230, 7, 200, 7], ["parts", 3]]}
    page = show(old)
    assert page.locator("#left-out li").all_inner_texts() == [
        "Source: of 230 items the first 200 are shown",
        "the text has 3 parts that are translated by themselves; the first is shown",
    ]


@pytest.mark.parametrize("task", FAMILY)
def test_the_least_that_a_trace_may_be_is_shown(show: Show, task: str) -> None:
    trace = FAMILY[task]() | {"positions": [], "embeddings": {}, "sublayers": []}
    trace["chosen"]["values"] = False
    for attention in trace["attentions"]:
        attention["heads"] = [
            {name: head[name] for name in ("head", "weights")} for head in attention["heads"]
        ]
    for output in trace["outputs"]:
        output.pop("lens", None)
    page = show(trace)
    assert "positions" not in offered(page)
    for view in offered(page):
        page.locator(f"#tab-{view}").click()
        assert page.evaluate(EMPTY) == [], view
    page.locator("#tab-steps").click()
    assert "not the vectors" in page.locator("#view-steps .note").inner_text()
