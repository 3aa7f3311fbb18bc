"""What a person asked of `heedful train`, and whether the output folder is free for it."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from heedful import config, files
from heedful.data.languages import separate_columns
from heedful.errors import ModelFolderError
from heedful.models.folder import MANIFEST, half_made
from heedful.settings import TaskSettings
from heedful.tasks.contract import Request

LIMITS = ("steps", "epochs", "minutes")
"""Settings that say when to stop."""
FREE = {
    *(f"train.{key}" for key in LIMITS),
    *(f"train.{key}" for key in ("lr", "patience", "evaluate_every", "average", "log_every")),
    "train.clip",
}
"""Settings that may change when a training is continued."""
LOCK = "lock"


def key_of(request: Request) -> dict[str, Any]:
    """Give what must be the same for a training to be continued, settings apart."""
    return {
        "files": [str(f.absolute()) for f in request.files],
        "dev": [str(f.absolute()) for f in request.dev],
        "columns": list(request.columns) if request.columns else None,
        "encoding": request.encoding,
        "parent": str(request.parent.absolute()) if request.parent else None,
        **json.loads(json.dumps(request.model_extra or {}, default=str)),
    }


# -- the request file ------------------------------------------------------------


def fingerprints(paths: Sequence[Path]) -> dict[str, dict[str, Any]]:
    """Give size, time and sha256 of each file, by which a change is noticed."""
    found = {}
    named = [separate_columns(given)[0] for given in paths]
    inside = [sorted(p.rglob("*")) if p.is_dir() else [p] for p in named]
    for path in (path for one in inside for path in one if not path.is_dir()):
        about = path.stat()
        found[str(path.absolute())] = {
            "size": about.st_size,
            "time": about.st_mtime_ns,
            "sha256": files.sha256(path),
        }
    return found


def write_request(request: Request, path: Path, prints: Mapping[str, Any]) -> None:
    """Remember what was asked for, and what the files were."""
    files.write_sealed(path, _facts(request, prints))


def same_request(request: Request, path: Path, prints: Mapping[str, Any]) -> bool:
    """Whether this very request was begun before, on these very files."""
    try:
        before = files.read_sealed(path)
    except (OSError, ModelFolderError):
        return False
    return before == _facts(request, prints)


def _facts(request: Request, prints: Mapping[str, Any]) -> dict[str, Any]:
    settings = json.loads(json.dumps(request.settings or {}))
    return {**key_of(request), "settings": settings, "fingerprints": dict(prints)}


def read_request(path: Path) -> dict[str, Any]:
    """Read what `write_request` wrote."""
    if not path.exists():
        raise ModelFolderError(
            f"{path.parent.parent} holds a model that was not trained here: {path} is missing; "
            f"choose another folder with -o"
        )
    asked = files.read_sealed(path)
    return {**asked, "settings": config.upgrade(asked["settings"])}


def changes(
    request: Request, old: Mapping[str, Any], chosen: TaskSettings
) -> tuple[Request, list[str]]:
    """Merge a request with the one a training began with; say what is new, refuse what cannot be.

    A setting that is not given is as it was, but for limits: those given now replace those before.
    `chosen` are the settings of the folder, so that naming what was chosen anyhow is no change.
    """
    again = "choose another folder with -o, or repeat the command it was trained with to go on"
    asked = key_of(request)
    elsewhere = any(asked[name] != old.get(name) for name in ("files", "dev"))
    moved = elsewhere and _moved(request, old)
    options = set(old) - {"settings", "fingerprints", "sha256"} - set(asked)
    for name in sorted(asked | dict.fromkeys(options)):
        if old.get(name) != asked.get(name) and not (moved and name in ("files", "dev")):
            raise ModelFolderError(
                f"{request.output} holds a model trained with other {name} "
                f"({_short(old.get(name))}, now {_short(asked.get(name))}); {again}"
            )
    before = old["settings"]
    now = config.upgrade(json.loads(json.dumps(request.settings or {})))
    meant, had, wanted = config.merge(before, now), _flat(before), _flat(now)
    if set(wanted) & {f"train.{key}" for key in LIMITS}:
        for key in LIMITS:
            if f"train.{key}" not in wanted:
                meant.get("train", {}).pop(key, None)
    resolved = _flat(chosen.model_dump())
    found: list[str] = []
    for name, new in sorted(_flat(meant).items()):
        one = had.get(name, resolved.get(name))
        if one == new:
            continue
        if name not in FREE:
            raise ModelFolderError(
                f"{request.output} holds a model trained with another {name} "
                f"({_short(one)}, now {_short(new)}); {again}"
            )
        found.append(f"{name}: {_short(one)} before, {_short(new)} now")
    found += [f"{n}: {had[n]} before, no limit now" for n in sorted(set(had) - set(_flat(meant)))]
    found += [] if moved else _changed_files(old["fingerprints"], again)
    return request.but(settings=meant), found


def _moved(request: Request, old: Mapping[str, Any]) -> bool:
    """Whether the files are elsewhere now, and are the same to the byte."""
    had = [print_["sha256"] for print_ in old["fingerprints"].values()]
    given = [*request.files, *request.dev]
    before = [Path(name) for name in (*old["files"], *old["dev"])]
    try:
        now = [print_["sha256"] for print_ in fingerprints(given).values()]
    except OSError:
        return False
    columns = [[separate_columns(path)[1] for path in paths] for paths in (given, before)]
    return len(request.files) == len(old["files"]) and columns[0] == columns[1] and now == had


def _changed_files(prints: Mapping[str, Mapping[str, Any]], again: str) -> list[str]:
    """Refuse a file that has changed; one that is gone is not needed any more."""
    gone = []
    for name, had in prints.items():
        path = Path(name)
        if not path.exists():
            gone.append(f"{path} is gone; what was prepared from it is still there")
            continue
        about = path.stat()
        if (about.st_size, about.st_mtime_ns) == (had["size"], had["time"]):
            continue
        if files.sha256(path) != had["sha256"]:
            raise ModelFolderError(
                f"{path} has changed since the training began (sha256 {had['sha256'][:12]}... "
                f"then); restore it, or {again}"
            )
    return gone


def _flat(table: Mapping[str, Any], above: str = "") -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in table.items():
        if isinstance(value, dict):
            found |= _flat(value, f"{above}{key}.")
        else:
            found[above + key] = value
    return found


def _short(value: Any) -> str:
    if isinstance(value, list):
        value = ", ".join(Path(v).name for v in value)
    if value is None:
        return "not given"
    text = str(value)
    return text if len(text) <= 80 else text[:77] + "..."


# -- the folder -------------------------------------------------------------------------------


@contextmanager
def locked(output: Path) -> Iterator[list[Path]]:
    """Let one run at a time train into a folder; a run that was killed leaves no lock behind.

    Gives the folders that had to be made for it, innermost first.
    """
    run = output / "run"
    made = [path for path in (run, output, *output.parents) if not path.exists()]
    files.make_folder(run)
    try:
        handle = os.open(run / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise files.not_written(run / LOCK, error) from error
    _held.add(handle)
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.ftruncate(handle, 0)
        os.write(handle, f"{os.getpid()}\n".encode())
    except BlockingIOError:
        pid = os.pread(handle, 20, 0).decode().strip()
        _close(handle)
        raise ModelFolderError(
            f"{output} is being trained by another process ({pid}); wait for it, stop it, or "
            f"choose another folder with -o"
        ) from None
    except (OSError, ImportError):
        pass  # Windows, or a network drive without locks: go on without one
    try:
        for left in run.rglob(".*.tmp"):  # by processes that were killed
            shutil.rmtree(left, ignore_errors=True)
        yield made
    finally:
        _close(handle)


_held: set[int] = set()


def _close(handle: int) -> None:
    _held.discard(handle)
    with suppress(OSError):
        os.close(handle)


def _let_go() -> None:
    """Close the locks in a forked child, which would hold them after this process has ended."""
    for handle in list(_held):
        _close(handle)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


@contextmanager
def leaving_nothing_half_made(made: Sequence[Path]) -> Iterator[None]:
    """Remove the folders made for a preparation that failed; what was there before stays.

    One that was interrupted leaves what it has, as one that was killed does, to go on from there.
    """
    try:
        yield
    except Exception:
        for number, path in enumerate(made):
            if path.name == "run" or number < 2:
                shutil.rmtree(path, ignore_errors=True)
            else:
                with suppress(OSError):
                    path.rmdir()
        raise


def free(output: Path) -> None:
    """Refuse an output folder that holds anything but a run of ours."""
    if not output.exists():
        return
    there = {e.name for e in output.iterdir()} if output.is_dir() else {"a file"}
    there = {name for name in there if not name.endswith(".tmp")}
    if there - {"run"} and (output / "run" / "request.json").exists():
        files.read_sealed(output / MANIFEST)  # our run, whose manifest is damaged or missing
    # A kill may have left the beginning of a model, or a corpus half prepared.
    if not there <= {"run"} and not half_made(output):
        raise ModelFolderError(
            f"{output} exists and is not a Heedful model folder; choose another folder with -o"
        )
    inside = {name for name in _inside(output) if not name.endswith(".tmp")}
    if inside and "request.json" not in inside:
        raise ModelFolderError(
            f"{output} has a folder run that is not Heedful's; choose another folder with -o"
        )


def clear(output: Path) -> None:
    """Remove the files of a preparation that was killed."""
    for name in [*sorted(_inside(output) - {"request.json"}), "request.json"]:
        path = output / "run" / name
        if path.is_dir():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)


def _inside(output: Path) -> set[str]:
    run = output / "run"
    return {entry.name for entry in run.iterdir()} - {LOCK} if run.is_dir() else set()
