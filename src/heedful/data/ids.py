"""Sequences of ids on disk, memory-mapped, so that their number needs no RAM."""

from __future__ import annotations

import mmap
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from heedful import files


class Ids:
    """Sequences of ids in two files: the numbers, and where each sequence ends."""

    def __init__(self, stem: Path, width: str) -> None:
        """`width` is the numbers' type: "<u2" where the vocabulary fits it, else "<i4"."""
        self.ends = np.memmap(f"{stem}.ends", dtype="<i8", mode="r")
        # An empty file cannot be mapped; a corpus of empty sequences never gets this far.
        self.numbers = np.memmap(f"{stem}.ids", dtype=width, mode="r")

    def __len__(self) -> int:
        return len(self.ends)

    def __getitem__(self, index: int) -> np.ndarray:
        begin = int(self.ends[index - 1]) if index else 0
        return self.numbers[begin : int(self.ends[index])]

    def forget(self) -> None:
        """Release the mapped pages that were read; the disk still has them."""
        for mapped in (self.ends, self.numbers):
            pages = getattr(mapped, "_mmap", None)
            if pages is not None and hasattr(mmap, "MADV_DONTNEED"):
                pages.madvise(mmap.MADV_DONTNEED)

    def lengths(self) -> np.ndarray:
        """Give the length of every sequence."""
        lengths = np.empty(len(self), dtype=np.int32)
        lengths[0] = self.ends[0]
        np.subtract(self.ends[1:], self.ends[:-1], out=lengths[1:], casting="unsafe")
        return lengths


class IdsWriter:
    """Writes what `Ids` maps."""

    def __init__(self, stem: Path, width: str) -> None:
        self._width = width
        self._numbers = open(f"{stem}.ids", "wb")  # noqa: SIM115 (closed in `close`)
        self._ends = open(f"{stem}.ends", "wb")  # noqa: SIM115
        self._end = 0

    def write(self, sequences: Sequence[Sequence[int]]) -> None:
        """Add sequences after those that are there."""
        lengths = np.fromiter(map(len, sequences), dtype=np.int64, count=len(sequences))
        ends = self._end + np.cumsum(lengths)
        flat = np.fromiter(
            (i for s in sequences for i in s), dtype=self._width, count=int(lengths.sum())
        )
        try:
            self._numbers.write(flat.tobytes())
            self._ends.write(ends.astype("<i8").tobytes())
        except OSError as error:
            raise files.not_written(self._numbers.name, error, flat.nbytes) from error
        self._end = int(ends[-1]) if len(ends) else self._end

    def close(self) -> None:
        """Close both files."""
        self._numbers.close()
        self._ends.close()
