"""Connections as they are on a network: slow, silent, greedy, or gone."""

from __future__ import annotations

import contextlib
import json
import socket
import threading

import httpx
import pytest
from serve_case import LATER, Running, fake, model, queue_of, received, running, wait_for

from heedful.serve import connections


def request(text: str = "Hello", more: str = "") -> bytes:
    body = json.dumps({"q": text, "source": "en", "target": "ko"}).encode()
    head = (
        "POST /translate HTTP/1.1\r\nHost: served\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body)}\r\n{more}\r\n"
    )
    return head.encode() + body


def answered(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """One answer on a connection that stays."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += connection.recv(65536) or pytest.fail(f"closed after {data!r}")
    head, _, body = data.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    headers = dict(line.lower().split(": ", 1) for line in lines)
    while len(body) < int(headers["content-length"]):
        body += connection.recv(65536) or pytest.fail("closed within an answer")
    return int(status.split()[1]), headers, body


def test_an_ordinary_client_is_served_twice_on_one_connection() -> None:
    with running() as server, server.connect() as one:
        for text in ("Hello", "World"):
            one.sendall(request(text))
            status, headers, body = answered(one)
            assert (status, json.loads(body)) == (200, {"translatedText": f"ko:{text}"})
            assert "server" not in headers


def test_a_head_that_does_not_come_is_not_waited_for() -> None:
    with running(head_timeout=0.05, keep_alive=20.0) as server:
        for start in (b"", b"POST /trans", b"GET / HTTP/1.1\r\nHost: a\r\nX-Slow: "):
            with server.connect() as one:
                one.sendall(start)
                assert received(one) == b""
        wait_for(lambda: not server.server.server_state.connections)


def test_a_head_that_drips_has_no_more_time_than_one_that_does_not_come() -> None:
    with running(head_timeout=0.1) as server, server.connect() as one:
        one.settimeout(0.005)
        sent = 0
        with contextlib.suppress(ConnectionError):
            one.send(b"GET / HTTP/1.1\r\n")
            while sent < 4000:
                one.send(b"X-A: b\r\n")
                sent += 1
                with contextlib.suppress(TimeoutError):
                    if one.recv(100) == b"":
                        break
        assert 0 < sent < 4000


def test_the_head_of_a_second_request_has_a_deadline_too() -> None:
    with running(head_timeout=0.05, keep_alive=20.0) as server, server.connect() as one:
        one.sendall(request())
        assert answered(one)[0] == 200
        one.sendall(b"POST /tr")
        assert received(one) == b""


def test_a_deadline_is_over_when_its_head_has_come_and_begins_anew_with_the_next() -> None:
    one = model()
    fake(one).gate.clear()
    with running(one, head_timeout=0.05, keep_alive=60.0) as server, server.connect() as web:
        web.sendall(request())
        wait_for(lambda: fake(one).rounds)
        (connection,) = server.server.server_state.connections
        wait_for(lambda: connection._clock is None)
        fake(one).gate.set()
        assert answered(web)[0] == 200
        web.sendall(b"POST /tr")
        assert received(web) == b""


def test_an_idle_connection_is_closed() -> None:
    with running(keep_alive=0.05) as server, server.connect() as one:
        one.sendall(request())
        assert answered(one)[0] == 200
        assert received(one) == b""


def test_a_body_that_drips_meets_its_deadline() -> None:
    with running(body_timeout=0.05) as server, server.connect() as one:
        one.sendall(request()[:-5])
        found = received(one)
        assert found.startswith(b"HTTP/1.1 408 ")
        assert b"connection: close" in found.lower()
        assert json.loads(found.partition(b"\r\n\r\n")[2]) == {
            "error": "Invalid request: body did not arrive within 0.05 seconds"
        }


def test_a_body_too_large_is_answered_and_not_read_to_its_end() -> None:
    with running(body_limit=1000) as server, server.connect() as one:
        head = b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Length: %d\r\n\r\n"
        one.sendall(head % (1 << 40))
        assert answered(one)[0] == 413
        sent = 0
        with contextlib.suppress(ConnectionError):
            while sent < 1 << 28:
                sent += one.send(b"x" * 65536)
        assert sent < 1 << 28


def test_a_chunked_body_is_measured_too() -> None:
    with running(body_limit=1000) as server, server.connect() as one:
        one.sendall(
            b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n" + b"400\r\n" + b"x" * 0x400 + b"\r\n"
        )
        assert answered(one)[0] == 413


def test_a_flood_of_headers_is_refused() -> None:
    with running(header_limit=2000) as server, server.connect() as one:
        flood = b"".join(b"X-%d: y\r\n" % number for number in range(1000))
        with contextlib.suppress(ConnectionError):
            one.sendall(b"GET / HTTP/1.1\r\nHost: a\r\n" + flood)
        found = received(one)
        assert not found or found.startswith(b"HTTP/1.1 400 ")
        with httpx.Client() as other:
            assert other.get(f"{server.url}/health").status_code == 200


def test_what_is_not_http_is_refused_in_json() -> None:
    with running() as server, server.connect() as one:
        one.sendall(b"\x16\x03\x01 hello\r\n\r\n")
        found = received(one)
        assert found.startswith(b"HTTP/1.1 400 ")
        assert json.loads(found.partition(b"\r\n\r\n")[2]) == {
            "error": "Invalid HTTP request received."
        }


def test_a_client_that_leaves_is_dropped_from_the_queue() -> None:
    one = model()
    fake(one).gate.clear()
    with running(one, lanes=1) as server:
        first = server.connect()
        first.sendall(request("first"))
        wait_for(lambda: fake(one).rounds)
        queue = queue_of(server.app)
        with server.connect() as leaving:
            leaving.sendall(request("nobody waits for this"))
            wait_for(lambda: queue.waiting)
        wait_for(lambda: not queue.waiting)
        fake(one).gate.set()
        assert answered(first)[0] == 200
        first.close()
    assert fake(one).rounds == [["first"]]


def test_a_client_that_takes_no_answer_is_cut_off() -> None:
    """The second answer waits for the first to be taken, and nothing is kept for ever."""
    large = {"body_limit": 1 << 24, "char_limit": 1 << 24, "keep_alive": 60.0}
    with running(read_timeout=0.05, **large) as server, socket.socket() as greedy:
        greedy.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
        greedy.settimeout(LATER)
        greedy.connect(("127.0.0.1", server.port))
        body = json.dumps({"q": "x" * (8 << 20), "source": "en", "target": "en"}).encode()
        head = b"POST /translate HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
        greedy.sendall(head + b"Content-Length: %d\r\n\r\n" % len(body) + body + request())
        wait_for(lambda: not server.server.server_state.connections)


def test_a_slow_client_that_does_take_its_answer_gets_all_of_it() -> None:
    large = {"body_limit": 1 << 24, "char_limit": 1 << 24}
    with running(read_timeout=LATER, **large) as server, server.connect() as one:
        one.sendall(request("x" * (2 << 20)).replace(b'"ko"', b'"en"'))
        status, _, body = answered(one)
        assert (status, len(body)) == (200, (2 << 20) + len('{"translatedText":""}'))


def test_too_many_connections_are_told_to_come_later() -> None:
    with running(connections=2) as server, contextlib.ExitStack() as open_ones:
        held = [open_ones.enter_context(server.connect()) for _ in range(2)]
        wait_for(lambda: len(server.server.server_state.connections) == 2)
        with server.connect() as third:
            third.sendall(request())
            found = received(third)
        assert found.startswith(b"HTTP/1.1 503 ")
        assert b"\r\nretry-after: 1\r\n" in found.lower()
        assert b"Slowdown: too many connections, try again in 1 s" in found
        held[0].sendall(request())
        assert answered(held[0])[0] == 200
        more = [open_ones.enter_context(server.connect()) for _ in range(4)]
        wait_for(lambda: len(server.server.server_state.connections) <= 4)
        assert received(more[-1]) == b""


def stop(server: Running) -> None:
    """What SIGTERM does."""
    server.server.should_exit = True


def test_when_it_stops_what_was_accepted_is_answered_and_no_one_new_is_let_in() -> None:
    one = model()
    fake(one).gate.clear()
    with running(one) as server, server.connect() as held:
        held.sendall(request("held"))
        wait_for(lambda: fake(one).rounds)
        stop(server)

        def refused() -> bool:
            try:
                server.connect().close()
            except OSError:
                return True
            return False

        wait_for(refused)
        fake(one).gate.set()
        status, headers, body = answered(held)
        assert (status, json.loads(body)) == (200, {"translatedText": "ko:held"})
        assert headers["connection"] == "close"
        assert received(held) == b""


def test_a_request_on_its_way_when_the_server_stops_is_answered(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(connections, "LINGER", LATER)
    with running() as server, server.connect() as idle, server.connect() as half:
        idle.sendall(request("first"))
        assert answered(idle)[0] == 200
        half.sendall(request("half")[:40])
        wait_for(lambda: len(server.server.server_state.connections) == 2)
        stop(server)
        wait_for(lambda: all(c._stopping for c in server.server.server_state.connections))
        idle.sendall(request("on its way"))
        half.sendall(request("half")[40:])
        for one, text in ((idle, "on its way"), (half, "half")):
            status, headers, body = answered(one)
            assert (status, json.loads(body)) == (200, {"translatedText": f"ko:{text}"})
            assert headers["connection"] == "close"
            assert received(one) == b""


def test_an_idle_connection_does_not_hold_the_server_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connections, "LINGER", 0.01)
    with running(keep_alive=20.0) as server, server.connect() as idle:
        idle.sendall(request())
        assert answered(idle)[0] == 200
        stop(server)
        assert received(idle) == b""


def test_many_clients_at_once_lose_nothing() -> None:
    def talk(number: int) -> None:
        with httpx.Client(timeout=LATER) as web:
            for turn in range(3):
                texts = [f"{number} {turn} {line}" for line in range(4)]
                body = {"q": texts, "source": "en", "target": "ko"}
                answer = web.post(f"{server.url}/translate", json=body)
                if answer.json() == {"translatedText": [f"ko:{text}" for text in texts]}:
                    right.append(number)

    right: list[int] = []
    with running() as server:
        crowd = [threading.Thread(target=talk, args=(number,)) for number in range(8)]
        for one in crowd:
            one.start()
        for one in crowd:
            one.join()
    assert len(right) == 24
