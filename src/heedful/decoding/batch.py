"""From the ids of many sources to their translations, in batches of like length."""

from __future__ import annotations

from collections.abc import Sequence

import torch

from heedful.data.batching import pad
from heedful.decoding.guards import limits_for
from heedful.decoding.sampling import sampler
from heedful.decoding.search import Hypothesis, beam, greedy
from heedful.decoding.stepper import CachedStepper, PlainStepper
from heedful.models.transformer import Transformer
from heedful.settings import DecodeSettings, SamplingSettings

__all__ = ["search"]


def search(
    model: Transformer,
    sources: Sequence[Sequence[int]],
    decode: DecodeSettings,
    n_best: int = 1,
    sampling: SamplingSettings | None = None,
    prefixes: Sequence[Sequence[int]] | None = None,
    plain: bool = False,
) -> list[list[Hypothesis]]:
    """Give the best translations of every source, in the order of the sources.

    Sources are without the end symbol. `plain` decodes without a cache, for comparison.
    """
    order = sorted(range(len(sources)), key=lambda i: -len(sources[i]))
    found: list[list[Hypothesis]] = [[] for _ in sources]
    width = n_best if sampling else decode.beam
    while order:
        rows = max(1, decode.batch_tokens // ((len(sources[order[0]]) + 1) * width))
        batch, order = order[:rows], order[rows:]
        forced = None if prefixes is None else [prefixes[i] for i in batch]
        results = _one(
            model, [sources[i] for i in batch], decode, n_best, sampling, forced, plain
        )
        for index, result in zip(batch, results, strict=True):
            found[index] = result
    return found


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
