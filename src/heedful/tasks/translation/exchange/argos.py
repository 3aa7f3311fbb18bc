"""Argos Translate: one `.argosmodel` file, a zip of a CTranslate2 model and its pieces."""

from __future__ import annotations

import json
import tempfile
import zipfile
from pathlib import Path

from heedful import files
from heedful.data.languages import language_name
from heedful.data.tokenizer import JOINT
from heedful.errors import InterchangeError
from heedful.models.folder import CARD, Folder
from heedful.tasks.translation.exchange.ctranslate2 import convert
from heedful.tasks.translation.settings import Settings

ENDING = ".argosmodel"
BEGINNING_OF_TIME = (1980, 1, 1, 0, 0, 0)
"""The date of every file in the zip, so that the same model makes the same package."""


def write_argos(folder: Folder[Settings], output: Path) -> None:
    """Write a package that Argos Translate installs; `output` is a file, or a folder for it."""
    source, target = folder.settings.source, folder.settings.target
    for side, code in (("source", source), ("target", target)):
        if code == "und":
            raise InterchangeError(
                f"{folder.path} does not say what its {side} language is; Argos goes by it: "
                f'put {side} = "..." into a training with --{"from" if side == "source" else "to"}'
            )
    if JOINT not in folder.tokenizer:
        raise InterchangeError(
            f"{folder.path} splits its two languages with two models; Argos has room for one"
        )
    name = f"translate-{source}_{target}-1_0"
    if output.suffix != ENDING:
        output = output / f"{name}{ENDING}"
    if output.exists():
        raise InterchangeError(f"{output} is there already; choose another name")
    metadata = {
        "package_version": "1.0",
        "argos_version": "1.5",
        "from_code": source,
        "from_name": language_name(source),
        "to_code": target,
        "to_name": language_name(target),
    }
    card = folder.path / CARD
    parts = {
        "metadata.json": json.dumps(metadata, ensure_ascii=False, indent=2).encode(),
        "sentencepiece.model": folder.tokenizer[JOINT],
        "README.md": card.read_bytes() if card.is_file() else b"",
    }
    try:
        output.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise files.not_written(output, error) from error
    with tempfile.TemporaryDirectory() as made, files.replacing(output) as temporary:
        convert(folder, Path(made))
        parts |= {f"model/{p.name}": p.read_bytes() for p in sorted(Path(made).iterdir())}
        with zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as package:
            for part, data in parts.items():
                package.writestr(zipfile.ZipInfo(f"{name}/{part}", BEGINNING_OF_TIME), data)
