"""What the cache saves: greedy decoding with it and without, on the same sentences."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator

import torch

from benchmarks import machine
from benchmarks.contest import paired, spread, table
from benchmarks.peers.ours import endless
from benchmarks.sizes import Amounts
from heedful.decoding.batch import search
from heedful.settings import DecodeSettings, TokenIds


def run(amounts: Amounts, rates: list[float]) -> Iterator[str]:
    """Decode to a fixed length, cached and plain in turn, and give the ratio by length."""
    torch.set_num_threads(os.cpu_count() or 1)
    size = amounts.pieces
    model = endless(amounts.decoding, TokenIds(size=size, pad=size - 1, start=size - 1)).eval()
    yield (
        f"{amounts.cached_rows} sentences of 16 pieces, greedy. Median (least-most) of "
        f"{amounts.growing_rounds} rounds."
    )
    yield ""
    rows = []
    for length in amounts.cached:
        sources = torch.randint(2, size - 1, (amounts.cached_rows, 16)).tolist()
        decode = DecodeSettings(beam=1, max_length=length, guards=False)
        for plain in (False, True):
            search(model, sources, decode, plain=plain)  # not counted: everything is new to it
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(amounts.growing_rounds):
            rates.append(machine.rate())
            for plain in (False, True):
                begun = time.perf_counter()
                search(model, sources, decode, plain=plain)
                seconds[plain].append(time.perf_counter() - begun)
        ratio = paired(seconds[True], seconds[False], digits=1)
        rows.append([str(length), spread(seconds[False]), spread(seconds[True]), ratio])
    yield from table(["target pieces", "cached, s", "recomputed, s", "ratio"], rows, left=0)
