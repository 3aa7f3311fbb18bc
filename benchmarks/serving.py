"""Serving: what many clients at once get, beside the same sentences through `heedful translate`."""

from __future__ import annotations

import asyncio
import csv
import json
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from benchmarks import machine
from benchmarks.captions import captions
from benchmarks.contest import table
from benchmarks.decoding import teach
from benchmarks.sizes import Amounts

MANY = 16
"""Sentences of a large request."""
QUEUE = 2048
"""Pieces that may wait, where more are sent than that."""
HEAD = "POST /translate HTTP/1.1\r\nHost: here\r\nContent-Type: application/json\r\n"


@dataclass
class Seen:
    """What the clients saw."""

    seconds: dict[int, list[float]] = field(default_factory=dict)
    """Of every answer, by its status."""
    lost: int = 0
    """Requests sent in whole that were never answered."""
    refused: int = 0
    """Connections that the server did not take."""

    def add(self, status: int, seconds: float) -> None:
        """Note one answer."""
        self.seconds.setdefault(status, []).append(seconds)

    def wrong(self) -> int:
        """Count the answers that are no translation."""
        return sum(len(all_of) for status, all_of in self.seconds.items() if status != 200)

    def milliseconds(self, status: int, share: float) -> str:
        """Give how long a share of the answers of a status took at most."""
        found = self.seconds.get(status)
        return f"{1000 * float(np.percentile(found, share)):,.0f}" if found else "-"


def requests(text: list[str], size: int) -> list[bytes]:
    """Make the requests as they go over the wire."""
    found = []
    for start in range(0, len(text) - size + 1, size):
        part = text[start : start + size]
        body = json.dumps({"q": part if size > 1 else part[0], "source": "de", "target": "en"})
        data = body.encode()
        found.append(f"{HEAD}Content-Length: {len(data)}\r\n\r\n".encode() + data)
    return found


async def client(port: int, bodies: list[bytes], first: int, end: float, seen: Seen) -> None:
    """Ask again and again on one connection, a new one where it was closed."""
    number = first
    while time.perf_counter() < end:
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
        except OSError:
            seen.refused += 1
            return
        try:
            while time.perf_counter() < end:
                writer.write(bodies[number % len(bodies)])
                number += 1
                begun = time.perf_counter()
                head = await reader.readuntil(b"\r\n\r\n")
                size = re.search(rb"content-length: (\d+)", head, re.IGNORECASE)
                await reader.readexactly(int(size[1]) if size else 0)
                seen.add(int(head.split()[1]), time.perf_counter() - begun)
                if b"connection: close" in head.lower():
                    break
        except (OSError, asyncio.IncompleteReadError):
            seen.lost += 1
        finally:
            writer.close()


async def load(port: int, bodies: list[bytes], clients: int, seconds: float) -> Seen:
    """Let many clients ask for some time."""
    seen, end = Seen(), time.perf_counter() + seconds
    step = max(1, len(bodies) // clients)
    await asyncio.gather(*(client(port, bodies, i * step, end, seen) for i in range(clients)))
    return seen


def hey(port: int, body: bytes, clients: int, seconds: float) -> Seen | None:
    """Let the load tool `hey` ask, if it is installed: it takes less of the server's cores."""
    tool = shutil.which("hey")
    if tool is None:
        return None
    with tempfile.NamedTemporaryFile(suffix=".json") as file:
        file.write(body)
        file.flush()
        done = subprocess.run(
            [
                *(tool, "-z", f"{seconds:.0f}s", "-c", str(clients), "-t", "60", "-o", "csv"),
                *("-m", "POST", "-T", "application/json", "-D", file.name),
                f"http://127.0.0.1:{port}/translate",
            ],
            capture_output=True,
            text=True,
            check=True,
        )
    seen = Seen()
    for row in csv.DictReader(done.stdout.splitlines()):
        seen.add(int(row["status-code"]), float(row["response-time"]))
    return seen


@contextmanager
def server(path: Path, *options: str) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """Run `heedful serve` on a free port."""
    command = [sys.executable, "-m", "heedful", "serve", str(path), "--port", "0", *options]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        try:
            for line in process.stderr:
                if found := re.search(r"serving on http://[^:]+:(\d+)", line):
                    yield process, int(found[1])
                    break
            else:
                raise RuntimeError("the server did not start")
        finally:
            process.send_signal(signal.SIGTERM)
            process.wait(60)


def translate(path: Path, text: list[str]) -> float:
    """Translate a file with the command; give the seconds it took."""
    begun = time.perf_counter()
    subprocess.run(
        [sys.executable, "-m", "heedful", "translate", str(path)],
        input="\n".join(text) + "\n",
        text=True,
        capture_output=True,
        check=True,
    )
    return time.perf_counter() - begun


def run(amounts: Amounts, rates: list[float]) -> Iterator[str]:
    """Load a server in several ways, between two runs of the command."""
    text = captions(amounts.pieces, amounts.pairs, amounts.sentences)
    clients, seconds = amounts.clients, amounts.load_seconds
    many, one = requests(text.text, MANY), requests(text.text, 1)
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "model"
        made = teach(text, amounts.decoding, amounts.taught, amounts.budget, path)
        decode = made.settings.decode.model_copy(update={"max_length": amounts.steps})
        named = {"source": "de", "target": "en", "decode": decode}
        made.write_settings(made.settings.model_copy(update=named))
        translate(path, text.text[:1])  # converts it

        def by_command() -> float:
            rates.append(machine.rate())
            times = 10 if seconds > 10 else 1
            return times * len(text.text) / translate(path, times * text.text)

        commanded = [by_command()]
        with server(path) as (_, port):
            asyncio.run(load(port, many, clients, min(5.0, seconds)))
            seen = asyncio.run(load(port, many, clients, seconds))
            single = asyncio.run(load(port, one, clients, seconds / 4))
        commanded.append(by_command())
        share = f"{100 * MANY * len(seen.seconds[200]) / seconds / np.mean(commanded):.0f} %"
        rows.append(["`heedful translate`", f"{np.mean(commanded):,.0f}", "100 %", "", "", ""])
        for what, found, size, span, relative in (
            (f"{clients} clients, {MANY} sentences a request", seen, MANY, seconds, share),
            (f"{clients} clients, one sentence a request", single, 1, seconds / 4, ""),
        ):
            rate = f"{size * len(found.seconds[200]) / span:,.0f}"
            times = [found.milliseconds(200, share) for share in (50, 99)]
            rows.append([what, rate, relative, *times, str(found.wrong() + found.lost)])
        with server(path, "--queue", str(QUEUE)) as (_, port):
            span = seconds / 8
            full = asyncio.run(load(port, many, clients, span))
            by_hey = hey(port, many[0].partition(b"\r\n\r\n")[2], clients, max(1.0, span))
        with server(path) as (process, port):
            told = asyncio.run(_stopped(process, port, many, clients, seconds / 12))
    yield (
        f"Sentences of {text.name}, {amounts.steps} steps each, the same model; clients on "
        f"the same machine, {seconds:.0f} s. The command's start is in its time."
    )
    yield ""
    heads = ["", "sentences/s", "of the command", "p50, ms", "p99, ms", "errors"]
    yield from table(heads, rows)
    yield ""
    yield f"Past the limit (a queue of {QUEUE:,} pieces, {clients} clients that ask again at once):"
    yield ""
    rows = []
    for asks, one_of in (("our clients", full), ("`hey`", by_hey)):
        if one_of is None:
            rows.append([asks, "not installed", "", "", ""])
            continue
        refused = [s for status in (503, 429) for s in one_of.seconds.get(status, [])]
        answered = len(one_of.seconds.get(200, []))
        other = one_of.wrong() - len(refused) + one_of.lost
        p95 = f"{1000 * float(np.percentile(refused, 95)):,.0f}" if refused else "-"
        rows.append([asks, f"{len(refused):,}", p95, f"{answered:,}", str(other)])
    yield from table(["", "refused", "p95, ms", "answered", "other errors"], rows)
    yield ""
    yield (
        f"SIGTERM in the middle of {clients} clients: {len(told.seconds.get(200, [])):,} requests "
        f"answered, {told.lost} sent and not answered."
    )


async def _stopped(
    process: subprocess.Popen[str], port: int, bodies: list[bytes], clients: int, seconds: float
) -> Seen:
    running = asyncio.ensure_future(load(port, bodies, clients, 3 * seconds))
    await asyncio.sleep(seconds)
    process.send_signal(signal.SIGTERM)
    return await running
