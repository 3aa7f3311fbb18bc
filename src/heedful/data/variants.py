"""Subword regularisation: the same sentences, their words split otherwise in each epoch.

On small data this works like more data. sentencepiece can sample, but the state of its random
generator cannot be restored, so a run could not be continued exactly. Here each word's likely
splits are asked for once, and which one is taken follows from a hash of the seed, the epoch, the
sentence and the word. So any sentence of any epoch can be drawn at any time, alone or with others.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np

from heedful.data.tokenizer import Tokenizer

Way = tuple[int, ...]
Change = tuple[int, int, int, Way]
"""The sentence, the first piece replaced, the one after the last, and what replaces them."""


def keys(seed: int, epoch: int, side: int, rows: np.ndarray) -> np.ndarray:
    """Give each sentence of one side of the corpus the number that its draws come from."""
    base = np.random.SeedSequence([seed, epoch, side]).generate_state(1, np.uint64)
    return _mixed(base + rows.astype(np.uint64))


def _mixed(numbers: np.ndarray) -> np.ndarray:
    """Make random bits of numbers that follow each other (Steele, Lea and Flood's SplitMix64)."""
    z = numbers * np.uint64(0x9E3779B97F4A7C15)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


class Variants:
    """Samples other splits of the words of sentences."""

    WAYS = 12
    SHARPNESS = 0.3
    """A split is sampled in proportion to its probability to this power: lower is more uniform."""
    REMEMBERED = 50_000
    """Words whose splits are cached, some three kilobytes each."""

    def __init__(self, tokenizer: Tokenizer, chance: float, most: int | None = None) -> None:
        """Split a word anew with this chance; no sentence gets more pieces than `most` by it."""
        self._tokenizer, self._chance, self._most = tokenizer, chance, most
        ids = tokenizer.ids  # the padding of an imported model need not be last
        self._begins = np.array(
            [i != ids.pad and tokenizer.piece(i).startswith("▁") for i in range(ids.size)]
        )
        self._ways = lru_cache(self.REMEMBERED)(self._find_ways)

    def draw(self, sentences: Sequence[np.ndarray], keys: np.ndarray) -> list[list[int]]:
        """Split words anew, each with the given chance."""
        drawn = [sentence.tolist() for sentence in sentences]
        changes, _ = self._fitting(sentences, keys)
        for sentence, begin, end, way in reversed(changes):  # so that earlier places stay right
            drawn[sentence][begin:end] = way
        return drawn

    def lengths(self, sentences: Sequence[np.ndarray], keys: np.ndarray) -> np.ndarray:
        """Give the lengths of what `draw` would give, without putting it together."""
        return self._fitting(sentences, keys)[1]

    def _fitting(
        self, sentences: Sequence[np.ndarray], keys: np.ndarray
    ) -> tuple[list[Change], np.ndarray]:
        """Give the changes of the sentences that do not become too long, and all lengths."""
        before = np.fromiter(map(len, sentences), dtype=np.int32, count=len(sentences))
        changes, lengths = list(self._changes(sentences, keys)), before.copy()
        for sentence, begin, end, way in changes:
            lengths[sentence] += len(way) - (end - begin)
        if self._most is not None and (lengths > self._most).any():
            fits = lengths <= self._most
            changes = [change for change in changes if fits[change[0]]]
            lengths = np.where(fits, lengths, before)
        return changes, lengths

    def _changes(self, sentences: Sequence[np.ndarray], keys: np.ndarray) -> Iterator[Change]:
        """Say which pieces of which sentences become which others, in order."""
        ends = np.cumsum([len(sentence) for sentence in sentences])
        if not len(ends) or not ends[-1]:
            return
        flat = np.concatenate(sentences)
        origins = np.concatenate([[0], ends[:-1]])
        begins = self._begins[flat]
        begins[origins[origins < len(flat)]] = True  # an empty last sentence begins nothing
        starts = np.flatnonzero(begins)
        stops = np.append(starts[1:], len(flat))
        owners = np.searchsorted(ends, starts, side="right")
        offsets = starts - origins[owners]
        bits = _mixed(keys[owners] + offsets.astype(np.uint64))
        chances = (bits >> np.uint64(11)) * 2.0**-53
        for word in np.flatnonzero(chances < self._chance).tolist():
            start, stop = int(starts[word]), int(stops[word])
            choices = self._ways(tuple(flat[start:stop].tolist()))
            if choices is not None:
                # Given that it is below the chance, the quotient is again uniform in [0, 1).
                way = choices[0][bisect_left(choices[1], chances[word] / self._chance)]
                begin = int(offsets[word])
                yield int(owners[word]), begin, begin + stop - start, way

    def _find_ways(self, word: Way) -> tuple[list[Way], list[float]] | None:
        """Give the other splits of a word and their cumulative probabilities."""
        tokenizer = self._tokenizer
        text = tokenizer.decode(word)
        ways = [tuple(w) for w in tokenizer.ways(text, self.WAYS)] if text else []
        # Alone, a word cut out of a longer run or made of bytes may be split otherwise: leave it.
        others = [w for w in ways if w != word] if word in ways else []
        if not others:
            return None
        logp = np.array([sum(tokenizer.score(i) for i in w) for w in others])
        share = np.exp(self.SHARPNESS * (logp - logp.max()))
        return others, [*np.cumsum(share / share.sum()).tolist()[:-1], 1.0]
