"""From the ids of many sources to their translations, in batches of like length."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import torch

from heedful.data.batching import pad
from heedful.decoding.guards import limits_for
from heedful.decoding.sampling import sampler
from heedful.decoding.search import Hypothesis, beam, greedy
from heedful.decoding.stepper import CachedStepper, PlainStepper
from heedful.models.transformer import Transformer
from heedful.settings import DecodeSettings, SamplingSettings

__all__ = ["score", "search"]


def search(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    decode: DecodeSettings,
    n_best: int = 1,
    sampling: SamplingSettings | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
    plain: bool = False,
    workers: int = 1,
) -> list[list[Hypothesis]]:
    """Give the best translations of every source, in the order of the sources.

    Sources are without the end symbol. `plain` decodes without a cache, for comparison. With
    several workers, batches are decoded side by side; torch should have few threads then.
    """
    found: list[list[Hypothesis]] = [[] for _ in sources]
    width = n_best if sampling else decode.beam

    def translate(batch: list[int]) -> None:
        forced = None if prefixes is None else [prefixes[i] for i in batch]
        results = _one(model, [sources[i] for i in batch], decode, n_best, sampling, forced, plain)
        for index, result in zip(batch, results, strict=True):
            found[index] = result

    batches = _batches([len(s) + 1 for s in sources], decode.batch_tokens // width, workers)
    if workers == 1:
        for batch in batches:
            translate(batch)
    else:
        with ThreadPoolExecutor(workers) as pool:
            list(pool.map(translate, batches))
    return found


def _batches(lengths: Sequence[int], budget: int, workers: int) -> list[list[int]]:
    """Put sentences of like length together, longest first, so that no worker is left alone.

    Few sentences are spread over all workers rather than put into one large batch.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    most = max(8, -(-len(order) // (2 * workers))) if workers > 1 else len(order)
    batches = []
    while order:
        rows = min(most, max(1, budget // lengths[order[0]]))
        batches.append(order[:rows])
        order = order[rows:]
    return batches


@torch.inference_mode()
def _one(
    model: Transformer,
    sources: list[Sequence[int]],
    decode: DecodeSettings,
    n_best: int,
    sampling: SamplingSettings | None,
    prefixes: list[Sequence[int]] | None,
    plain: bool,
) -> list[list[Hypothesis]]:
    ids, alpha, device = model.ids, decode.length_penalty, model.output_weight.device
    copies = n_best if sampling else 1  # each sample of a sentence is a row of its own
    sources = [s for s in sources for _ in range(copies)]
    forced = None if prefixes is None else [p for p in prefixes for _ in range(copies)]
    limits = [limits_for(s, decode) for s in sources]
    table, lengths = pad([[*s, ids.eos] for s in sources], ids.pad)
    memory = model.encode(table.to(device), lengths.to(device))
    stepper = (PlainStepper if plain else CachedStepper)(model, memory)
    if sampling is not None:
        choose = sampler(sources, sampling, copies)
        drawn = greedy(stepper, limits, ids.start, ids.eos, alpha, forced, choose)
        return [drawn[i : i + copies] for i in range(0, len(drawn), copies)]
    if decode.beam == 1:
        return [[h] for h in greedy(stepper, limits, ids.start, ids.eos, alpha, forced)]
    ranked = beam(stepper, limits, decode.beam, ids.start, ids.eos, alpha, forced)
    return [hypotheses[:n_best] for hypotheses in ranked]


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
    order = sorted(range(len(left)), key=lambda i: -(len(left[i]) + len(right[i])))
    scores: list[tuple[float, int]] = [(0.0, 0)] * len(left)
    while order:
        rows = max(1, batch_tokens // (len(left[order[0]]) + len(right[order[0]])))
        batch, order = order[:rows], order[rows:]
        source, source_lengths = pad([left[i] for i in batch], ids.pad)
        goal, lengths = pad([right[i] for i in batch], ids.pad)
        start = torch.full((len(batch), 1), ids.start)
        shifted = torch.cat([start, goal[:, :-1]], dim=1)
        logits = model(*(x.to(device) for x in (source, source_lengths, shifted, lengths))).cpu()
        logp = logits.gather(2, goal[:, :, None])[:, :, 0] - logits.logsumexp(-1)
        for row, index in enumerate(batch):
            length = int(lengths[row])
            scores[index] = (float(logp[row, :length].double().sum()), length)
    return scores
