"""Any task is served: a made-up one, alone and beside a model that translates."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from measuring import Counting, app_of, make, predict, rule_of, show, task
from prometheus_client.parser import text_string_to_metric_families
from serve_case import (
    LATER,
    PAGE,
    ask,
    client,
    fake,
    model,
    post,
    refusal,
    run,
    running,
    translate,
    until,
    wait_for,
)
from starlette.routing import Route

from heedful.errors import ConfigError
from heedful.models.folder import Folder
from heedful.serve.keys import Keys
from heedful.tasks import registry


@pytest.fixture(autouse=True)
def registered() -> Iterator[None]:
    before = registry.tasks()
    registry.register(task())
    yield
    registry._registered.clear()
    registry._registered.update(before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return make(tmp_path, "rule")


def test_output_n_is_that_of_input_n(folder: Path) -> None:
    app = app_of(folder, threads=3, engine="torch")
    answer = predict(app, ["one", "이십이", [1, 2], "four"])
    assert answer.json() == {"outputs": [{"length": n} for n in (3, 3, 2, 4)]}
    assert answer.headers["cache-control"] == "no-store"
    rule = rule_of(app)
    assert rule.path == folder
    assert (rule.how.engine, rule.how.threads, rule.how.simple) == ("torch", 3, False)


def test_a_form_or_an_address_holds_json(folder: Path) -> None:
    app = app_of(folder)
    form = {"inputs": '["a", "bc"]', "options": '{"times": 2}'}
    for given in ({"data": form}, {"params": form}, {"files": {k: (None, form[k]) for k in form}}):
        answer = ask(app, "POST", "/predict", **given)
        assert answer.json() == {"outputs": [{"length": 2}, {"length": 4}]}


def test_clients_share_a_round_and_each_keeps_its_options(folder: Path) -> None:
    async def many() -> list[httpx.Response]:
        async with client(app) as web:
            asked = [{"inputs": ["ab"], "options": {"times": n % 3 + 1}} for n in range(12)]
            return await asyncio.gather(*(web.post("/predict", json=one) for one in asked))

    app = app_of(folder, lanes=1)
    found = [answer.json()["outputs"] for answer in run(many())]
    assert found == [[{"length": 2 * (n % 3 + 1)}] for n in range(12)]
    assert len(rule_of(app).rounds) < 12


def test_options_of_the_server_hold_where_a_request_has_none(folder: Path) -> None:
    app = app_of(folder, own={"times": 5})
    assert predict(app, ["a"]).json() == {"outputs": [{"length": 5}]}
    assert predict(app, ["a"], options={"times": 2}).json() == {"outputs": [{"length": 2}]}


def test_an_option_no_served_task_has_is_refused_at_the_start(folder: Path) -> None:
    with pytest.raises(ConfigError) as refused:
        app_of(folder, own={"beam": 2})
    assert str(refused.value) == "--beam is no option of the task measuring; leave it out"
    assert app_of(folder, model(), own={"beam": 2, "times": 2}).state.apis


WRONG = [
    ({}, "missing inputs parameter"),
    ({"inputs": []}, "missing inputs parameter"),
    ({"inputs": "text"}, "inputs parameter is not a list"),
    ({"inputs": {"a": 1}}, "inputs parameter is not a list"),
    ({"inputs": 3}, "inputs parameter is not a list"),
    ({"inputs": ["a\0"]}, "inputs parameter holds a NUL character"),
    ({"inputs": [{"a": ["b\0"]}]}, "inputs parameter holds a NUL character"),
    ({"inputs": ["a"] * 6}, "request (6) exceeds text limit (5)"),
    ({"inputs": ["x" * 41]}, "request (41) exceeds text limit (40)"),
    ({"inputs": [[1] * 20]}, "request (41) exceeds text limit (40)"),
    ({"inputs": ["a"], "options": [1]}, "options parameter is not an object"),
    ({"inputs": ["a"], "options": "x"}, "options parameter is not JSON"),
    ({"inputs": ["a"], "model": "other"}, "no model is called other; there is rule"),
    ({"inputs": ["a"], "model": 3}, "model parameter is not a text"),
    ({"inputs": [None]}, "nothing cannot be measured"),
]


@pytest.mark.parametrize(("body", "text"), WRONG)
def test_what_cannot_be_answered_is_refused(folder: Path, body: Any, text: str) -> None:
    app = app_of(folder, batch_limit=5, char_limit=40)
    assert refusal(post(app, "/predict", **body)) == f"Invalid request: {text}"


def test_options_are_checked_by_the_tasks_own_class(folder: Path) -> None:
    app = app_of(folder)
    number = "expected a whole number, at least 1"
    for options, text in (
        ({"tims": 2}, "options.tims is not a setting; did you mean options.times?"),
        ({"times": 0}, f"options.times = 0 is out of range; {number}"),
        (
            {"times": "a", "beam": 1},
            "options.beam is not a setting; options has times; "
            f'options.times = "a" is not allowed; {number}',
        ),
    ):
        assert refusal(predict(app, ["a"], options=options)) == f"Invalid request: {text}"


def test_bodies_have_a_limit_and_json_no_bottom(folder: Path) -> None:
    app = app_of(folder, body_limit=5000)
    answer = predict(app, ["x" * 6000])
    assert refusal(answer, 413) == "Invalid request: body exceeds limit (5000 bytes)"
    app, headers = app_of(folder), {"content-type": "application/json"}
    found = set()
    for large in (0, 40_000):  # a large body is read in a thread, whose stack is not as deep
        start = b'{"api_key": "' + b"x" * large + b'", "inputs": ['
        for depth in (500, *range(950, 1010, 2)):
            deep = start + b"[" * depth + b"]" * depth + b"]}"
            answer = ask(app, "POST", "/predict", content=deep, headers=headers)
            found.add((answer.status_code, answer.json().get("error", "")))
    assert found == {(200, ""), (400, "Invalid JSON format")}
    endless = ask(app, "POST", "/predict", content=b'{"inputs": [[1e999]]}', headers=headers)
    assert refusal(endless) == "Invalid JSON format"
    assert len(refusal(predict(app, ["a"], options={"x" * 3000: 1}))) < 600


def test_a_mistake_of_the_task_is_a_500_and_spoils_no_other(
    folder: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async def several() -> list[httpx.Response]:
        async with client(app) as web:
            bodies = [{"inputs": one} for one in (["fine"], [{}], ["short"], [None])]
            return await asyncio.gather(*(web.post("/predict", json=one) for one in bodies))

    app = app_of(folder, timeout=LATER)
    good, broken, short, bad = run(several())
    assert good.json() == {"outputs": [{"length": 4}]}
    assert refusal(broken, 500) == refusal(short, 500) == "Internal server error"
    assert refusal(bad) == "Invalid request: nothing cannot be measured"
    assert "비밀" not in caplog.text


def test_keys_protect_it(folder: Path) -> None:
    app = app_of(folder, keys=Keys(["12345678"]))
    assert "API key" in refusal(predict(app, ["a"]))
    assert refusal(predict(app, ["a"], api_key="87654321"), 403) == "Invalid API key"
    assert predict(app, ["a"], api_key="12345678").json() == {"outputs": [{"length": 1}]}


def test_a_full_queue_refuses_before_the_body_is_read(folder: Path) -> None:
    async def crowd() -> None:
        rule_of(app).gate.clear()
        async with client(app) as web:
            held = [asyncio.ensure_future(web.post("/predict", json={"inputs": ["first"]}))]
            await until(lambda: rule_of(app).rounds)
            held.append(asyncio.ensure_future(web.post("/predict", json={"inputs": ["x" * 200]})))
            await until(lambda: app.state.apis[0].queues.no_room())
            refused = await web.post("/predict", content=b"never parsed")
            assert refusal(refused, 503).startswith("Slowdown: too many inputs are waiting")
            assert int(refused.headers["retry-after"]) >= 1
            rule_of(app).gate.set()
            assert [answer.status_code for answer in await asyncio.gather(*held)] == [200, 200]

    app = app_of(folder, queue=20, lanes=1)
    run(crowd())


def test_several_models_are_told_apart_by_name(tmp_path: Path) -> None:
    app = app_of(make(tmp_path, "one"), make(tmp_path, "둘"))
    assert predict(app, ["a"], model="둘").json() == {"outputs": [{"length": 1}]}
    assert (rule_of(app, "one").rounds, rule_of(app, "둘").rounds) == ([], [["a"]])
    assert refusal(predict(app, ["a"])) == "Invalid request: missing model parameter"
    assert refusal(predict(app, ["a"], model="셋")) == (
        "Invalid request: no model is called 셋; there is one, 둘"
    )
    (tmp_path / "under").mkdir()
    with pytest.raises(ConfigError) as twice:
        app_of(tmp_path / "one", make(tmp_path / "under", "one"))
    assert str(twice.value) == "two models are called one; rename one of the folders"


def test_a_task_that_answers_no_json_is_not_served(folder: Path) -> None:
    registry.register(task(reply=None))
    with pytest.raises(ConfigError) as refused:
        app_of(folder)
    assert str(refused.value) == f"{folder}: a model for the task measuring cannot be served yet"


def test_models_of_several_tasks_are_served_together(folder: Path) -> None:
    one = model(name="en-ko")
    app = app_of(folder, one)
    assert translate(app, "text").json() == {"translatedText": "ko:text"}
    assert predict(app, ["text"]).json() == {"outputs": [{"length": 4}]}
    assert ask(app, "GET", "/models").json() == [
        {"name": "en-ko", "task": "translation", "about": "en to ko"},
        {"name": "rule", "task": "measuring", "about": "long or short"},
    ]
    assert b"source-text" in ask(app, "GET", "/").content  # the translator's page
    assert fake(one).rounds == [["text"]]


def test_alone_it_has_a_plain_page_and_nothing_of_translation(tmp_path: Path) -> None:
    app = app_of(make(tmp_path, "<b>&"))
    page = ask(app, "GET", "/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "<li>&lt;b&gt;&amp; · measuring · long or short</li>" in page.text
    assert ask(app, "GET", "/favicon.ico").status_code == 204
    for path in ("/translate", "/languages", "/explain", "/frontend/settings"):
        assert refusal(post(app, path), 404) == "Not Found"
    metrics = ask(app, "GET", "/metrics").text
    assert 'path="other",status="404"} 4' in metrics
    assert "source" not in metrics


def test_what_is_counted_carries_the_models_name(folder: Path) -> None:
    app = app_of(folder, model())
    predict(app, ["ab", [1]])
    translate(app, "text")
    text = ask(app, "GET", "/metrics").text
    found = {
        (sample.name, *(v for k, v in sorted(sample.labels.items()) if k != "le")): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }
    assert found["heedful_requests_total", "/predict", "200"] == 1
    assert found["heedful_predict_batch_inputs_sum", "rule"] == 2
    assert found["heedful_predict_characters_total", "rule"] == 5
    assert found["heedful_predict_queue_pieces", "rule"] == 0
    assert found["heedful_characters_total", "en", "ko"] == 4


@pytest.mark.parametrize("beside", [False, True])
def test_what_is_described_is_what_there_is(folder: Path, beside: bool) -> None:
    app = app_of(folder, *([model()] if beside else []), batch_limit=7, char_limit=77)
    found = ask(app, "GET", "/openapi.json").json()
    routes = {
        route.path: {method.lower() for method in route.methods or ()} - {"head"}
        for route in app.routes
        if isinstance(route, Route) and route.path not in ("/page/{name}", "/favicon.ico")
    }
    assert {path: set(methods) for path, methods in found["paths"].items()} == routes
    assert ("/translate" in routes) is beside
    described = found["paths"]["/predict"]["post"]["requestBody"]["content"]
    properties = described["application/json"]["schema"]["properties"]
    assert properties["inputs"]["maxItems"] == 7
    assert "77 characters" in properties["inputs"]["description"]
    assert properties["model"]["anyOf"][0]["enum"] == ["rule"]
    assert "outputs" in found["components"]["schemas"]["Outputs"]["properties"]
    assert ("LibreTranslate" in found["info"]["description"]) is beside


def test_a_model_that_can_be_traced_is_explained(folder: Path) -> None:
    registry.register(task(show=show))
    app = app_of(folder)
    found = post(app, "/explain", input="abc", layers=[1], heads="0", decimals=2).json()
    assert found["schema"] == "heedful.trace/2"
    assert [one["text"] for one in found["streams"][0]["items"]] == ["a", "b", "c"]
    assert (found["chosen"]["layers"], found["chosen"]["heads"]) == (
        {"encoder": [1]},
        [0],
    )
    for body, text in (
        ({}, "missing input parameter"),
        ({"input": ["a"]}, "input parameter is not a text"),
        ({"input": "x" * 21}, "request (21) exceeds text limit (20)"),
        ({"input": "x" * 8}, "8 characters; expected 7 at most"),
        ({"input": "a", "layers": [2]}, "layer 2 is not in this model; choose from 0 to 1"),
        ({"input": "a", "positions": 0}, "positions parameter must be >= 1"),
        ({"input": "a", "model": "b"}, "no model is called b; there is rule"),
    ):
        said = refusal(post(app_of(folder, explain_limit=20), "/explain", **body))
        assert said == f"Invalid request: {text}"
    odd = post(app, "/explain", input="a", options={"b": 1})
    assert refusal(odd).startswith("Invalid request: options.b")


def test_beside_a_translation_a_name_says_whose_trace_is_wanted(folder: Path) -> None:
    registry.register(task(show=show))
    app = app_of(folder, model(name="en-ko"))
    pair = {"q": "text", "source": "en", "target": "ko"}
    for named in ({}, {"model": "en-ko"}):
        assert post(app, "/explain", **pair, **named).json()["text"] == "text"
    found = post(app, "/explain", input="ab", model="rule").json()
    assert found["streams"][0]["text"] == "ab"
    bodies = ask(app, "GET", "/openapi.json").json()["paths"]["/explain"]["post"]["requestBody"]
    kinds = bodies["content"]["application/json"]["schema"]["anyOf"]
    assert ["q" in one["properties"] for one in kinds] == [True, False]


def test_a_model_that_cannot_be_traced_says_so_where_another_can(tmp_path: Path) -> None:
    registry.register(task(show=show))
    registry.register(task(name="counting", show=None, settings=Counting))
    counting = Folder.create(tmp_path / "count", Counting(), {}, {}).path
    app = app_of(make(tmp_path, "rule"), counting)
    assert refusal(post(app, "/explain", input="a", model="count")) == (
        "Invalid request: a model for the task counting cannot be explained yet"
    )


def test_over_a_socket_it_answers_and_at_the_end_its_threads_do_too(folder: Path) -> None:
    with running(folder, page=PAGE) as served:
        answer = httpx.post(f"{served.url}/predict", json={"inputs": ["abc"]})
        assert answer.json() == {"outputs": [{"length": 3}]}

    async def whole_life() -> None:
        async with app.router.lifespan_context(app), client(app) as web:
            assert (await web.post("/predict", json={"inputs": ["a"]})).status_code == 200
            begun.extend({*threading.enumerate()} - before)

    app, before, begun = app_of(folder, lanes=1), {*threading.enumerate()}, list[threading.Thread]()
    run(whole_life())
    assert [thread.name for thread in begun] == ["heedful-predict_0"]
    wait_for(lambda: not begun[0].is_alive())
