"""Writing a file so that it is either the old one or the new one, never half of each.

What is written goes into a temporary folder beside the file, is forced to the disk, and takes the
file's place in one step. A kill at any moment leaves the old file, and perhaps a temporary folder
that `sweep` clears away.
"""

from __future__ import annotations

import errno
import glob
import hashlib
import json
import os
import re
import secrets
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.errors import InterchangeError, ModelFolderError

if TYPE_CHECKING:
    from torch import Tensor

FULL = {errno.ENOSPC, errno.EDQUOT}
FORBIDDEN = {errno.EACCES, errno.EPERM, errno.EROFS}


def write(path: str | Path, data: bytes | str) -> None:
    """Replace a file, or make it; text is written as UTF-8 with no change of its line ends."""
    content = data.encode() if isinstance(data, str) else data
    with replacing(path, len(content)) as temporary:
        temporary.write_bytes(content)


UNSEALED = "0" * 64
SEAL = re.compile(rb'\{\n  "sha256": "([0-9a-f]{64})"')


def write_sealed(path: str | Path, facts: Mapping[str, Any]) -> None:
    """Write JSON whose first entry is the sha256 of all the rest: any damage will show."""
    text = json.dumps({"sha256": UNSEALED, **facts}, ensure_ascii=False, indent=2) + "\n"
    write(path, text.replace(UNSEALED, hashlib.sha256(text.encode()).hexdigest(), 1))


def read_sealed(path: str | Path) -> dict[str, Any]:
    """Read what `write_sealed` wrote; a file that differs by one byte is refused."""
    try:
        data = Path(path).read_bytes()
    except FileNotFoundError:
        raise ModelFolderError(f"{path} is missing; restore it or train again") from None
    except OSError as error:
        raise not_read(path, error) from error
    seal = SEAL.match(data)
    blank = data.replace(seal[1], UNSEALED.encode(), 1) if seal else b""
    if seal is None or hashlib.sha256(blank).hexdigest().encode() != seal[1]:
        raise ModelFolderError(
            f"{path} is damaged: it is not what was written; restore it or train again"
        )
    facts: dict[str, Any] = json.loads(data)
    del facts["sha256"]
    return facts


def save_tensors(
    path: Path, tensors: Mapping[str, Tensor], notes: Mapping[str, str] | None = None
) -> None:
    """Write a safetensors file, without a second copy in memory; a full disk is an OSError."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    ready = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    try:
        save_file(ready, path, dict(notes or {}))
    except SafetensorError as error:
        number = re.search(r"os error (\d+)", str(error))
        raise OSError(int(number[1]) if number else 0, str(error)) from error


def load_tensors(path: Path) -> dict[str, Tensor]:
    """Read a safetensors file of another tool."""
    from safetensors import SafetensorError
    from safetensors.torch import load_file

    try:
        return load_file(path)
    except SafetensorError as error:
        raise InterchangeError(f"{path} is not a safetensors file: {error}") from error
    except OSError as error:
        raise not_read(path, error) from error


@contextmanager
def _temporary(path: Path) -> Iterator[Path]:
    """Give a folder beside `path` to move a finished file out of; it is gone at the end."""
    folder = path.parent / f".{path.name}.{secrets.token_hex(4)}.tmp"
    try:
        folder.mkdir()
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    force(path.parent)


@contextmanager
def making(path: str | Path) -> Iterator[Path]:
    """Give a folder to fill; when the block ends well it becomes `path`, otherwise it is gone.

    `path` may be an empty folder that is there already, and nothing else.
    """
    path = Path(path)
    try:
        if path.exists() and (not path.is_dir() or any(path.iterdir())):
            raise InterchangeError(f"{path} is there already; choose a new or empty folder")
        path.parent.mkdir(parents=True, exist_ok=True)
        with _temporary(path) as folder:
            yield folder
            for entry in folder.rglob("*"):
                if entry.is_file():
                    force(entry)
            if path.exists():
                path.rmdir()
            os.rename(folder, path)
    except OSError as error:
        raise not_written(path, error) from error


@contextmanager
def replacing(path: str | Path, size: int = 0) -> Iterator[Path]:
    """Give a path to write to; when the block ends well, what is there becomes `path`.

    It is a folder that is temporary rather than the file, because libraries that write files make
    temporary ones of their own. `size` is how much will be written, to be told if it does not fit.
    """
    path = Path(path)
    try:
        with _temporary(path) as folder:
            temporary = folder / path.name
            yield temporary
            # The folder's mode follows the umask; a library may have made the file for us alone.
            temporary.chmod(folder.stat().st_mode & 0o666)
            force(temporary)
            os.replace(temporary, path)
    except OSError as error:
        raise not_written(path, error, size) from error


@contextmanager
def held(path: str | Path) -> Iterator[bool]:
    """Hold a lock file inside a `with`, after whoever holds it now: a killed process holds none.

    Gives False where the system has no such locks (Windows, some network drives).
    """
    with open(path, "ab") as file:
        locked = False
        with suppress(ImportError, OSError):
            import fcntl

            fcntl.flock(file, fcntl.LOCK_EX)
            locked = True
        yield locked


def sweep(path: str | Path) -> None:
    """Clear away what killed writers of this file left behind; no one may be writing it now."""
    path = Path(path)
    for left in path.parent.glob(f".{glob.escape(path.name)}.*.tmp"):
        shutil.rmtree(left, ignore_errors=True)


def sha256(path: str | Path) -> str:
    """Give the hexadecimal SHA-256 of a file."""
    try:
        with open(path, "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise not_read(path, error) from error


def check(folder: str | Path, digests: Mapping[str, str]) -> None:
    """Refuse a folder of which one of these files is missing or has changed by a byte."""
    for name, digest in digests.items():
        path = Path(folder) / name
        if not path.exists():
            raise ModelFolderError(f"{path} is missing; restore it or train again")
        if sha256(path) != digest:
            raise ModelFolderError(
                f"{path} is damaged: it is not what was written; restore it or train again"
            )


def not_read(path: str | Path, error: OSError) -> ModelFolderError:
    """Put into one line why a file or folder could not be read."""
    return ModelFolderError(
        f"{path} cannot be read: {error.strerror or error}; check it and its permissions"
    )


def not_written(path: str | Path, error: OSError, size: int = 0) -> ModelFolderError:
    """Put into one line why a file could not be written and what to do about it."""
    reason, remedy = error.strerror or str(error), "choose another folder"
    if error.errno in FULL:
        free = 0
        with suppress(OSError):
            free = shutil.disk_usage(Path(path).parent).free
        need = f"{_amount(size)} needed, " if size else ""
        reason = f"the disk is full ({need}{_amount(free)} free)"
        remedy = "free some space or choose another folder"
    elif error.errno == errno.EFBIG:
        reason = f"the system allows no file so large ({_amount(size)} needed)"
        remedy = "raise the limit or choose another folder"
    elif error.errno in FORBIDDEN:
        reason = f"the folder is not writable ({error.strerror})"
        remedy = "change its permissions or choose another folder"
    return ModelFolderError(f"{path} cannot be written: {reason}; {remedy}")


def _amount(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"


def force(path: Path) -> None:
    """Make the disk hold what was written; a new name in a folder is forced like a file."""
    is_folder = path.is_dir()
    try:
        handle = os.open(path, os.O_RDONLY if is_folder else os.O_RDWR)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
    except OSError:
        if not is_folder:  # Windows and some network drives force no folder; the file is safe
            raise


def make_folder(path: Path) -> None:
    """Make a folder and its parents."""
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ModelFolderError(
            f"{path} cannot be made: {error.strerror}; choose a folder that can be written with -o"
        ) from error
