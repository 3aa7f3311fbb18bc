"""Requests made up from our own OpenAPI document, by a tool that breaks servers with such."""

import os
import re
import subprocess
import sys
from pathlib import Path

import httpx
import measuring
import pytest
from serve_case import model, running

from heedful.tasks import registry
from model_case import make

CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,"
CHECKS += "response_schema_conformance"


def judged(url: str, examples: int, folder: Path, seed: int = 1) -> str:
    """Let schemathesis ask and judge; gives what it said."""
    tool = Path(sys.executable).parent / "schemathesis"
    done = subprocess.run(
        [
            *(str(tool), "--no-color", "run", f"{url}/openapi.json", "--seed", str(seed)),
            *("--max-examples", str(examples), "--checks", CHECKS, "--request-timeout", "30"),
        ],
        cwd=folder,
        capture_output=True,
        text=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def counted(url: str) -> dict[str, int]:
    """Answers by status, as the server counted them."""
    found: dict[str, int] = {}
    for status, count in re.findall(
        r'^heedful_requests_total\{[^}]*status="(\d+)"\} (\d+)',
        httpx.get(f"{url}/metrics").text,
        re.MULTILINE,
    ):
        found[status] = found.get(status, 0) + int(count)
    return found


def test_generated_requests_find_no_server_error_and_no_untold_answer(tmp_path: Path) -> None:
    with running() as served:
        judged(served.url, 5, tmp_path)
        answers = counted(served.url)
    assert sum(answers.values()) > 100
    assert not [status for status in answers if status.startswith("5")]


def test_so_it_is_with_models_of_several_tasks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    task = measuring.task(show=measuring.show, reply=lambda used, inputs, options: inputs)
    monkeypatch.setitem(registry._registered, "measuring", task)
    rule = measuring.make(tmp_path, "rule")
    for models in ((rule,), (rule, model())):
        with running(*models) as served:
            judged(served.url, 5, tmp_path)
            answers = counted(served.url)
        assert sum(answers.values()) > 50
        assert not [status for status in answers if status.startswith("5")]


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_ten_thousand_generated_requests_leave_the_memory_level(tmp_path: Path) -> None:
    """On a real model: no 5xx, no hang, memory after all within 5 % of that after the first."""
    folder = make(tmp_path / "model")
    command = [sys.executable, "-m", "heedful", "serve", str(folder.path), "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            url = next(
                found[1] for line in process.stderr if (found := re.search(r"(http://\S+)/;", line))
            )

            def resident() -> int:
                status = Path(f"/proc/{process.pid}/status").read_text()
                return int(re.search(r"VmRSS:\s+(\d+)", status)[1])  # type: ignore[index]

            levels: list[int] = []
            while sum(counted(url).values()) < 10_000:
                judged(url, 100, tmp_path, seed=1 + len(levels))
                levels.append(resident())
                print(f"{sum(counted(url).values()):,} requests, resident {levels[-1]:,} kB")
            answers = counted(url)
            print(answers)
            assert not [status for status in answers if status.startswith("5")]
            assert levels[-1] <= 1.05 * levels[0]
        finally:
            process.terminate()
