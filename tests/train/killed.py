"""A training that is killed again and again, in forks of one process that has torch loaded.

Every write, every rename and every step is a moment to be killed at. The first line says how often
an uninterrupted run has such a moment; then a kill at each of the moments given, and a run to the
end.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch

from heedful.train import loop, report
from heedful.verbs.train import Request, train

SETTINGS = {
    "model": {
        "d_model": 16,
        "d_ff": 24,
        "n_heads": 2,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "dropout": 0.2,
    },
    "tokenizer": {"vocab_size": 400, "regularisation": 0.1},
    "data": {"batch_tokens": 1100},
    "train": {
        "steps": 24,
        "evaluate_every": 5,
        "average": 2,
        "log_every": 3,
        "patience": 50,
        "schedule": "linear",
        "lr": 0.01,
        "warmup": 4,
    },
}


class Moments:
    """Counts moments, and kills this process at one of them."""

    def __init__(self, fatal: int | None) -> None:
        self.count, self.fatal = 0, fatal

    def before(self, owner: Any, name: str) -> None:
        """Have a moment before every call of a function, and one after it."""
        plain: Callable[..., Any] = getattr(owner, name)

        def called(*given: Any, **named: Any) -> Any:
            self.pass_by()
            found = plain(*given, **named)
            self.pass_by()
            return found

        setattr(owner, name, called)

    def pass_by(self) -> None:
        self.count += 1
        if self.count == self.fatal:
            os.kill(os.getpid(), signal.SIGKILL)


def run(files: tuple[Path, Path], output: Path, fatal: int | None) -> int:
    """Train; give how many moments there were."""
    moments = Moments(fatal)
    for owner, name in (
        *((os, name) for name in ("replace", "fsync", "unlink", "ftruncate")),
        *((Path, name) for name in ("write_bytes", "mkdir")),
        (report.LogFile, "_append"),
        (loop.Trainer, "step"),
    ):
        moments.before(owner, name)
    torch.set_num_threads(1)
    train(Request(files=files, output=output, settings=SETTINGS, threads=1))
    return moments.count


def child(files: tuple[Path, Path], output: Path, fatal: int | None) -> int:
    """Run in a fork; give the moments of a run that lived, or 0."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        code = 1
        try:
            os.write(writer, str(run(files, output, fatal)).encode())
            code = 0
        except BaseException:
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(writer)
    told = os.read(reader, 20)
    os.close(reader)
    _, status = os.waitpid(pid, 0)
    if os.WIFSIGNALED(status):
        return 0
    assert status == 0, status
    return int(told)


def main(folder: Path, kills: int, seed: int) -> None:
    files = folder / "a.en", folder / "a.fr"
    total = child(files, folder / "whole", None)
    print(total, flush=True)
    chance = random.Random(seed)
    done = 0
    while done < kills:
        # Mostly soon, so that there is something left to kill; now and then far ahead.
        fatal = chance.randint(1, total if chance.random() < 0.2 else total // 6)
        if child(files, folder / "parts", fatal):
            shutil.rmtree(folder / "parts")  # it lived to the end: begin again
        else:
            done += 1
    assert child(files, folder / "parts", None)
    print(done, flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))
