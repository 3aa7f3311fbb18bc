"""The decoding view: the output grows, and the chances are those that the sampler would draw by."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
from made_trace import made_trace
from playwright.sync_api import Page

Show = Callable[..., Page]


def watch(show: Show, trace: dict[str, Any]) -> Page:
    page = show(trace)
    page.locator("#tab-decoding").click()
    return page


def shares(page: Page) -> list[float]:
    """The chances of the ten pieces, and last that of all others."""
    found = page.locator("#decoding-bars li")
    return [float(s) for s in found.evaluate_all("all => all.map((e) => e.dataset.share)")]


def move(page: Page, name: str, value: str) -> None:
    page.locator(f"#{name}").fill(value)


def expected(step: dict[str, Any], temperature: str, top_k: int, top_p: float) -> list[float]:
    """The same chances from the whole vocabulary, as `decoding.sampling.filtered` draws them."""
    heat = float(temperature)
    exps = [math.exp(each["logit"] / heat) for each in step["top"]]
    exps.append(math.exp(step["rest"][temperature]))
    if top_k:
        exps = [e if i < top_k else 0.0 for i, e in enumerate(exps)]
    found = [e / sum(exps) for e in exps]
    if top_p < 1:
        kept = [p if sum(found[:i]) < top_p else 0.0 for i, p in enumerate(found)]
        if kept[-1] == 0:
            found = [p / sum(kept) for p in kept]
    return found


def test_playing_writes_piece_by_piece_and_fills_the_mask(show: Show) -> None:
    trace = made_trace()
    page = show(trace)
    page.clock.install()
    page.reload()
    page.clock.pause_at("2100-01-01")  # from here on time passes only when it is told to
    page.locator("#tab-decoding").click()
    written, mask = page.locator("#decoding-output"), page.locator("#mask-svg")
    assert written.inner_text() == "동물은"
    assert mask.get_attribute("data-filled") == "1"
    page.locator("#play").click()
    assert page.locator("#play").inner_text() == "Pause"
    page.clock.run_for(2000)
    assert written.inner_text() == "동물은 너무 피곤"
    page.locator("#play").click()
    page.clock.run_for(5000)
    assert written.inner_text() == "동물은 너무 피곤"
    page.locator("#step-on").click()
    assert written.inner_text() == "동물은 너무 피곤해서"
    assert written.locator("mark").inner_text() == "해서"
    page.locator("#step-back").click()
    page.locator("#play").click()
    page.clock.run_for(20_000)
    assert written.inner_text() == "동물은 너무 피곤해서 길을 건너지 않았다. </s>"
    assert mask.get_attribute("data-filled") == "9"
    assert page.locator("#play").inner_text() == "Play"
    page.locator("#play").click()
    page.locator("#tab-heads").click()
    page.clock.run_for(5000)
    page.locator("#tab-decoding").click()
    assert page.locator("#step").input_value() == "0"


def test_the_chances_follow_temperature_top_k_and_top_p_exactly(show: Show) -> None:
    trace = made_trace()
    page = watch(show, trace)
    grid = sorted(trace["outputs"][0]["steps"][0]["rest"], key=float)
    assert page.locator("#temperature").get_attribute("max") == str(len(grid) - 1)
    for step in (0, 4):
        move(page, "step", str(step))
        for heat in range(len(grid)):
            move(page, "temperature", str(heat))
            wanted = expected(trace["outputs"][0]["steps"][step], grid[heat], 0, 1)
            assert shares(page) == pytest.approx(wanted, abs=1e-9)
            assert sum(shares(page)) == pytest.approx(1)
        for top_k, top_p in ((3, 1.0), (11, 0.5), (5, 0.8), (1, 1.0), (11, 0.95)):
            move(page, "top-k", str(top_k))
            move(page, "top-p", str(top_p))
            wanted = expected(
                trace["outputs"][0]["steps"][step], grid[-1], top_k if top_k < 11 else 0, top_p
            )
            assert shares(page) == pytest.approx(wanted, abs=1e-9), (top_k, top_p)
        move(page, "top-k", "11")
        move(page, "top-p", "1")


def test_a_top_p_beyond_the_ten_is_said(show: Show) -> None:
    trace = made_trace()
    step = trace["outputs"][0]["steps"][0]
    step["rest"]["1"] = max(each["logit"] for each in step["top"]) + 3
    page = watch(show, trace)
    assert "beyond them" not in page.locator("#decoding-told").inner_text()
    move(page, "top-p", "0.9")
    assert "beyond them" in page.locator("#decoding-told").inner_text()
    assert shares(page) == pytest.approx(expected(step, "1", 0, 1), abs=1e-9)


def test_the_piece_that_was_taken_is_marked_and_its_chance_told(show: Show) -> None:
    trace = made_trace()
    page = watch(show, trace)
    for step, one in enumerate(trace["outputs"][0]["steps"]):
        move(page, "step", str(step))
        told = page.locator("#decoding-told").inner_text()
        assert f"{100 * math.exp(one['logp']):.1f}%" in told
        shown = page.locator("#decoding-bars .taken .piece").all_inner_texts()
        assert shown == [one["taken"].strip("▁")]


def test_the_lens_and_the_beam_are_those_of_the_trace(show: Show) -> None:
    trace = made_trace()
    page = watch(show, trace)
    move(page, "step", "6")
    rows = page.locator("#view-decoding .stack table tbody tr")
    for layer, row in enumerate(trace["outputs"][0]["lens"]):
        cells = rows.nth(layer).locator("td").all_inner_texts()
        assert cells == [f"{e['name'].strip('▁')} {100 * e['p']:.1f}%" for e in row[6]]
    branches = [b for step in trace["outputs"][0]["beam"]["steps"] for b in step]
    for fate in ("kept", "ended", "dropped"):
        found = page.locator(f"#beam-svg [data-fate={fate}]").count()
        assert found == sum(b["fate"] == fate for b in branches) > 0
    assert page.locator("#beam-svg [data-won]").count() == 9
    page.locator("#beam-table").click()
    assert page.locator("#view-decoding details tbody tr").count() == len(branches)


def test_a_given_translation_has_no_beam(show: Show) -> None:
    page = watch(show, made_trace(given=True))
    assert "no search" in page.locator("#view-decoding .picture > .card").last.inner_text()
