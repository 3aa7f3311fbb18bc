"""Memory of a token: what the decoder's cache and a training step hold, beside the least possible.

The least a training step has to keep is the input of every matrix product, each once, and the
queries, keys and values of each attention: all else follows from these. The least a cache has to
hold is a key and a value for every layer and position.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

import torch

from benchmarks.captions import captions
from benchmarks.contest import AbsentError, table
from benchmarks.peers.work import TrainingWork
from benchmarks.sizes import Amounts
from benchmarks.training import entries, tokens
from heedful.decoding.stepper import CachedStepper
from heedful.models.transformer import Transformer
from heedful.settings import ModelSettings

FLOAT = 4


def least_kept(work: TrainingWork) -> float:
    """Give the bytes that no training step can do without, over all batches."""
    s = work.sizes
    d, inner = s["d_model"], s["d_ff"]
    # Input of the projections, queries, keys, values, input of the output map; input of the
    # feed-forward and of its second map.
    own = 5 * d + d + inner
    read = sum(len(source) for sources, _ in work.batches for source in sources)
    # A target position has a second attention, whose keys and values are the source's.
    source = s["encoder_layers"] * own + d + s["decoder_layers"] * 2 * d
    target = s["decoder_layers"] * (own + 3 * d) + d
    return float(FLOAT * (read * source + tokens(work) * target))


def run(amounts: Amounts, rates: list[float]) -> Iterator[str]:
    """Count, not measure: bytes of the tensors themselves."""
    text = captions(amounts.pieces, amounts.pairs, amounts.sentences)
    yield "Kept from the forward to the backward pass, for each target token; least, in float32:"
    yield ""
    rows = []
    for name, (sizes, _) in amounts.training.items():
        work = text.work(sizes, 1, amounts.budget)
        least, count = least_kept(work), tokens(work)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "work.json"
            work.write(path)
            for entry in entries(path):
                entry.begin()
                try:
                    if entry.absent or entry.worker is None:
                        raise AbsentError(entry.absent)
                    kept = entry.worker.ask("run", {"what": "kept"})["result"]
                except AbsentError as error:
                    rows.append([name, entry.name, str(error), "", ""])
                else:
                    shown = [f"{kept / count / 1024:,.1f}", f"{least / count / 1024:,.1f}"]
                    rows.append([name, entry.name, *shown, f"{kept / least:.2f}"])
                entry.close()
    heads = ["size", "", "kept, KB", "least possible, KB", "ratio"]
    yield from table(heads, rows, left=2)
    yield ""
    yield (
        "Weights, gradients and Adam's two moments are four numbers a weight, 16 bytes; each "
        "further worker has gradients of its own, 4 bytes a weight more."
    )
    yield ""
    yield "The decoder's cache, for each sentence of 20 source pieces:"
    yield ""
    cached = []
    for steps in amounts.cached:
        held, least = cache_bytes(amounts, steps)
        cached.append(
            [str(steps), *(f"{n / 1024:,.1f}" for n in (held, least)), f"{held / least:.2f}"]
        )
    yield from table(["target pieces", "held, KB", "least possible, KB", "ratio"], cached, left=0)


@torch.inference_mode()
def cache_bytes(
    amounts: Amounts, steps: int, rows: int = 4, length: int = 20
) -> tuple[float, float]:
    """Decode some steps; give the bytes a sentence has in the cache, and the least possible."""
    s = ModelSettings.model_validate(amounts.decoding)
    ids = captions(amounts.pieces, amounts.pairs, amounts.sentences).tokenizer.ids
    model = Transformer(s, ids).eval()
    source = torch.full((rows, length), ids.unk)
    stepper = CachedStepper(model, model.encode(source, torch.full((rows,), length)))
    for _ in range(steps):
        stepper.step(torch.full((rows,), ids.unk))
    return stepper.bytes() / rows, FLOAT * s.decoder_layers * 2.0 * s.d_model * (steps + length)
