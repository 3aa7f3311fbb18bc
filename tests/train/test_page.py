"""The page of a run: right, safe, and drawn without an error in a real browser."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page

from heedful.data.findings import KINDS, KOREAN
from heedful.train.page import POINTS, write_page
from page_case import latin_words, reload_until

HOSTILE = '</script><script>document.title = "caught"</script><img src=x onerror=alert(1)>'


def records(steps: int) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for step in range(1, steps + 1):
        figures = {"loss": 9 / step, "perplexity": 1 + 9 / step, "gradient_norm": 1.0}
        found.append(
            {"kind": "step", "step": step, "lr": 1e-3, "tokens_per_second": 2000.0, "at": 1.0}
            | figures
        )
    for number, got in enumerate(["개가 개가", "개가 달린다", HOSTILE]):
        sample = {"given": f"A dog runs. {HOSTILE}", "wanted": "개가 달린다.", "got": got}
        figures = {"BLEU": 10.0 + number, "perplexity": 5.0}
        evaluation = {
            "figures": figures,
            "samples": [sample],
            "best": True,
            "loss": 1.6,
            "score": 10.0,
        }
        found.append({"kind": "look", "step": number + 1, "at": 1.0, **evaluation})
    found.append(
        {"kind": "rollback", "step": 1, "from": 2, "found": "loss nan", "lr_scale": 0.5, "at": 1.0}
    )
    found.append({"kind": "spike", "step": 3, "loss": 9.0, "usual": 2.0, "at": 1.0})
    for text in (
        "train.lr: 0.1 before, 0.2 now",
        "train.minutes: 3.0 before, no limit now",
        "/corpus/a.en is gone; what was prepared from it is still there",
        f"train.lr: {HOSTILE}",
    ):
        found.append({"kind": "note", "step": 3, "text": text})
    return found


NAMES = {"Heedful", "BLEU", "English", "train.lr", "train.minutes", "/corpus/a.en"}
NAMES |= {"model", *HOSTILE.split()}
"""What stays as it is in every language, and the button that leads to English."""


def write(folder: Path, steps: int = 12, why: str = "finished") -> Path:
    log = folder / "log.jsonl"
    log.write_text("".join(json.dumps(r) + "\n" for r in records(steps)), encoding="utf-8")
    state = {"why": why, "step": steps, "best": 12.0, "spent": 3700.0, "count": 123456}
    settings = {"source": "en", "target": "ko"} | {
        part: {"of": 8} for part in ("model", "tokenizer", "data", "train", "decode")
    }
    problems = [
        {"kind": kind, "count": 3, "lines": ["/corpus/a.en:1", "/corpus/a.en:2"]} for kind in KINDS
    ]
    findings = {"pairs": 100, "kept": 97, "problems": problems}
    write_page(
        folder / "report.html", log, f"model {HOSTILE}", state, settings, findings, 7_000_000
    )
    return folder / "report.html"


@pytest.fixture
def page(browser: Browser, tmp_path: Path) -> Iterator[Page]:
    context = browser.new_context(locale="en-US", viewport={"width": 1100, "height": 800})
    opened, wrong = context.new_page(), []
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("request", lambda request: wrong.append(request.url) if "http" in request.url else 0)
    opened.goto(write(tmp_path).as_uri())
    yield opened
    assert wrong == []
    context.close()


def test_everything_is_drawn(page: Page) -> None:
    assert page.locator("#charts svg").count() == 6
    assert page.locator("#figures .card").count() == 6
    assert "1 h 01 min" in page.locator("#figures").inner_text()
    assert page.locator("#notes .note").all_inner_texts()[:3] == [
        "step 2: loss nan; back to step 1, half the rate",
        "step 3: loss 9.00 where 2.00 is usual",
        "step 3: train.lr: 0.1 before, 0.2 now",
    ]
    rows = page.locator("#data tr").all_inner_texts()
    assert rows[1] == f"{KINDS['unequal-lines'][0]}\t3\t/corpus/a.en:1, 2"
    assert rows[2] == f"{KINDS['nothing-left'][0]}\t3\ta.en:1, 2", "its folder was named"
    assert "97 / 100" in page.locator("#data").inner_text()
    chart = page.locator("#charts .card").nth(1)
    chart.locator("svg").hover()
    assert chart.locator("output").inner_text().startswith("step ")


def test_a_page_says_what_is_predicted_and_draws_what_is_known(
    browser: Browser, tmp_path: Path
) -> None:
    """A task of windows has no perplexity and no languages."""
    lines = []
    for record in records(9):
        if record["kind"] == "step":
            record["windows_per_second"] = record.pop("tokens_per_second")
            del record["perplexity"]
        elif record["kind"] == "look":
            record["figures"] = {"MASE": 0.9}
        lines.append(json.dumps(record) + "\n")
    log = tmp_path / "log.jsonl"
    log.write_text("".join(lines), encoding="utf-8")
    state = {"why": "", "step": 9, "best": 0.9, "spent": 70.0, "count": 4321}
    write_page(tmp_path / "a.html", log, "m", state, {"task": "forecasting"}, None, 7)
    context = browser.new_context(locale="en-US")
    page, wrong = context.new_page(), []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.goto((tmp_path / "a.html").as_uri())
    titles = page.locator("#charts h3").all_inner_texts()
    found = [title.split("\n")[0] for title in titles]
    assert [title.rstrip("0123456789.") for title in found] == [
        *("MASE", "Loss", "Learning rate", "Speed: windows a second", "Gradient norm")
    ]
    assert page.locator("#subtitle").inner_text() == "forecasting"
    assert "4,321\nwindows" in page.locator("#figures").inner_text()
    page.locator("#language").click()
    assert "속도: 초당 예측한 구간" in page.locator("#charts").inner_text()
    assert page.locator("#texts p span[lang]").count() == 0
    assert wrong == []
    context.close()


def test_samples_change_with_the_slider_and_new_words_are_marked(page: Page) -> None:
    assert page.locator("#evaluation").input_value() == "2"
    page.locator("#evaluation").focus()
    page.keyboard.press("ArrowLeft")
    assert page.locator("#texts mark").all_inner_texts() == ["달린다"]
    page.keyboard.press("ArrowLeft")
    assert page.locator("#texts mark").count() == 0


def test_what_people_wrote_stays_text(page: Page) -> None:
    assert page.title() == f"model {HOSTILE} · Heedful"
    assert HOSTILE in page.locator("#texts").inner_text()
    assert page.locator("img").count() == 0


def test_korean_readers_are_at_home(page: Page) -> None:
    page.locator("#language").click()
    assert page.locator("html").get_attribute("lang") == "ko"
    assert "학습 곡선" in page.locator("h2").all_inner_texts()
    reload_until(page, lambda: page.locator("html").get_attribute("lang") == "ko")


def test_every_word_of_the_korean_report_is_korean(page: Page) -> None:
    """The model's name, what people wrote and what stands in a file so are theirs."""
    page.locator("#language").click()
    for details in page.locator("details summary").all():
        details.click()
    page.locator("#charts svg").first.hover()
    assert latin_words(page, NAMES) == set()
    assert page.locator("#notes .note").all_inner_texts()[:4] == [
        "2단계: 손실: 숫자가 아님; 1단계로 돌아가 학습률을 반으로 줄임",
        "3단계: 손실 9.00, 평소에는 2.00",
        "3단계: train.lr: 전에는 0.1, 지금은 0.2",
        "3단계: train.minutes: 전에는 3.0, 지금은 제한 없음",
    ]
    assert page.locator("#data tr").nth(1).inner_text().startswith(KOREAN["unequal-lines"])


@pytest.mark.parametrize("why", ["", "interrupted", "no better for a while"])
def test_how_a_training_stands_is_said_in_korean(
    browser: Browser, tmp_path: Path, why: str
) -> None:
    context = browser.new_context(locale="ko-KR")
    page = context.new_page()
    page.goto(write(tmp_path, 20_000 if why else 0, why).as_uri())
    assert latin_words(page, NAMES) == set()
    context.close()


def test_a_narrow_screen_needs_no_scrolling_sideways(page: Page) -> None:
    page.set_viewport_size({"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390


def test_a_long_log_is_thinned(tmp_path: Path) -> None:
    text = write(tmp_path, 5 * POINTS).read_text(encoding="utf-8")
    data = text.split('type="application/json">')[1].split("</script>")[0]
    assert len(json.loads(data)["steps"]) == POINTS
    assert len(text) < 500_000
