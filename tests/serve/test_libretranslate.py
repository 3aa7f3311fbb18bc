"""LibreTranslate's API: what its clients send and what they get."""

from __future__ import annotations

import json
import threading

import pytest
from serve_case import app_of, ask, client, fake, model, post, refusal, run, translate

from heedful.serve.keys import Keys
from heedful.serve.translation.detect import Detector, Guess

GOOD = {"q": "Hello", "source": "en", "target": "ko"}


def test_a_text_is_translated_however_it_is_sent() -> None:
    app = app_of()
    ways = (
        {"json": GOOD},
        {"data": GOOD},
        {"params": GOOD},
        {"files": {name: (None, value) for name, value in GOOD.items()}},
        {"params": {"source": "ko", "target": "ko"}, "json": GOOD},  # the body counts
        {"content": b"q=Hello&source=en&target=ko", "headers": FORM},
    )
    for way in ways:
        answer = ask(app, "POST", "/translate", **way)
        assert (answer.status_code, answer.json()) == (200, {"translatedText": "ko:Hello"}), way


FORM = {"content-type": "application/x-www-form-urlencoded"}


def test_hangul_comes_and_goes_as_it_is() -> None:
    app = app_of(model("ko", "en"))
    raw = "q=나는 학생이다.&source=ko&target=en".encode()
    for way in (
        {"content": raw, "headers": FORM},
        {"json": {"q": "나는 학생이다.", "source": "ko", "target": "en"}},
    ):
        answer = ask(app, "POST", "/translate", **way)
        assert answer.content == '{"translatedText":"en:나는 학생이다."}'.encode()
        assert answer.headers["content-type"] == "application/json"


def test_a_list_gives_a_list() -> None:
    app = app_of()
    assert translate(app, ["a", "", "b"]).json() == {"translatedText": ["ko:a", "", "ko:b"]}
    form = ask(app, "POST", "/translate", data={"q": ["a", "b"], "source": "en", "target": "ko"})
    assert form.json() == {"translatedText": ["ko:a", "ko:b"]}


def test_paragraphs_are_kept() -> None:
    one = model()
    answer = translate(app_of(one), "First.\n\n  Second.\n")
    assert answer.json() == {"translatedText": "ko:First.\n\n  ko:Second.\n"}
    assert fake(one).rounds == [["First.", "Second."]]


def test_alternatives_are_other_translations_of_the_whole_text() -> None:
    app = app_of()
    answer = translate(app, "a\nb", alternatives=2).json()
    assert answer == {
        "translatedText": "ko:a\nko:b",
        "alternatives": ["ko2:a\nko2:b", "ko3:a\nko3:b"],
    }
    assert translate(app, ["a"], alternatives="1").json()["alternatives"] == [["ko2:a"]]
    assert translate(app, "😀", alternatives=3).json()["alternatives"] == []
    for none in (0, -5, None, ""):
        assert "alternatives" not in translate(app, "a", alternatives=none).json()


def test_auto_finds_the_language_of_each_text() -> None:
    app = app_of()
    english = "This is a sentence written in English, for a test."
    korean = "이것은 시험을 위해 한국어로 쓴 문장이다."
    answer = translate(app, english, source="auto").json()
    assert answer["translatedText"] == f"ko:{english}"
    assert answer["detectedLanguage"]["language"] == "en"
    assert 50 < answer["detectedLanguage"]["confidence"] <= 100
    answer = translate(app, [english, korean], source="auto").json()
    assert answer["translatedText"] == [f"ko:{english}", korean]  # already Korean
    assert [guess["language"] for guess in answer["detectedLanguage"]] == ["en", "ko"]
    unsure = translate(app, "😀", source="auto").json()
    assert unsure == {
        "translatedText": "😀",
        "detectedLanguage": {"confidence": 0.0, "language": "en"},
    }


def test_detect_gives_guesses_best_first() -> None:
    app = app_of()
    for way in ({"json": {"q": "나는 학생이다."}}, {"data": {"q": "나는 학생이다."}}):
        guesses = ask(app, "POST", "/detect", **way).json()
        assert guesses[0]["language"] == "ko"
        confidences = [guess["confidence"] for guess in guesses]
        assert confidences == sorted(confidences, reverse=True)
    assert refusal(post(app, "/detect", q="")) == "Invalid request: missing q parameter"


def test_the_first_detection_keeps_nobody_waiting_while_its_model_is_loaded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    asked: list[int] = []

    def note(detector: Detector, text: str) -> list[Guess]:
        asked.append(threading.get_ident())
        return [Guess("en", 0.0)]

    monkeypatch.setattr(Detector, "detect", note)
    for loaded in (False, True):
        monkeypatch.setattr(Detector, "loaded", loaded)
        post(app_of(), "/detect", q="Hello")
    loop = threading.get_ident()
    assert [one == loop for one in asked] == [False, True]


def test_the_same_language_comes_back_as_it_is() -> None:
    assert translate(app_of(), " Hi\n", target="en").json() == {"translatedText": " Hi\n"}
    html = translate(app_of(), "<b>Hi</b>", target="en", format="html").json()
    assert html == {"translatedText": "<b>Hi</b>"}


def test_a_third_language_is_passed_through_and_named() -> None:
    app = app_of(model("ko", "en"), model("en", "fr"))
    answer = translate(app, "안녕", source="ko", target="fr", alternatives=1).json()
    assert answer == {
        "translatedText": "fr:en:안녕",
        "alternatives": ["fr2:en:안녕"],
        "via": ["en"],
    }
    several = translate(app, ["안녕", "Hello there, my friend"], source="auto", target="fr").json()
    assert several["translatedText"] == ["fr:en:안녕", "fr:Hello there, my friend"]
    assert several["via"] == [["en"], []]


def test_markup_keeps_its_tags() -> None:
    answer = translate(app_of(), "<p>Hello <b>world</b></p>", format="html", alternatives=1).json()
    assert answer["alternatives"] == []
    text = answer["translatedText"]
    assert text.startswith("<p>")
    assert text.endswith("</p>")
    assert text.count("<b>") == text.count("</b>") == 1
    both = app_of(model("ko", "en"), model("en", "fr"))
    through = translate(both, "<i>하나</i> 둘", source="ko", target="fr", format="html").json()
    assert through["via"] == ["en"]
    assert "<i>" in through["translatedText"]


def test_terms_are_honoured_or_named() -> None:
    app = app_of()
    terms = {"Heedful": "히드풀"}
    answer = translate(app, "Heedful is here", terms=terms).json()
    assert "히드풀" in answer["translatedText"]
    assert "unmet_terms" not in answer
    form = {**GOOD, "q": "Heedful", "terms": json.dumps(terms)}
    assert "히드풀" in ask(app, "POST", "/translate", data=form).json()["translatedText"]
    pairs = translate(app, "Heedful", terms=[["Heedful", "히드풀"]]).json()
    assert pairs == {"translatedText": "히드풀"}
    unmet = translate(app, ["A dog.", "A cat."], terms={"dog": "강아지"}, keep=["cat"]).json()
    assert unmet == {"translatedText": ["ko:A dog.", "ko:A cat."], "unmet_terms": [["dog"], []]}
    for wrong in (7, ["x"], {"x": 1}, {"x": {"y": "z"}}):
        assert refusal(translate(app, "x", terms=wrong)).startswith("Invalid request: ")
    assert refusal(ask(app, "POST", "/translate", data=form | {"terms": "{"})) == (
        "Invalid request: terms parameter is not JSON"
    )


def test_a_guard_that_acted_is_named() -> None:
    app = app_of()
    assert translate(app, "endless").json()["guards"] == ["length"]
    assert translate(app, ["a", "endless"]).json()["guards"] == [[], ["length"]]


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"q": None}, "Invalid request: missing q parameter"),
        ({"q": ""}, "Invalid request: missing q parameter"),
        ({"q": []}, "Invalid request: missing q parameter"),
        ({"source": ""}, "Invalid request: missing source parameter"),
        ({"target": None}, "Invalid request: missing target parameter"),
        ({"source": "zz"}, "zz is not supported"),
        ({"target": "zz"}, "zz is not supported"),
        ({"target": "auto"}, "auto is not supported"),
        ({"target": "z" * 99}, "z" * 40 + "… is not supported"),
        ({"format": "xml"}, "xml format is not supported"),
        ({"alternatives": "abc"}, "Invalid request: alternatives parameter is not a number"),
        ({"alternatives": True}, "Invalid request: alternatives parameter is not a number"),
        ({"alternatives": 9}, "Invalid request: alternatives parameter must be <= 8"),
        ({"q": "x" * 101}, "Invalid request: request (101) exceeds text limit (100)"),
        ({"q": ["x" * 60] * 2}, "Invalid request: request (120) exceeds text limit (100)"),
        ({"q": ["x"] * 6}, "Invalid request: request (6) exceeds text limit (5)"),
        ({"q": 7}, "Invalid request: q parameter is not a text"),
        ({"q": ["a", 7]}, "Invalid request: q parameter is not a text"),
        ({"source": ["en"]}, "Invalid request: source parameter is not a text"),
        ({"q": "refuse me"}, "Invalid request: this text cannot be used"),
    ],
)
def test_what_is_wrong_is_said_in_libretranslates_words(
    change: dict[str, object], text: str
) -> None:
    app = app_of(char_limit=100, batch_limit=5)
    assert refusal(post(app, "/translate", **GOOD | change)) == text


def test_a_pair_without_a_way_is_refused() -> None:
    assert refusal(translate(app_of(model()), "안녕", source="ko", target="en")) == (
        "English (en) is not available as a target language from Korean (ko)"
    )


def test_languages_are_listed_for_get_and_post() -> None:
    app = app_of()
    both = [ask(app, method, "/languages").json() for method in ("GET", "POST")]
    assert (
        both[0]
        == both[1]
        == [
            {"code": "en", "name": "English", "targets": ["en", "ko"]},
            {"code": "ko", "name": "Korean", "targets": ["en", "ko"]},
        ]
    )


def test_frontend_settings_say_what_is_possible() -> None:
    found = ask(app_of(char_limit=77), "GET", "/frontend/settings").json()
    assert found["charLimit"] == 77
    assert (found["apiKeys"], found["keyRequired"], found["suggestions"]) == (False, False, False)
    assert {".txt", ".srt", ".html", ".docx"} <= set(found["supportedFilesFormat"])
    assert found["language"]["source"] == {"code": "en", "name": "English"}
    assert found["language"]["target"] == {"code": "ko", "name": "Korean"}
    assert found["models"][0] == {"name": "model", "source": "en", "target": "ko"}


def test_the_small_endpoints_answer() -> None:
    app = app_of()
    assert ask(app, "GET", "/health").json() == {"status": "ok"}
    disabled = "Suggestions are disabled on this server."
    assert refusal(post(app, "/suggest", q="a", s="b"), 403) == disabled
    assert refusal(ask(app, "GET", "/nothing"), 404) == "Not Found"
    wrong = ask(app, "GET", "/translate")
    assert refusal(wrong, 405) == "Method Not Allowed"
    assert wrong.headers["allow"] == "POST"


def test_a_slash_too_many_does_not_matter() -> None:
    app = app_of()
    for path in ("/translate/", "//translate", "/translate"):
        answer = ask(app, "POST", f"http://served{path}", json=GOOD)
        assert answer.json() == {"translatedText": "ko:Hello"}, path


def test_only_who_has_a_key_is_served() -> None:
    app = app_of(keys=Keys(["correct horse", "다른 열쇠"]))
    for path in ("/translate", "/detect", "/explain"):
        needed = "Please contact the server operator to get an API key"
        assert refusal(post(app, path, **GOOD)) == needed
        assert refusal(post(app, path, **GOOD, api_key="wrong"), 403) == "Invalid API key"
        assert post(app, path, **GOOD, api_key="correct horse").status_code == 200
        assert post(app, path, **GOOD, api_key="다른 열쇠").status_code == 200
    bearer = {"authorization": "Bearer correct horse"}
    assert ask(app, "POST", "/translate", data=GOOD, headers=bearer).status_code == 200
    assert ask(app, "GET", "/metrics").status_code == 400
    assert ask(app, "GET", "/metrics", headers=bearer).status_code == 200
    assert ask(app, "GET", "/languages").status_code == 200
    assert ask(app, "GET", "/frontend/settings").json()["keyRequired"] is True


def test_one_client_after_another_uses_one_connection() -> None:
    async def many() -> list[str]:
        async with client(app_of()) as one:
            return [
                (await one.post("/translate", json=GOOD | {"q": f"{n}a"})).json()["translatedText"]
                for n in range(5)
            ]

    assert run(many()) == [f"ko:{n}a" for n in range(5)]
