"""CTranslate2 by itself: pieces in, pieces out, two workers of one thread on two cores."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import ctranslate2


class Raw:
    """A stock `Translator` on the converted model; its pieces are looked up beforehand."""

    def __init__(self, path: Path, compute: str) -> None:
        work = json.loads((path / "work.json").read_text(encoding="utf-8"))
        folder = path / "ctranslate2"
        pieces = json.loads((folder / "shared_vocabulary.json").read_text(encoding="utf-8"))
        self._number = {piece: index for index, piece in enumerate(pieces)}
        self._sources = [[pieces[i] for i in s] for s in work["sources"]]
        self._steps = work["steps"]
        self._translator = ctranslate2.Translator(
            str(folder),
            compute_type=compute,
            inter_threads=os.cpu_count() or 1,
            intra_threads=1,
            max_queued_batches=-1,
        )

    def __call__(self, batch: int, beam: int, every: int = 1) -> list[list[int]]:
        """Give the ids of every sentence."""
        results = self._translator.translate_batch(
            self._sources[::every],
            max_batch_size=batch or 4096,
            batch_type="examples" if batch else "tokens",
            beam_size=beam,
            max_decoding_length=self._steps,
        )
        return [[self._number[piece] for piece in r.hypotheses[0]] for r in results]


def decoder(work: str, compute: str = "float32") -> Any:
    """Make ready to decode."""
    return Raw(Path(work), compute)
