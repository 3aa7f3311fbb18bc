"""Files of pairs made for a training: mixed, rewritten, or translated by a model."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from hashlib import sha256
from itertools import islice
from pathlib import Path
from typing import Any

from heedful import files
from heedful.data.lines import open_text
from heedful.data.text import normalise
from heedful.errors import DataError
from heedful.settings import SamplingSettings
from heedful.tasks.contract import Request
from heedful.tasks.translation.corpus import Pair, pairs_of
from heedful.tasks.translation.preparing import read
from heedful.tasks.translation.using import Translator
from heedful.train.report import Report, clock

CHUNK = 1000
"""Lines translated between two writes: at most so many are lost when the process is killed."""


def text_folder(output: Path) -> Path:
    """Make the folder of text made for a training: beside the model, for a person to look at."""
    folder = output.with_name(output.name + ".text")
    files.make_folder(folder)
    return folder


def write_pairs(path: Path, pairs: Sequence[Pair]) -> Path:
    """Write pairs as a TSV, and name it as a training reads it."""
    files.write(path, "".join(f"{source}\t{target}\n" for source, target in pairs))
    return Path(f"{path}:1,2")


def rewrite_pairs(paths: Sequence[Path], request: Request, path: Path) -> tuple[Path, ...]:
    """Write given pairs as a TSV in UTF-8, so that they can be read with those a model made."""
    return (write_pairs(path, list(pairs_of(read(paths, request)))),) if paths else ()


def translate_to_pairs(
    translator: Translator,
    text: Path,
    output: Path,
    back: bool = False,
    changes: Mapping[str, Any] | None = None,
    sampling: SamplingSettings | None = None,
    encoding: str = "utf-8",
    report: Report | None = None,
) -> int:
    """Translate a file into a TSV of pairs; give how many there are.

    Each line is what was given and what the model made of it; the other way round with `back`,
    where the model's text is the source to learn from. What did not end, or came out empty, is left
    out. Killed and called again, it goes on where it was; `output` that was made of other text, by
    another model or in another way is refused.
    """
    report = report or Report()
    decode = translator.decoding(**(changes or {}))
    part, note = (output.with_name(output.name + end) for end in (".part", ".made.json"))
    # What is wrong with the text is told before anything is written.
    lines = 0 if output.exists() else sum(1 for _ in open_text(text, encoding))
    _same(
        note,
        output,
        {
            "text": files.sha256(text),
            "model": sha256(_model_bytes(translator)).hexdigest(),
            "decode": decode.model_dump(mode="json"),
            "sampling": sampling.model_dump(mode="json") if sampling else None,
            "back": back,
        },
    )
    if output.exists():
        return sum(1 for _ in open_text(output, "utf-8"))
    done = _done(part)
    begun, before = time.monotonic(), done
    stream: Iterator[str] = islice(open_text(text, encoding), done, None)
    try:
        with part.open("a", encoding="utf-8", newline="\n") as file:
            while chunk := [normalise(line) for line in islice(stream, CHUNK)]:
                found = translator.lines(chunk, decode, sampling=sampling)
                for given, made in zip(chunk, found, strict=True):
                    kept = made.text if given and not made.guards else ""
                    file.write(f"{kept}\t{given}\n" if back else f"{given}\t{kept}\n")
                file.flush()
                done += len(chunk)
                left = (time.monotonic() - begun) / (done - before) * (lines - done)
                report.progress("translating", done, lines, f"{clock(left)} left")
        pairs = [line for line in open_text(part, "utf-8") if all(line.split("\t"))]
        files.write(output, "".join(f"{pair}\n" for pair in pairs))
    except OSError as error:
        raise files.not_written(part, error) from error
    part.unlink()
    return len(pairs)


def _same(note: Path, output: Path, facts: dict[str, Any]) -> None:
    """Refuse an output that was begun with other text, model or settings, or is not ours."""
    if note.exists():
        if files.read_sealed(note) != facts:
            raise DataError(
                f"{output} was begun with other text, another model or other settings; "
                f"choose another name with -o"
            )
    elif output.exists():
        raise DataError(f"{output} exists and was not made here; choose another name with -o")
    files.write_sealed(note, facts)


def _model_bytes(translator: Translator) -> bytes:
    """Give the bytes of a model's weights, which identify it."""
    weights = translator.model.state_dict()
    return b"".join(weights[name].detach().numpy().tobytes() for name in sorted(weights))


def _done(part: Path) -> int:
    """Count the whole lines an earlier call wrote, and cut off a line that is not whole."""
    if not part.exists():
        return 0
    data = part.read_bytes()
    whole = data[: data.rfind(b"\n") + 1]
    if len(whole) < len(data):
        files.write(part, whole)
    return whole.count(b"\n")
