"""The options several commands share, each said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

__all__ = [
    "Columns",
    "Compute",
    "Dev",
    "Encoding",
    "Engine",
    "Files",
    "From",
    "Minutes",
    "Model",
    "Output",
    "Recipe",
    "Seed",
    "Set",
    "Test",
    "Threads",
    "To",
]

Columns = Annotated[
    str | None,
    typer.Option(help="Columns of a TSV (2,3) or keys of a JSONL (ko,en); source first."),
]
Compute = Annotated[
    str, typer.Option(help="float32, or int8: faster on CTranslate2, a few words change.")
]
Dev = Annotated[
    list[Path] | None, typer.Option(help="Development text: two files, or a TSV or JSONL.")
]
Encoding = Annotated[str, typer.Option(help="How the files are written.")]
Engine = Annotated[
    str, typer.Option(help="auto, torch or ctranslate2; auto takes CTranslate2 where it can.")
]
Files = Annotated[
    list[Path],
    typer.Argument(help="Source and target file (two by two), or TSV or JSONL files; .gz too."),
]
From = Annotated[str | None, typer.Option("--from", help="Source language code, such as ko.")]
Minutes = Annotated[
    float | None, typer.Option(help="Time for the whole command, scoring included.")
]
Model = Annotated[Path, typer.Argument(help="The model folder.")]
Output = Annotated[Path, typer.Option("--output", "-o", help="The model folder to make.")]
Recipe = Annotated[Path | None, typer.Option(help="A TOML file of settings, laid over the preset.")]
Seed = Annotated[int | None, typer.Option(help="Everything random follows from it.")]
Set = Annotated[
    list[str] | None, typer.Option("--set", help="One setting, such as train.steps=200.")
]
Test = Annotated[
    list[Path] | None,
    typer.Option(help="Test text, only scored at the end: two files, a TSV or JSONL."),
]
Threads = Annotated[int, typer.Option(help="CPU threads; 0 takes all.")]
To = Annotated[str | None, typer.Option("--to", help="Target language code.")]
