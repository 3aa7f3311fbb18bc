"""What a person asked of `heedful train`, and whether the output folder is free for it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from heedful.errors import ModelFolderError

__all__ = [
    "LIMITS",
    "Request",
    "free",
    "leaving_nothing_half_made",
    "make_folder",
    "same_request",
]

LIMITS = ("steps", "epochs", "minutes")
"""Settings that say when to stop: a training goes on under others than it began with."""


@dataclass(frozen=True)
class Request:
    """What a person asked for; the same request on the same folder goes on with its training."""

    files: tuple[Path, ...]
    output: Path
    dev: tuple[Path, ...] = ()
    test: tuple[Path, ...] = ()
    source: str | None = None
    target: str | None = None
    columns: tuple[str, str] | None = None
    encoding: str = "utf-8"
    settings: dict[str, Any] | None = None
    """Raw settings: preset, recipe and overrides, merged."""
    device: str = "auto"
    threads: int = 0

    def key(self) -> dict[str, Any]:
        """What must be the same for a training to be continued."""
        raw = json.loads(json.dumps(self.settings or {}))
        for limit in LIMITS:
            raw.get("train", {}).pop(limit, None)
        if not raw.get("train", True):
            del raw["train"]
        return {
            "files": [str(f.absolute()) for f in self.files],
            "dev": [str(f.absolute()) for f in self.dev],
            "source": self.source,
            "target": self.target,
            "columns": list(self.columns) if self.columns else None,
            "encoding": self.encoding,
            "settings": raw,
        }


@contextmanager
def leaving_nothing_half_made(output: Path) -> Iterator[None]:
    """Remove what a failed preparation wrote; what was there before is left alone."""
    run = output / "run"
    made = [path for path in (run, output, *output.parents) if not path.exists()]
    try:
        yield
    except BaseException:
        if run in made:
            shutil.rmtree(run, ignore_errors=True)
        if output in made:
            shutil.rmtree(output, ignore_errors=True)
        for parent in made[2:]:
            with suppress(OSError):
                parent.rmdir()
        raise


def free(output: Path) -> None:
    """See that nothing is in the way; what a killed preparation left is cleared away."""
    if output.exists() and (
        not output.is_dir() or any(entry.name != "run" for entry in output.iterdir())
    ):
        raise ModelFolderError(
            f"{output} exists and is not a Heedful model folder; choose another folder with -o"
        )
    if (output / "run" / "request.json").exists():
        shutil.rmtree(output / "run")
    elif (output / "run").exists():
        raise ModelFolderError(
            f"{output} has a folder run that is not Heedful's; choose another folder with -o"
        )


def same_request(request: Request, kept: Path) -> None:
    """Refuse a folder whose model was asked for with other files or settings."""
    if not kept.exists():
        raise ModelFolderError(
            f"{request.output} holds a model that was not trained here; choose another folder "
            f"with -o"
        )
    old, new = json.loads(kept.read_text(encoding="utf-8")), request.key()
    for name in new:
        if old.get(name) != new[name]:
            raise ModelFolderError(
                f"{request.output} holds a model trained with other {name} "
                f"({_short(old.get(name))}, now {_short(new[name])}); choose another folder "
                f"with -o, or repeat the command it was trained with to go on"
            )


def _short(value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(Path(v).name for v in value)
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."


def make_folder(path: Path) -> None:
    """Make a folder and those it is in."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelFolderError(
            f"{path} cannot be made: {error.strerror}; choose a folder that can be written with -o"
        ) from error
