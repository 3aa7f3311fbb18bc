"""A model's conversions for CTranslate2: made once, compared with torch, kept beside the model.

    ctranslate2/<fingerprint>/   model.bin, config.json, the vocabularies, and
        ready.json               sha256 of each of them, and the threads that were fastest here

The fingerprint is of everything a translation depends on, so a changed model finds no conversion
of its own and a new one is made. A conversion is written under another name and renamed when it
is complete; a damaged one is made again. Only making one loads torch, to compare the scores.
"""

from __future__ import annotations

import os
import secrets
import shutil
import time
import timeit
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful import files
from heedful.data.tokenizer import Tokenizer
from heedful.errors import InterchangeError, ModelFolderError
from heedful.machine import cores
from heedful.models.folder import Folder
from heedful.settings import DecodeSettings
from heedful.tasks.translation.corpus import development_pairs
from heedful.tasks.translation.exchange.ctranslate2 import Compute, CTranslate2Engine, convert
from heedful.tasks.translation.model import load_model, open_folder
from heedful.tasks.translation.settings import Settings

if TYPE_CHECKING:
    from heedful.models.transformer import Transformer

Note = Callable[[str], object]

VERSION = 1
"""Raised when the converter changes, so that no older conversion is used."""
TOLERANCE = 1e-4
"""How far a piece's log-probability may be from the torch engine's, on average over a sentence."""
SENTENCES = 100
"""Development sentences translated to see what int8 changes."""
COMPUTES: tuple[Compute, ...] = ("float32", "int8")
READY = "ready.json"
FOLDER = "ctranslate2"
LOCK = ".lock"
"""Held while a conversion is made, so that processes that want the same one make it once."""


def open_engine(
    folder: Folder[Settings],
    compute: Compute = "float32",
    threads: int = 0,
    say: Note = lambda text: None,
) -> CTranslate2Engine:
    """Load a model's conversion; make it first if it is missing or damaged."""
    name = _name(folder)
    homes = [folder.path / FOLDER, _user_cache()]
    for home in homes:
        stored = _ready(home / name)
        if stored is not None:
            break
    else:
        home, stored = _make(folder, name, homes, say)
    if compute == "int8":
        say(_int8_note(stored["int8"]))
    count = cores()
    if threads:
        chosen = (threads, 1)
    else:
        chosen = tuple(stored["threads"][compute]) if stored["cores"] == count else (count, 1)
    return CTranslate2Engine(home / name, folder, compute, chosen)


def _name(folder: Folder[Settings]) -> str:
    return folder.fingerprint(f"ctranslate2 {VERSION}")[:24]


def _user_cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(home) / "heedful" / FOLDER


def _ready(path: Path) -> dict[str, Any] | None:
    """Read the facts about a conversion, if all its files are there and undamaged."""
    try:
        stored = files.read_sealed(path / READY)
        whole = all(files.sha256(path / name) == seal for name, seal in stored["files"].items())
    except (ModelFolderError, OSError):
        return None
    return stored if whole else None


def _make(
    folder: Folder[Settings], name: str, homes: Sequence[Path], say: Note
) -> tuple[Path, dict[str, Any]]:
    """Convert, compare with torch, measure threads, and put the result in its place."""
    refused: OSError | None = None
    say(f"converting {folder.path} for CTranslate2, once")
    for home in homes:
        try:
            home.mkdir(parents=True, exist_ok=True)
            with files.held(home / LOCK) as alone:
                stored = _ready(home / name)  # another process may have made it meanwhile
                if stored is None:
                    _sweep(home, older=0 if alone else 3600)
                    stored = _convert(folder, home, name, say)
                    if home == homes[0]:
                        _forget_others(home, name)
        except OSError as error:
            refused = refused or error
            continue
        return home, stored
    raise InterchangeError(
        f"the conversion of {folder.path} cannot be written, neither beside it nor in {homes[-1]}: "
        f"{refused}; make one of them writable or use --engine torch"
    )


def _convert(folder: Folder[Settings], home: Path, name: str, say: Note) -> dict[str, Any]:
    """Make the conversion in a temporary folder, which is renamed once it is checked."""
    temporary = home / f".{secrets.token_hex(4)}.tmp"
    try:
        convert(folder, temporary)
        found = _prove(folder, temporary, say)
        if _name(open_folder(folder.path)) != name:
            raise InterchangeError(
                f"{folder.path} changed while it was converted; run the command again"
            )
        stored = {**found, "files": {p.name: files.sha256(p) for p in sorted(temporary.iterdir())}}
        for path in temporary.iterdir():
            files.force(path)
        files.write_sealed(temporary / READY, stored)
        place = home / name
        if place.exists():  # damaged
            shutil.rmtree(place)
        os.rename(temporary, place)
        files.force(home)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return stored


def _sweep(home: Path, older: float) -> None:
    """Remove temporary folders of killed conversions that are so many seconds old."""
    for left in home.glob(".*.tmp"):
        with suppress(OSError):
            if left.stat().st_mtime < time.time() - older:
                shutil.rmtree(left, ignore_errors=True)


def _forget_others(home: Path, name: str) -> None:
    """Remove the conversions of earlier weights."""
    for other in home.iterdir():
        if other.name != name and not other.name.startswith("."):
            shutil.rmtree(other, ignore_errors=True)


def _prove(folder: Folder[Settings], path: Path, say: Note) -> dict[str, Any]:
    """Compare the scores of a sample with the torch engine's, and see which threads are fastest."""
    from heedful.decoding.batch import score

    model = load_model(folder)
    sources, targets = _sample(folder, model)
    ours = score(model, sources, targets, batch_tokens=4096)
    theirs = CTranslate2Engine(path, folder).score(sources, targets, batch_tokens=4096)
    worst = max(abs(a - b) / n for (a, n), (b, _) in zip(ours, theirs, strict=True))
    if not worst <= TOLERANCE:
        raise InterchangeError(
            f"{folder.path} does not give the same scores on CTranslate2: they differ by up to "
            f"{worst:.1e} a piece, {TOLERANCE:.0e} is allowed; use --engine torch"
        )
    count = cores()
    plain = DecodeSettings(beam=1, max_length=16)
    choices = {(count, 1), (1, count), (max(1, count // 2), min(2, count))}
    threads: dict[str, tuple[int, int]] = {}
    for compute in COMPUTES:
        times = {}
        for choice in sorted(choices):
            engine = CTranslate2Engine(path, folder, compute, choice)
            search = partial(engine.search, sources, plain)
            times[choice] = min(timeit.repeat(search, number=1, repeat=3))
        threads[compute] = min(times, key=times.__getitem__)
    workers, each = threads["float32"]
    int8_changes = _changed(folder, path, threads)
    say(
        f"converted: scores equal to {worst:.0e} a piece; fastest here with {workers} "
        f"worker{'s' * (workers > 1)} of {each} thread{'s' * (each > 1)}; "
        f"{_int8_note(int8_changes)}"
    )
    return {
        "version": VERSION,
        "difference": worst,
        "cores": count,
        "threads": threads,
        "int8": int8_changes,
    }


def _changed(
    folder: Folder[Settings], path: Path, threads: Mapping[str, tuple[int, int]]
) -> tuple[int, int] | None:
    """Count the development sentences that int8 translates otherwise, and all of them."""
    pairs = development_pairs(folder.path)[:SENTENCES]
    if not pairs:
        return None
    tokenizer = Tokenizer(folder.tokenizer, folder.ids)
    sources = [ids for ids in (tokenizer.encode(source) for source, _ in pairs) if ids]
    found = []
    for compute in COMPUTES:
        engine = CTranslate2Engine(path, folder, compute, threads[compute])
        found.append([h[0].ids for h in engine.search(sources, folder.settings.decode)])
    return sum(a != b for a, b in zip(*found, strict=True)), len(sources)


def _int8_note(changed: Sequence[int] | None) -> str:
    if changed is None:
        return "no development text in the folder to see what int8 changes"
    return f"int8 changes {changed[0]} of {changed[1]} development sentences"


def _sample(
    folder: Folder[Settings], model: Transformer
) -> tuple[list[list[int]], list[list[int]]]:
    """Make up sources of all lengths, and translate them: no text is needed for comparing."""
    from heedful.decoding.batch import search

    random = np.random.default_rng(1)
    special = {folder.ids.pad, folder.ids.start, folder.ids.eos, folder.ids.unk}
    words = np.array([i for i in range(folder.ids.size) if i not in special])
    sources = [random.choice(words, size=n).tolist() for n in random.integers(1, 40, size=64)]
    found = search(model, sources, DecodeSettings(beam=1, max_length=30))
    return sources, [one[0].ids for one in found]
