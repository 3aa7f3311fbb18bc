"""The six views of a trace in a real browser: what they show is what the trace says."""

from __future__ import annotations

import json
import math
import re
import xml.etree.ElementTree as ET
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from made_trace import SOURCE, TARGET, made_trace
from playwright.sync_api import Page

from heedful.explain.writer import LEFT_OUT
from heedful.nn.positions import sinusoid

Show = Callable[..., Page]
VIEWS = ("heads", "map", "steps", "positions", "decoding", "alignment")
CLOSE = 2e-3  # the trace is rounded to four places; sums of eight such products


def values(page: Page, step: str) -> list[float]:
    """The numbers of one step of the arithmetic, in the order of the page."""
    found = page.locator(f"#view-steps [data-step={step}]")
    return [float(v) for v in found.evaluate_all("all => all.map((e) => e.dataset.value)")]


def pick(page: Page, name: str) -> None:
    """Choose a radio button the way a mouse does."""
    page.locator(f"label:has(#{name})").click()


def test_the_page_opens_on_the_best_head_with_its_word_pinned(show: Show) -> None:
    page = show(made_trace(best=0.87))
    assert page.locator("#heads-kind-encoder").is_checked()
    assert page.locator("#heads-layer").input_value() == "1"
    assert page.locator(".toggle[aria-pressed=true]").all_inner_texts() == ["2"]
    it = SOURCE.index("▁it")
    assert page.locator(f"#query-{it}").get_attribute("aria-selected") == "true"
    assert page.locator("#heads-readout").inner_text().startswith("“it” looks most at ")
    assert page.locator("#best-head").inner_text() == (
        "Layer 2, head 2 finds what “it” stands for in 87% of 500 held-out sentences. Its "
        "baseline, pointing always 4 words back, is right in 51%."
    )
    page.locator("#head-0").click()
    page.locator("#head-1").click()
    assert page.locator("#best-head").count() == 0


@pytest.mark.parametrize("accuracy", [0.04, 0.51])
def test_a_head_no_better_than_its_baseline_opens_nothing_and_is_not_said_to_find_anything(
    show: Show, accuracy: float
) -> None:
    page = show(made_trace(best=accuracy))
    assert page.locator(".toggle[aria-pressed=true]").all_inner_texts() == ["1", "2"]
    assert page.locator("#heads-svg [aria-selected=true]").count() == 0
    assert page.locator("#best-head").inner_text() == (
        "No head of this model finds what “it” stands for better than the baseline: pointing "
        "always 4 words back is right in 51% of 500 held-out sentences, the most accurate head "
        f"(layer 2, head 2) in {100 * accuracy:.0f}%."
    )
    page.locator("#language").click()
    assert "비교 기준보다 잘 찾는 헤드가 없습니다" in page.locator("#best-head").inner_text()
    pick(page, "heads-kind-cross")
    assert page.locator("#best-head").count() == 0


def test_every_view_says_what_one_sees(show: Show) -> None:
    page = show(made_trace())
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
        assert page.locator(f"#view-{view}").is_visible()
        assert page.locator("[role=tabpanel]:visible").count() == 1
        assert len(page.locator(f"#view-{view} .lead").first.inner_text()) > 80
        assert page.locator(f"#view-{view} svg, #view-{view} .strip").count() > 0
    assert "2 + 2 layers" in page.locator("#facts").inner_text()
    assert (
        page.locator("#sentence p").last.inner_text() == "동물은 너무 피곤해서 길을 건너지 않았다."
    )


def test_pointing_at_a_word_shows_its_lines_alone_and_a_click_keeps_them(show: Show) -> None:
    trace = made_trace()
    page = show(trace)
    lines = page.locator("#heads-svg path")
    everything = lines.count()
    page.locator("#query-3").hover()
    heads = trace["attentions"][1]["heads"]
    wanted = sum(w > 0.002 for h in heads for w in h["weights"][3])
    assert lines.count() == wanted < everything
    page.locator("h1").hover()
    assert lines.count() == everything
    page.locator("#query-3").click()
    page.locator("h1").hover()
    assert lines.count() == wanted
    page.locator("#heads-table").click()
    row = page.locator("#view-heads details tbody tr").nth(4).locator("td").all_inner_texts()
    assert row == [f"{h['weights'][3][4]:.4f}" for h in heads]
    page.locator("#key-2").hover()
    assert "is looked at most by" in page.locator("#heads-readout").inner_text()
    page.locator("#heads-unpin").click()
    assert lines.count() == everything


def test_heads_of_all_three_attentions_and_of_every_layer_can_be_chosen(show: Show) -> None:
    page = show(made_trace())
    sizes = {"encoder": (15, 15), "decoder": (9, 9), "cross": (9, 15)}
    for kind, (queries, keys) in sizes.items():
        pick(page, f"heads-kind-{kind}")
        assert page.locator("#heads-svg [id^=query-]").count() == queries
        assert page.locator("#heads-svg [id^=key-]").count() == keys
        page.locator("#heads-layer").select_option("0")
        assert "Layer 1" in page.locator("#view-heads .caption").inner_text()
    page.locator("#heads-all").click()
    assert page.locator(".toggle[aria-pressed=true]").count() == 1
    assert page.locator("#heads-svg path[stroke='#0072b2']").count() > 0
    assert page.locator("#heads-svg path[stroke='#d55e00']").count() == 0


def test_the_map_shows_every_head_and_one_enlarged_with_its_values(show: Show) -> None:
    trace = made_trace()
    page = show(trace)
    page.locator("#tab-map").click()
    pick(page, "map-kind-cross")
    small = page.locator("#map-svg [role=button]")
    assert small.count() == 4
    box = small.first.locator("image").bounding_box()
    assert box is not None
    assert box["width"] / box["height"] == pytest.approx(15 / 9, rel=0.01)
    page.locator("#map-1-0").click()
    assert page.locator("#map-large rect").count() == 9 * 15 + 1
    weights = next(a for a in trace["attentions"] if a["kind"] == "cross" and a["layer"] == 1)
    weights = weights["heads"][0]["weights"]
    page.locator("#map-large").press("ArrowDown")
    page.locator("#map-large").press("ArrowRight")
    wanted = f"동물은 → animal: {weights[1][1]:.4f}"
    assert page.locator("#map-readout").inner_text() == wanted
    page.locator("#map-large rect").nth(2 * 15 + 4).hover()
    wanted = f"너무 → cross: {weights[2][4]:.4f}"
    assert page.locator("#map-readout").inner_text() == wanted
    page.locator("#map-table").click()
    assert page.locator("#view-map details tbody tr").count() == 9
    page.locator("#map-back").click()
    assert page.evaluate("document.activeElement.id") == "map-1-0"


@pytest.mark.parametrize(
    ("norm", "attention", "kind", "query"),
    [
        ("post", "scaled", "encoder", 8),
        ("pre", "dot", "decoder", 3),
        ("post", "additive", "cross", 5),
        ("pre", "scaled", "cross", 0),
    ],
)
def test_step_by_step_agrees_with_a_pass_written_out_by_hand(
    show: Show, norm: str, attention: str, kind: str, query: int
) -> None:
    trace = made_trace(norm=norm, attention=attention)
    page = show(trace)
    page.locator("#tab-steps").click()
    pick(page, f"steps-kind-{kind}")
    page.locator("#steps-layer").select_option("1")
    page.locator("#steps-head").select_option("1")
    page.locator("#steps-query").select_option(str(query))
    page.locator("#steps-wide").click()

    one = next(a for a in trace["attentions"] if (a["kind"], a["layer"]) == (kind, 1))
    head = one["heads"][1]
    dots = [sum(a * b for a, b in zip(head["q"][query], k, strict=True)) for k in head["k"]]
    if attention == "additive":
        scores = head["scores"][query]
        assert values(page, "dot") == []
        assert "additive" in page.locator("#view-steps .stage").first.inner_text()
    else:
        scores = [dot / math.sqrt(4) if attention == "scaled" else dot for dot in dots]
        assert values(page, "dot") == pytest.approx(dots, abs=1e-9)
    assert values(page, "scaled") == pytest.approx(scores, abs=1e-9)
    assert values(page, "scaled") == pytest.approx(head["scores"][query], abs=CLOSE)
    keep = one["keep"][query] if one["keep"] else [True] * len(scores)
    masked = [s if seen else -math.inf for s, seen in zip(scores, keep, strict=True)]
    assert values(page, "masked") == pytest.approx(masked, abs=1e-9)
    assert page.locator("#view-steps s").count() == 3 * keep.count(False)
    exps = [math.exp(s - max(masked)) for s in masked]
    weights = [e / sum(exps) for e in exps]
    assert values(page, "exp") == pytest.approx(exps, abs=1e-9)
    assert values(page, "weight") == pytest.approx(weights, abs=1e-9)
    assert values(page, "weight") == pytest.approx(head["weights"][query], abs=CLOSE)
    output = [sum(w * v[i] for w, v in zip(weights, head["v"], strict=True)) for i in range(3)]
    assert values(page, "output") == pytest.approx(output, abs=1e-9)
    assert values(page, "output") == pytest.approx(head["output"][query], abs=CLOSE)
    assert values(page, "concatenated")[3:] == values(page, "output")
    assert values(page, "concatenated") == pytest.approx(one["concatenated"][query], abs=CLOSE)
    assert values(page, "projected") == one["projected"][query]
    pairs = zip(one["residual_in"][query], one["projected"][query], strict=True)
    total = [a + b for a, b in pairs]
    assert values(page, "residual") == pytest.approx(total, abs=1e-9)
    assert values(page, "residual") == pytest.approx(one["residual_out"][query], abs=CLOSE)
    mean = sum(total) / 8
    variance = sum((x - mean) ** 2 for x in total) / 8
    assert values(page, "mean") == pytest.approx([mean], abs=1e-9)
    assert values(page, "variance") == pytest.approx([variance], abs=1e-9)
    learned = one["norm"]
    normed = [
        (x - mean) / math.sqrt(variance + learned["epsilon"]) * w + b
        for x, w, b in zip(total, learned["weight"], learned["bias"], strict=True)
    ]
    assert values(page, "normed") == pytest.approx(normed, abs=1e-9)
    assert values(page, "normed") == pytest.approx(one["normed"][query], abs=CLOSE)
    assert page.locator("#norm-first").count() == (norm == "pre")
    assert f"This model is {norm}-norm" in page.locator(".stage").nth(3).inner_text()


def test_long_vectors_begin_and_can_be_shown_whole(show: Show) -> None:
    page = show(made_trace(), viewport={"width": 500, "height": 800})
    page.locator("#tab-steps").click()
    assert len(values(page, "normed")) == 3
    assert page.locator("#more-normed").inner_text() == "… +5"
    page.locator("#more-normed").click()
    assert len(values(page, "normed")) == 8
    page.locator("#steps-wide").click()
    assert len(values(page, "normed")) == 3


def test_a_trace_without_vectors_says_so_and_shows_the_rest(show: Show) -> None:
    page = show(made_trace(values=False))
    assert page.locator("#left-out li").all_inner_texts() == [LEFT_OUT["vectors"]]
    page.locator("#tab-steps").click()
    assert "not the vectors" in page.locator("#view-steps .note").inner_text()
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()


def test_a_sentence_without_words_is_shown_without_an_error(show: Show) -> None:
    page = show(made_trace(repeat=0))
    for view in VIEWS:
        page.locator(f"#tab-{view}").click()
    assert "no words to tie" in page.locator("#view-alignment .picture").inner_text()


def test_positions_are_a_picture_and_their_likeness_a_line(show: Show, tmp_path: Path) -> None:
    trace = made_trace()
    page = show(trace)
    page.locator("#tab-positions").click()
    assert page.locator("#positions-map rect").count() == 50 * 8 + 1, "the sentence has 15"
    page.locator("#positions-map").press("ArrowDown")
    wanted = f"position 1, dimension 0: {trace['positions'][0]['rows'][1][0]:.4f}"
    assert page.locator("#positions-readout").inner_text() == wanted
    rows = trace["positions"][0]["rows"]
    data = saved(page, "positions", "json", tmp_path)
    far = json.loads(data)["distances"]
    assert len(far) == 50
    # The dot product of two sinusoids depends on nothing but their distance.
    for distance, row in enumerate(far):
        exact = sum(math.cos(distance / 10_000 ** (2 * i / 8)) for i in range(4))
        assert row["mean"] == pytest.approx(exact, abs=CLOSE)
        assert row["most"] - row["least"] < CLOSE
    assert far[0]["mean"] == pytest.approx(sum(x * x for x in rows[0]), abs=CLOSE)


@pytest.mark.parametrize("kind", ["interleaved", "concatenated", "learned"])
def test_further_positions_are_drawn_on_request(show: Show, tmp_path: Path, kind: str) -> None:
    trace = made_trace()
    trace["positions"][0]["kind"] = kind
    page = show(trace)
    page.locator("#tab-positions").click()
    if kind == "learned":
        assert page.locator("#positions-count").count() == 0
        return
    page.locator("#positions-count").select_option("100")
    page.locator("#positions-map").press("ArrowDown")
    rows = json.loads(saved(page, "positions", "json", tmp_path))["positions"]
    exact = sinusoid(100, 8, kind == "concatenated").tolist()
    assert rows[:50] == trace["positions"][0]["rows"]
    assert len(rows) == 100
    for row, wanted in zip(rows[50:], exact[50:], strict=True):
        assert row == pytest.approx(wanted, abs=1e-6)
    assert page.locator("#positions-count").input_value() == "100"


def test_alignment_ties_words_to_what_they_looked_at_with_its_share(show: Show) -> None:
    trace = made_trace()
    page = show(trace)
    page.locator("#tab-alignment").click()
    words = trace["alignment"]["words"]
    shown = page.locator("#view-alignment [data-share]")
    found = shown.evaluate_all("all => all.map((e) => Number(e.dataset.share))")
    assert found == [word["confidence"] for word in words]
    ties = page.locator("#alignment-svg path")
    matrix = trace["alignment"]["matrix"]
    assert ties.count() == sum(weight >= 0.05 for row in matrix for weight in row)
    page.locator("#target-word-2").hover()
    assert ties.count() == sum(weight >= 0.05 for weight in matrix[2])
    assert page.locator("#alignment-readout").inner_text().startswith("“피곤해서” looked most at ")
    heads = page.locator("#view-alignment th[scope=col]").all_inner_texts()
    assert heads == ["Translation", "Looked most at", "Share"]
    pick(page, "ties-saliency")
    page.locator("#target-word-2").hover()
    assert page.locator("#alignment-readout").inner_text().startswith("“피곤해서” was moved most")
    salient = trace["outputs"][0]["saliency"]["source"]
    # "피곤해서" is two pieces, "didn't" as well.
    exact = sum(salient[t][s] for t in (2, 3) for s in (2, 3)) / 2
    widths = ties.evaluate_all("all => all.map((e) => Number(e.dataset.weight))")
    assert exact < 0.05 or any(math.isclose(exact, width, abs_tol=1e-9) for width in widths)


def saved(page: Page, view: str, kind: str, folder: Path) -> bytes:
    """Press a save button and give what came down."""
    page.locator(f"#tab-{view}").click()
    with page.expect_download() as waiting:
        page.locator(f"#{view}-save-{kind}").click()
    download = waiting.value
    assert download.suggested_filename == f"heedful-{view}.{kind}"
    path = folder / download.suggested_filename
    download.save_as(path)
    return path.read_bytes()


def test_every_view_is_saved_as_a_picture_that_needs_nothing_else(
    show: Show, tmp_path: Path
) -> None:
    trace = made_trace()
    trace["streams"][0]["items"][1]["text"] = "▁ani\x0bmal<&>"
    page = show(trace)
    for view in VIEWS:
        text = saved(page, view, "svg", tmp_path).decode()
        root = ET.fromstring(text)
        assert root.tag == "{http://www.w3.org/2000/svg}svg"
        words = " ".join(t.text or "" for t in root.iter("{http://www.w3.org/2000/svg}text"))
        expected = {"map": "Layer 2", "decoding": TARGET[0].strip("▁")}.get(view, "street")
        assert expected in words, view
        assert "Noto Sans KR" in text
        assert not re.search(r'var\(|class=|<style|style="|href="(?!data:image/png)', text)
        assert float(root.attrib["width"]) > 300
    assert saved(page, "heads", "png", tmp_path).startswith(b"\x89PNG")
    assert saved(page, "map", "png", tmp_path).startswith(b"\x89PNG")


def test_every_view_is_saved_as_numbers_and_the_whole_trace_too(show: Show, tmp_path: Path) -> None:
    trace: dict[str, Any] = made_trace()
    page = show(trace)
    for view in VIEWS:
        data = json.loads(saved(page, view, "json", tmp_path))
        assert data["view"] == view
        assert data["model"] == "demo-en-ko"
    with page.expect_download() as waiting:
        page.locator("#save-trace").click()
    assert json.loads(waiting.value.path().read_text(encoding="utf-8")) == trace
