"""What an engine of translation is: ids in, hypotheses out; text is the task's business.

Also how every engine puts sentences together into batches.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from heedful.decoding.hypothesis import Hypothesis
from heedful.settings import DecodeSettings, SamplingSettings

Ids = Sequence[int]


class Engine(Protocol):
    """Something that searches for translations of ids and scores given ones."""

    name: str

    def search(
        self,
        sources: Sequence[Ids],
        decode: DecodeSettings,
        n_best: int = 1,
        sampling: SamplingSettings | None = None,
        prefixes: Sequence[Ids] | None = None,
        scored: bool = True,
    ) -> list[list[Hypothesis]]:
        """Give the best translations of every source, in the order of the sources.

        A greedy search that is not `scored` is faster, and its scores are NaN.
        """

    def score(
        self, sources: Sequence[Ids], targets: Sequence[Ids], batch_tokens: int
    ) -> list[tuple[float, int]]:
        """Give the log-probability of each target, its end included, and its number of pieces."""


def batches(lengths: Sequence[int], budget: int, workers: int) -> list[list[int]]:
    """Put sentences of like length together, longest first, so that no worker ends much later.

    Few sentences are spread over all workers rather than put into one large batch.
    """
    order = sorted(range(len(lengths)), key=lambda i: -lengths[i])
    most = max(8, -(-len(order) // (2 * workers))) if workers > 1 else len(order)
    found = []
    while order:
        rows = min(most, max(1, budget // lengths[order[0]]))
        found.append(order[:rows])
        order = order[rows:]
    return found
