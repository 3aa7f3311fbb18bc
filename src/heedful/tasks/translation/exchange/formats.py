"""The formats of other tools that a translation model can be written in, and read from."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from heedful.tasks.contract import Format, lazy
from heedful.tasks.translation.model import open_folder

HERE = "heedful.tasks.translation.exchange"


def _writing(place: str) -> Callable[[Path, Path], None]:
    """Give a writer of open folders as one that takes the folder's path."""
    write = lazy(f"{HERE}.{place}")
    return lambda model, output: write(open_folder(model), output)


FORMATS = {
    "huggingface": Format(
        write=_writing("huggingface:write_huggingface"),
        read=lazy(f"{HERE}.huggingface:read_huggingface"),
    ),
    "ctranslate2": Format(write=_writing("ctranslate2:write_ctranslate2")),
    "argos": Format(write=_writing("argos:write_argos")),
    "onnx": Format(write=_writing("onnx:write_onnx")),
}
