"""What is counted, as Prometheus reads it; and what is logged, without a user's text."""

from __future__ import annotations

import logging
import re
import threading
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest
from serve_case import LATER, app_of, ask, fake, model, running, translate

from heedful.serve.metrics import Counter, Histogram, Metrics

LINE = re.compile(
    r'[a-z_]+(\{[a-z]+="([^"\\\n]|\\[\\"n])*"(,[a-z]+="([^"\\\n]|\\[\\"n])*")*\})? [0-9.e+-]+'
)


def test_everything_is_in_the_text_format() -> None:
    app = app_of()
    translate(app, ["one", "two"])
    translate(app, "a", target="zz")
    ask(app, "GET", "/secret/비밀")
    answer = ask(app, "GET", "/metrics")
    assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
    lines = answer.text.splitlines()
    assert answer.text.endswith("\n")
    for line in lines:
        assert line.startswith(("# HELP ", "# TYPE ")) or LINE.fullmatch(line), line
    assert 'heedful_requests_total{path="/translate",status="200"} 1' in lines
    assert 'heedful_requests_total{path="/translate",status="400"} 1' in lines
    assert 'heedful_requests_total{path="other",status="404"} 1' in lines
    assert 'heedful_request_seconds_count{path="/translate"} 2' in lines
    assert 'heedful_queue_pieces{source="en",target="ko"} 0' in lines
    assert 'heedful_batch_lines_bucket{source="en",target="ko",le="2"} 1' in lines
    assert 'heedful_characters_total{source="en",target="ko"} 6' in lines
    assert "비밀" not in answer.text


def test_buckets_hold_what_is_below_them() -> None:
    sizes = Histogram("sizes", "Sizes.", (1, 2, 4))
    for value in (1, 2, 2, 3, 100):
        sizes.add(value)
    assert sizes.lines() == [
        'sizes_bucket{le="1"} 1',
        'sizes_bucket{le="2"} 3',
        'sizes_bucket{le="4"} 4',
        'sizes_bucket{le="+Inf"} 5',
        "sizes_sum 108.000000",
        "sizes_count 5",
    ]


def test_labels_are_escaped_and_large_numbers_are_whole() -> None:
    counted = Metrics()
    counter = counted.keep(Counter("x", "Xs.", ("name",)))
    counter.add('a"b\\c\nd', by=123456789)
    assert counted.render() == (
        '# HELP x Xs.\n# TYPE x counter\nx{name="a\\"b\\\\c\\nd"} 123456789\n'
    )


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
