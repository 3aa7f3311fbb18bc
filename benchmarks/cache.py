"""What the cache saves: greedy decoding with it and without, on the same sentences."""

from __future__ import annotations

import os
import statistics
import time
from collections.abc import Iterator

import torch

from heedful.decoding.batch import search
from heedful.models.transformer import Transformer
from heedful.settings import DecodeSettings, ModelSettings, TokenIds

LENGTHS = (8, 16, 32, 64, 128)
ROWS = 64
REPEATS = 3


def run() -> Iterator[str]:
    """Decode to a fixed length, cached and plain in turn, and give the ratio by length.

    A model with random weights does: what a step costs does not depend on what it says.
    """
    torch.set_num_threads(os.cpu_count() or 1)
    torch.manual_seed(1)
    ids = TokenIds(size=6000, pad=5999, start=5999)
    sizes = ModelSettings(d_model=256, d_ff=1024, n_heads=4, encoder_layers=3, decoder_layers=3)
    model = Transformer(sizes, ids).eval()
    with torch.no_grad():  # never end: every sentence is decoded to the length asked for
        model.target_embedding.weight[ids.eos] = 0.0
    yield "| target pieces | cached, s | recomputed, s | ratio |"
    yield "| ---: | ---: | ---: | ---: |"
    for length in LENGTHS:
        sources = torch.randint(2, 5999, (ROWS, 16)).tolist()
        decode = DecodeSettings(beam=1, max_length=length, guards=False)
        seconds: dict[bool, list[float]] = {False: [], True: []}
        for _ in range(REPEATS):
            for plain in (False, True):
                begun = time.perf_counter()
                search(model, sources, decode, plain=plain)
                seconds[plain].append(time.perf_counter() - begun)
        cached, plain_time = (statistics.median(seconds[p]) for p in (False, True))
        yield f"| {length} | {cached:.2f} | {plain_time:.2f} | {plain_time / cached:.1f} |"
