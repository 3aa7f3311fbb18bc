"""`heedful serve`: what it is told, what it says, how it ends."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from serve_case import LATER, model, wait_for
from typer.testing import CliRunner

from heedful.cli.main import build
from heedful.errors import ConfigError, HeedfulError
from heedful.serve import run
from heedful.serve.keys import Keys
from heedful.serve.options import ServeOptions

HERE = Path(__file__).parent


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the verb behind the command was given."""
    found: dict[str, Any] = {}

    def serve(models: tuple[Path, ...], options: ServeOptions, note: object) -> None:
        found.update(models=models, options=options)

    monkeypatch.setattr(run, "serve", serve)
    return found


def call(*arguments: object) -> str:
    done = CliRunner().invoke(build(), ["serve", *map(str, arguments)])
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    assert done.exit_code == 0, done.output
    return str(done.output)


def test_without_options_everything_is_as_safe_as_it_can_be(told: dict[str, Any]) -> None:
    call("one", "two")
    assert told["models"] == (Path("one"), Path("two"))
    assert told["options"] == ServeOptions()
    assert told["options"].host == "127.0.0.1"
    assert (told["options"].cors, told["options"].keys) == ((), None)


def test_every_option_arrives(told: dict[str, Any], tmp_path: Path) -> None:
    keys = tmp_path / "keys"
    keys.write_text("# ours\n\nfirst-key-1\n 두번째열쇠입니다 \n", encoding="utf-8")
    call(
        *("m", "--host", "0.0.0.0", "--port", 8080, "--prefix", "/t/", "--beam", 2, "--log"),
        *("--cors", "https://a.example", "--cors", "https://b.example", "--api-key-file", keys),
        *("--engine", "torch", "--compute", "int8", "--threads", 3, "--char-limit", 10),
        *("--batch-limit", 11, "--body-limit", 12, "--file-limit", 13, "--timeout", 1.5),
        *("--queue", 14, "--client-limit", 15, "--connections", 16),
    )
    found = told["options"]
    assert (found.host, found.port, found.prefix) == ("0.0.0.0", 8080, "/t")
    assert found.own == {"beam": 2}
    assert found.cors == ("https://a.example", "https://b.example")
    assert (found.engine, found.compute, found.threads) == ("torch", "int8", 3)
    assert (found.char_limit, found.batch_limit, found.body_limit) == (10, 11, 12)
    assert (found.file_limit, found.timeout, found.queue) == (13, 1.5, 14)
    assert (found.client_limit, found.connections, found.access_log) == (15, 16, True)
    assert found.keys.know("first-key-1")
    assert found.keys.know("두번째열쇠입니다")
    assert not found.keys.know("# ours")


def test_a_key_is_made_up_and_told(told: dict[str, Any]) -> None:
    output = call("m", "--require-key")
    match = re.fullmatch(r"the key is (\S{32})\n", output)
    assert match is not None, output
    assert told["options"].keys.know(match[1])
    assert len(told["options"].keys) == 1


def test_mistakes_are_told_before_a_model_is_loaded(tmp_path: Path) -> None:
    empty, short = tmp_path / "empty", tmp_path / "short"
    empty.write_text("# none\n")
    short.write_text("12345678\n1234\n")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        for arguments, text in (
            (
                ("--api-key-file", empty, "--require-key"),
                "--api-key-file and --require-key: give one; a file's keys are required",
            ),
            (("--api-key-file", empty), f"{empty} holds no key; expected one a line"),
            (
                ("--api-key-file", short),
                f"key 2 of {short} can be guessed; expected 8 characters or more",
            ),
            (
                ("--port", port),
                f"cannot listen on 127.0.0.1 port {port}: Address already in use; "
                "choose another --host or --port",
            ),
        ):
            with pytest.raises(ConfigError) as wrong:
                call("no-such-model", *arguments)
            assert str(wrong.value) == text
    with pytest.raises(ConfigError, match=r"^the keys in .*nothing cannot be read: "):
        Keys.read(tmp_path / "nothing")
    with pytest.raises(ConfigError, match=r"^host 'no such host' is no address of this machine: "):
        run.listen(ServeOptions(host="no such host", port=0))
    with pytest.raises(HeedfulError):
        call("no-such-model", "--port", 0)


def test_what_is_served_and_where_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    class Server:
        def run(self, sockets: list[socket.socket]) -> None:
            assert sockets[0].fileno() >= 0

    said: list[str] = []
    monkeypatch.setattr(run, "make_server", lambda app, options: Server())
    monkeypatch.setattr(signal, "signal", lambda *given: None)
    before = sys.getswitchinterval()
    try:
        models = [model(name="하나"), model("ko", "en", "둘"), model(name="셋")]
        run.serve(models, ServeOptions(port=0, prefix="/t"), said.append)
    finally:
        sys.setswitchinterval(before)
    assert said[:3] == [
        "셋 is not used: 하나 translates en to ko already",
        "하나: en to ko",
        "둘: ko to en",
    ]
    assert re.fullmatch(r"serving on http://127\.0\.0\.1:\d+/t/; Ctrl-C ends it", said[3])


@contextlib.contextmanager
def process(folder: Path) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The server in a process of its own, and where it listens."""
    paths = [str(HERE), *filter(None, [os.environ.get("PYTHONPATH")])]
    started = subprocess.Popen(
        [sys.executable, str(HERE / "serving.py"), str(folder)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
    )
    try:
        assert started.stdout is not None
        assert started.stderr is not None
        for line in started.stdout:
            if line.startswith("serving on "):
                yield started, line.split()[2].rstrip(";/")
                break
        else:
            pytest.fail(started.stderr.read())
    finally:
        started.kill()
        started.communicate()


def test_sigterm_loses_no_accepted_request_and_ends_with_0(tmp_path: Path) -> None:
    answers: list[httpx.Response] = []

    def talk(number: int) -> None:
        with httpx.Client(timeout=2 * LATER) as web:
            body = {"q": f"text {number}", "source": "en", "target": "ko"}
            answers.append(web.post(f"{url}/translate", json=body))

    with process(tmp_path) as (server, url):
        port = int(url.rsplit(":", 1)[1])
        crowd = [threading.Thread(target=talk, args=(number,)) for number in range(6)]
        for one in crowd:
            one.start()
        wait_for((tmp_path / "begun").exists)
        wait_for(lambda: accepted(url) == 6)
        server.send_signal(signal.SIGTERM)
        wait_for(lambda: is_closed(port))
        assert answers == []
        (tmp_path / "go").touch()
        for one in crowd:
            one.join(2 * LATER)
        assert server.wait(2 * LATER) == 0
        assert server.stderr is not None
        assert server.stderr.read() == ""
    assert sorted(answer.json()["translatedText"] for answer in answers) == [
        f"ko:text {number}" for number in range(6)
    ]
    assert {answer.status_code for answer in answers} == {200}


def accepted(url: str) -> int:
    """Requests for a translation that are under way."""
    with httpx.Client(timeout=LATER) as web:
        text = web.get(f"{url}/metrics").text
    match = re.search(r'heedful_under_way\{path="/translate"\} (\d+)', text)
    return int(match[1]) if match else 0


def is_closed(port: int) -> bool:
    try:
        socket.create_connection(("127.0.0.1", port), timeout=LATER).close()
    except OSError:
        return True
    return False


def test_it_serves_its_page_until_it_is_interrupted(tmp_path: Path) -> None:
    (tmp_path / "go").touch()
    with process(tmp_path) as (server, url):
        assert json.loads(httpx.get(f"{url}/health").text) == {"status": "ok"}
        assert httpx.get(f"{url}/").headers["content-type"] == "text/html; charset=utf-8"
        server.send_signal(signal.SIGINT)
        assert server.wait(LATER) != 0
