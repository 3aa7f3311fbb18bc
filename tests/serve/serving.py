"""A server in a process of its own, for tests that stop it: its translator waits for a file."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from serve_case import Fake

from heedful.serve.options import ServeOptions
from heedful.serve.run import serve
from heedful.serve.translation.directions import Served
from heedful.tasks.translation.using import Translation


class Waiting(Fake):
    """Says that it has begun, and goes on when it may."""

    def __init__(self, folder: Path) -> None:
        super().__init__()
        self.folder = folder

    def lines(self, *given: Any, **more: Any) -> Iterator[Translation]:
        (self.folder / "begun").touch()
        while not (self.folder / "go").exists():
            time.sleep(0.005)
        return super().lines(*given, **more)


if __name__ == "__main__":
    # A shell starts what runs in the background with Ctrl-C ignored, and children inherit it.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    serve(
        [Served("model", "en", "ko", Waiting(Path(sys.argv[1])))],
        ServeOptions(port=0),
        note=lambda text: print(text, flush=True),
    )
