"""`heedful export` and `heedful import`: a model for another tool, a model of another tool."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from heedful.errors import ConfigError
from heedful.models.folder import Folder

__all__ = ["FORMATS", "export_model", "import_model"]


def _huggingface(folder: Folder, output: Path) -> None:
    from heedful.interchange.huggingface import write_huggingface

    write_huggingface(folder, output)


def _ctranslate2(folder: Folder, output: Path) -> None:
    from heedful.interchange.ctranslate2 import write_ctranslate2

    write_ctranslate2(folder, output)


def _argos(folder: Folder, output: Path) -> None:
    from heedful.interchange.argos import write_argos

    write_argos(folder, output)


def _onnx(folder: Folder, output: Path) -> None:
    from heedful.interchange.onnx import write_onnx

    write_onnx(folder, output)


FORMATS: dict[str, Callable[[Folder, Path], None]] = {
    "huggingface": _huggingface,
    "ctranslate2": _ctranslate2,
    "argos": _argos,
    "onnx": _onnx,
}


def export_model(model: Path, to: str, output: Path) -> None:
    """Write a model for another tool; nothing half-written is left where that fails."""
    if to not in FORMATS:
        raise ConfigError(f"--to {to}: expected one of {', '.join(FORMATS)}")
    FORMATS[to](Folder.open(model), output)


def import_model(path: Path, output: Path) -> Folder:
    """Make a model folder of a Hugging Face MarianMT or Pegasus folder."""
    from heedful.interchange.huggingface import read_huggingface

    return read_huggingface(path, output)
