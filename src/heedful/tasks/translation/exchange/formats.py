"""The formats of other tools that a translation model can be written in, and read from."""

from __future__ import annotations

from pathlib import Path

from heedful.tasks.contract import Format
from heedful.tasks.translation.model import open_folder

__all__ = ["FORMATS"]


def _huggingface(model: Path, output: Path) -> None:
    from heedful.tasks.translation.exchange.huggingface import write_huggingface

    write_huggingface(open_folder(model), output)


def _from_huggingface(path: Path, output: Path) -> None:
    from heedful.tasks.translation.exchange.huggingface import read_huggingface

    read_huggingface(path, output)


def _ctranslate2(model: Path, output: Path) -> None:
    from heedful.tasks.translation.exchange.ctranslate2 import write_ctranslate2

    write_ctranslate2(open_folder(model), output)


def _argos(model: Path, output: Path) -> None:
    from heedful.tasks.translation.exchange.argos import write_argos

    write_argos(open_folder(model), output)


def _onnx(model: Path, output: Path) -> None:
    from heedful.tasks.translation.exchange.onnx import write_onnx

    write_onnx(open_folder(model), output)


FORMATS = {
    "huggingface": Format(write=_huggingface, read=_from_huggingface),
    "ctranslate2": Format(write=_ctranslate2),
    "argos": Format(write=_argos),
    "onnx": Format(write=_onnx),
}
