"""From the ids of many sources to their translations, in batches of like length."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import torch

from heedful.data.padding import pad
from heedful.decoding.engine import batches
from heedful.decoding.guards import limits_for
from heedful.decoding.hypothesis import Hypothesis, LengthPenalty
from heedful.decoding.sampling import sampler
from heedful.decoding.search import Stepper, beam, greedy
from heedful.decoding.stepper import CachedStepper, PlainStepper
from heedful.machine import decoding_workers, keep_memory
from heedful.models.transformer import Transformer
from heedful.nn.cache import Memory
from heedful.nn.masks import real
from heedful.nn.observe import carried
from heedful.nn.shapes import MD, M
from heedful.settings import DecodeSettings, SamplingSettings

AT_ONCE = 512
"""Positions encoded together: more rows in a product are no faster."""


class TorchEngine:
    """A model of ours, searched with our own search."""

    name = "torch"

    def __init__(self, model: Transformer, workers: int = 0, plain: bool = False) -> None:
        """Take a worker a core, each with one thread: faster than one with all of them."""
        self.model, self._plain = model, plain
        self.workers = decoding_workers(workers)

    def search(
        self,
        sources: Sequence[Sequence[int]],
        decode: DecodeSettings,
        n_best: int = 1,
        sampling: SamplingSettings | None = None,
        prefixes: Sequence[Sequence[int]] | None = None,
        scored: bool = True,
    ) -> list[list[Hypothesis]]:
        """Give the best translations of every source, in the order of the sources."""
        keep_memory()  # only now: a server that only traces a model should return memory
        return search(
            self.model,
            sources,
            decode,
            n_best,
            sampling,
            prefixes,
            self._plain,
            self.workers,
            scored,
        )

    def score(
        self, sources: Sequence[Sequence[int]], targets: Sequence[Sequence[int]], batch_tokens: int
    ) -> list[tuple[float, int]]:
        """Give the log-probability of each target, its end included, and its number of pieces."""
        return score(self.model, sources, targets, batch_tokens)


def search(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    decode: DecodeSettings,
    n_best: int = 1,
    sampling: SamplingSettings | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
    plain: bool = False,
    workers: int = 1,
    scored: bool = True,
) -> list[list[Hypothesis]]:
    """Give the best translations of every source, in the order of the sources.

    Sources are without the end symbol. `plain` decodes without a cache, for comparison. With
    several workers, batches are decoded side by side; torch should have few threads then. Greedy
    search may do without scores.
    """
    found: list[list[Hypothesis]] = [[] for _ in sources]
    width = n_best if sampling else decode.beam
    copies = n_best if sampling else 1  # each sample of a sentence is a row of its own
    ids, penalty = model.ids, LengthPenalty.of(decode)

    @torch.inference_mode()
    def translate(batch: list[int]) -> None:
        rows = [sources[i] for i in batch for _ in range(copies)]
        forced = None if prefixes is None else [prefixes[i] for i in batch for _ in range(copies)]
        limits = [limits_for(s, decode) for s in rows]
        stepper = begin(model, rows, plain)
        if sampling is None and decode.beam > 1:
            ranked = beam(stepper, limits, decode.beam, ids.start, ids.eos, penalty, forced)
            results = [hypotheses[:n_best] for hypotheses in ranked]
        else:
            choose = sampler(rows, sampling, copies) if sampling else None
            counted = scored or choose is not None
            drawn = greedy(stepper, limits, ids.start, ids.eos, penalty, forced, choose, counted)
            results = [drawn[i : i + copies] for i in range(0, len(drawn), copies)]
        for index, result in zip(batch, results, strict=True):
            found[index] = result

    grouped = batches([len(s) + 1 for s in sources], decode.batch_tokens // width, workers)
    if workers == 1:
        for batch in grouped:
            translate(batch)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(carried(translate), grouped))
    return found


def begin(model: Transformer, sources: Sequence[Sequence[int]], plain: bool = False) -> Stepper:
    """Encode sources, and give what takes the steps of their translation."""
    stepper = PlainStepper if plain else CachedStepper
    return stepper(model, read(model, sources))


def read(model: Transformer, sources: Sequence[Sequence[int]]) -> Memory:
    """Encode a batch, its longest sentences first; on a CPU a few of them at a time.

    The lengths of a batch may differ so much that half of it is padding: the decoder's steps cost
    hardly more for it, but the encoder computes every position.
    """
    ids, device = model.ids, model.output_weight.device
    parts, start = [], 0
    while start < len(sources):
        few = len(sources)
        if device.type == "cpu":
            few = max(1, AT_ONCE // (len(sources[start]) + 1))
        table, lengths = pad([[*s, ids.eos] for s in sources[start : start + few]], ids.pad)
        parts.append(model.encode(table.to(device), lengths.to(device)))
        start += few
    return Memory.joined(parts)


@torch.inference_mode()
def score(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    targets: Sequence[Sequence[int]],
    batch_tokens: int,
) -> list[tuple[float, int]]:
    """Give the log-probability of each target, its end included, and its number of pieces."""
    ids, device = model.ids, model.output_weight.device
    left, right = ([[*x, ids.eos] for x in side] for side in (sources, targets))
    sizes = [len(one) + len(other) for one, other in zip(left, right, strict=True)]
    scores: list[tuple[float, int]] = [(0.0, 0)] * len(left)
    for batch in batches(sizes, batch_tokens, workers=1):
        source, source_lengths = pad([left[i] for i in batch], ids.pad)
        target, lengths = pad([[ids.start, *right[i][:-1]] for i in batch], ids.pad)
        memory = model.encode(source.to(device), source_lengths.to(device))
        states = model.decode(target.to(device), memory, lengths.to(device))
        pieces = torch.tensor([piece for i in batch for piece in right[i]], device=device)
        found = _logp(model, states[real(lengths, target.size(1)).to(device)], pieces)
        for index, logp in zip(batch, found.split_with_sizes(lengths.tolist()), strict=True):
            scores[index] = float(logp.sum()), len(logp)
    return scores


def _logp(model: Transformer, states: MD, pieces: M) -> M:
    """Give each piece's log-probability; the logits of all of them at once could be gigabytes."""
    found = []
    for start in range(0, len(pieces), AT_ONCE):
        part = slice(start, start + AT_ONCE)
        logits = model.logits(states[None, part])[0]
        found.append(logits.gather(1, pieces[part, None])[:, 0] - logits.logsumexp(-1))
    return torch.cat(found).cpu().double()
