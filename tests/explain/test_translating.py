"""The page as a server shows it: the translator, under any prefix, with the strictest policy."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from made_trace import made_trace
from playwright.sync_api import Browser, Page, Route

from heedful.explain.document import page_files
from page_case import latin_words

PREFIX = "http://heedful.test/some/prefix/"
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; "
    "connect-src 'self'"
)
KINDS = {"html": "text/html", "css": "text/css", "js": "text/javascript"}
LANGUAGES = [
    {"code": "en", "name": "English", "targets": ["en", "ko"]},
    {"code": "ko", "name": "Korean", "targets": ["ko", "en"]},
    {"code": "fr", "name": "French", "targets": ["en"]},
]
HOSTILE = "<img src=x onerror=alert(1)></textarea>"


class Stub:
    """Answers as the server would, and keeps what it was asked."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, Any]] = []
        self.settings: dict[str, Any] = {"apiKeys": False, "charLimit": 2000}
        self.answers: dict[str, tuple[int, Any]] = {
            "translate": (
                200,
                {"translatedText": f"번역 {HOSTILE}", "alternatives": ["다른 번역", HOSTILE]},
            ),
            "explain": (200, made_trace(best=0.87)),
        }
        self.files = page_files()

    def __call__(self, route: Route) -> None:
        request = route.request
        path = request.url.removeprefix(PREFIX)
        headers = {"Content-Security-Policy": POLICY}
        if path == "" or path.startswith("page/"):
            name = path.removeprefix("page/") or "index.html"
            kind = KINDS[name.rsplit(".")[-1]]
            headers["Content-Type"] = f"{kind}; charset=utf-8"
            route.fulfill(body=self.files[name], headers=headers)
        elif request.method == "GET":
            known: dict[str, Any] = {"languages": LANGUAGES, "frontend/settings": self.settings}
            route.fulfill(json=known[path], headers=headers)
        else:
            self.asked.append((path, json.loads(request.post_data or "")))
            status, answer = self.answers[path]
            route.fulfill(status=status, json=answer, headers=headers)


@pytest.fixture
def stub() -> Stub:
    return Stub()


@pytest.fixture
def page(browser: Browser, stub: Stub) -> Iterator[Page]:
    context = browser.new_context(locale="en-US", viewport={"width": 1100, "height": 800})
    context.set_default_timeout(120_000)
    opened, wrong = context.new_page(), []
    opened.on("console", lambda message: wrong.append(message.text))
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.route("**/*", stub)
    yield opened
    context.close()
    refusals = [text for text in wrong if "the server responded with a status of" not in text]
    assert refusals == []


def start(page: Page) -> None:
    page.goto(PREFIX)
    page.locator("#example-en-0").wait_for()


def test_a_text_is_translated_and_shown_from_inside(page: Page, stub: Stub) -> None:
    start(page)
    assert page.locator("#inside").is_hidden()
    assert page.locator("#key-field").is_hidden()
    page.locator("#source-text").fill(HOSTILE)
    assert page.locator("#count").inner_text() == f"{len(HOSTILE)} / 2000"
    page.locator("#translate").click()
    page.locator("#heads-svg").wait_for()
    assert page.locator("#result").inner_text() == f"번역 {HOSTILE}"
    assert page.locator("#alternatives-list li").all_inner_texts() == ["다른 번역", HOSTILE]
    wanted = {"q": HOSTILE, "source": "en", "target": "ko"}
    more = {"format": "text", "alternatives": 3}
    assert stub.asked == [("translate", wanted | more), ("explain", wanted)]
    assert page.locator("img").count() == 0
    page.locator("#tab-alignment").click()
    stub.answers["translate"] = (200, {"translatedText": "새 번역"})
    page.locator("#source-text").press("Control+Enter")
    page.get_by_text("새 번역").wait_for()
    assert page.locator("#alternatives").is_hidden()
    assert page.locator("#view-alignment").is_visible()


def test_a_detected_language_and_a_way_round_are_told(page: Page, stub: Stub) -> None:
    stub.answers["translate"] = (
        200,
        {
            "translatedText": "I am a student.",
            "detectedLanguage": {"language": "ko", "confidence": 93.4},
            "via": ["fr"],
        },
    )
    start(page)
    page.locator("#source-language").select_option("auto")
    page.locator("#target-language").select_option("en")
    page.locator("#source-text").fill("나는 학생이다.")
    page.locator("#translate").click()
    page.get_by_text("No single model did this").wait_for()
    assert page.locator("#inside").is_hidden()
    assert page.locator("#route").inner_text() == "detected: Korean, 93% · by way of French"
    assert len(stub.asked) == 1
    stub.answers["translate"][1].pop("via")
    page.locator("#translate").click()
    page.locator("#heads-svg").wait_for()
    assert page.locator("#route").inner_text() == "detected: Korean, 93%"
    assert stub.asked[2] == ("explain", {"q": "나는 학생이다.", "source": "ko", "target": "en"})


def test_examples_are_those_the_models_read(page: Page, stub: Stub) -> None:
    start(page)
    assert page.locator("#examples button").all_inner_texts() == [
        "I am a student.",
        "The animal didn't cross the street because it was too tired.",
        "동물은 너무 피곤해서 길을 건너지 않았다.",
    ]
    page.locator("#example-ko-0").click()
    page.locator("#heads-svg").wait_for()
    assert (stub.asked[0][1]["source"], stub.asked[0][1]["target"]) == ("ko", "en")


def test_only_targets_that_can_be_reached_are_offered_and_languages_swap(page: Page) -> None:
    start(page)
    assert page.locator("#target-language option").all_inner_texts() == ["Korean"]
    page.locator("#swap").click()
    assert page.locator("#source-language").input_value() == "ko"
    assert page.locator("#target-language").input_value() == "en"
    page.locator("#source-language").select_option("fr")
    assert page.locator("#swap").is_disabled()
    page.locator("#language").click()
    assert page.locator("#source-language option").all_inner_texts() == [
        "언어 감지",
        "영어",
        "한국어",
        "프랑스어",
    ]
    assert page.locator("#source-language").input_value() == "fr"


def test_every_word_of_the_korean_translator_is_korean(page: Page, stub: Stub) -> None:
    stub.settings["apiKeys"] = True
    stub.answers["translate"] = (
        200,
        {
            "translatedText": "나는 학생이다.",
            "alternatives": ["저는 학생입니다."],
            "detectedLanguage": {"language": "en", "confidence": 93.4},
            "via": ["fr"],
        },
    )
    start(page)
    page.locator("#language").click()
    names = {"Heedful", "English", "Ctrl", "Enter", "API"}
    assert latin_words(page, names) == set()
    page.locator("#source-language").select_option("auto")
    page.locator("#target-language").select_option("ko")
    page.locator("#source-text").fill("I am a student.")
    page.locator("#translate").click()
    page.get_by_text("거쳐 간 언어: 프랑스어").wait_for()
    assert latin_words(page, names) == set()
    page.locator("#copy").click()
    page.locator("#status:not(:empty)").wait_for()
    assert latin_words(page, names | {"C"}) == set()


def test_what_the_server_refuses_is_said_aloud(page: Page, stub: Stub) -> None:
    stub.settings["apiKeys"] = True
    stub.answers["translate"] = (403, {"error": f"Invalid API key {HOSTILE}"})
    start(page)
    page.locator("#api-key").fill("a key")
    page.locator("#example-en-0").click()
    page.get_by_text("Invalid API key").wait_for()
    assert page.locator("#error").get_attribute("role") == "alert"
    assert page.locator("#error").inner_text() == f"Invalid API key {HOSTILE}"
    assert stub.asked[0][1]["api_key"] == "a key"
    stub.answers["translate"] = (200, {"translatedText": "나는 학생이다."})
    stub.answers["explain"] = (400, {"error": "too long to look inside"})
    page.locator("#translate").click()
    page.get_by_text("too long to look inside").wait_for()
    assert page.locator("#result").inner_text() == "나는 학생이다."
    stub.answers["explain"] = (200, made_trace())
    page.locator("#translate").click()
    page.locator("#heads-svg").wait_for()
    assert page.locator("#error").inner_text() == ""
