"""What is counted, as Prometheus reads it; and what is logged, without a user's text."""

from __future__ import annotations

import logging
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from serve_case import LATER, app_of, ask, fake, model, running, translate

from heedful.serve.metrics import Rounds, ServerMetrics

Values = dict[tuple[str, ...], float]


def read(text: str) -> Values:
    """Every value by its name and its labels, in the order of these: `path`, `status`, `le`."""
    return {
        (sample.name, *(sample.labels[name] for name in sorted(sample.labels))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def test_everything_is_in_the_text_format() -> None:
    app = app_of()
    translate(app, ["one", "two"])
    translate(app, "a", target="zz")
    ask(app, "GET", "/secret/비밀")
    answer = ask(app, "GET", "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    assert answer.text.endswith("\n")
    values = read(answer.text)
    assert values["heedful_requests_total", "/translate", "200"] == 1
    assert values["heedful_requests_total", "/translate", "400"] == 1
    assert values["heedful_requests_total", "other", "404"] == 1
    assert values["heedful_request_seconds_count", "/translate"] == 2
    assert values["heedful_queue_pieces", "en", "ko"] == 0
    assert values["heedful_batch_lines_bucket", "2.0", "en", "ko"] == 1
    assert values["heedful_characters_total", "en", "ko"] == 6
    assert values["heedful_under_way", "/translate"] == 0
    assert "비밀" not in answer.text


NAMES = {
    "heedful_requests_total": ["path", "status"],
    "heedful_request_seconds_bucket": ["le", "path"],
    "heedful_request_seconds_count": ["path"],
    "heedful_request_seconds_sum": ["path"],
    "heedful_batch_lines_bucket": ["le", "source", "target"],
    "heedful_batch_lines_count": ["source", "target"],
    "heedful_batch_lines_sum": ["source", "target"],
    "heedful_pieces_total": ["source", "target"],
    "heedful_characters_total": ["source", "target"],
    "heedful_dropped_total": [],
    "heedful_under_way": ["path"],
    "heedful_queue_pieces": ["source", "target"],
}


def test_the_names_and_labels_that_dashboards_know_are_all_there_are() -> None:
    app = app_of()
    translate(app, "one")
    text = ask(app, "GET", "/metrics").text
    families = list(text_string_to_metric_families(text))
    samples = [sample for family in families for sample in family.samples]
    assert {sample.name: sorted(sample.labels) for sample in samples} == NAMES
    assert "\n# TYPE heedful_pieces_total counter\n" in text
    assert {family.type for family in families} == {"counter", "gauge", "histogram"}


def test_buckets_hold_what_is_below_them() -> None:
    metrics = ServerMetrics()
    rounds = Rounds(metrics.registry, ("source", "target"), "lines")
    for value in (1, 2, 2, 3, 5000):
        rounds.inputs.labels("en", "ko").observe(value)
    values = read(metrics.render().decode())
    pair = ("en", "ko")
    buckets = {key[1]: value for key, value in values.items() if key[0].endswith("_bucket")}
    bounds = [f"{2.0**power}" for power in range(12)]
    assert buckets == dict(zip([*bounds, "+Inf"], [1, 3, *[4] * 10, 5], strict=True))
    assert values["heedful_batch_lines_sum", *pair] == 5008
    assert values["heedful_batch_lines_count", *pair] == 5


def test_labels_are_escaped_and_servers_share_no_counter() -> None:
    odd = 'a"b\\c\nd'
    one, other = ServerMetrics(), ServerMetrics()
    one.requests.labels(odd, "200").inc(123456789)
    assert read(one.render().decode())["heedful_requests_total", odd, "200"] == 123456789
    assert ("heedful_requests_total", odd, "200") not in read(other.render().decode())


def test_a_log_of_requests_holds_no_text(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    app = app_of(model(), access_log=True)
    ask(app, "POST", "/translate?q=비밀 번호&source=en&target=ko")
    ask(app, "GET", "/비밀")
    ask(app, "비밀".encode().hex().upper(), "/translate")
    told = [record.getMessage() for record in caplog.records if record.name == "heedful.serve"]
    assert [re.sub(r"\d+ ms", "n ms", line) for line in told] == [
        "POST /translate 200 n ms",
        "GET other 404 n ms",
        "OTHER /translate 405 n ms",
    ]
    caplog.clear()
    ask(app_of(), "GET", "/health")
    assert "health 200" not in "".join(
        record.getMessage() for record in caplog.records if record.name == "heedful.serve"
    )


def test_freed_memory_goes_back_after_requests_and_during_many(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    given_back = threading.Semaphore(0)
    monkeypatch.setattr("heedful.serve.app.REST", 0.02)
    monkeypatch.setattr("heedful.serve.app.TIDY", 0.1)
    monkeypatch.setattr("heedful.serve.app.give_memory_back", given_back.release)
    one = model()
    with running(one) as served:
        assert not given_back.acquire(timeout=0.2)  # nothing was asked
        httpx.get(f"{served.url}/health")
        assert given_back.acquire(timeout=LATER)
        assert not given_back.acquire(timeout=0.2)  # nothing since
        fake(one).gate.clear()
        with ThreadPoolExecutor(1) as pool:
            body = {"q": "one", "source": "en", "target": "ko"}
            waiting = pool.submit(httpx.post, f"{served.url}/translate", json=body, timeout=LATER)
            assert fake(one).busy.acquire(timeout=LATER)
            httpx.get(f"{served.url}/health")
            assert given_back.acquire(timeout=LATER)  # though one is under way
            fake(one).gate.set()
            assert waiting.result().status_code == 200
