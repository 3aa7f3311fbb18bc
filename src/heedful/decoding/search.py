"""Greedy search, beam search and sampling over anything that can take a step.

A `Stepper` holds the model, what was read and what was written so far, for a number of rows;
the search tells it the newest words and which rows go on. Rows that are finished leave the batch.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Protocol

import torch
from torch import Tensor

from heedful.decoding.guards import Limits, repeating
from heedful.decoding.hypothesis import Hypothesis, LengthPenalty, Stop, finish, rank
from heedful.nn.loss import LINE

NO_PENALTY = LengthPenalty(0.0)

BLOCK = LINE
"""Columns among which a maximum is found first; a row of logits is a multiple of them."""


class Stepper(Protocol):
    """A model in the middle of writing, one row a sentence or hypothesis."""

    def step(self, words: Tensor) -> Tensor:
        """Read the newest word of every row; give the logits of the next one, rows x vocabulary.

        There may be more columns than words, all of -inf. The search may use their memory up.
        """

    def select(self, rows: Tensor, sources: Tensor | None) -> None:
        """Go on with these rows, in this order, some repeated, some gone.

        `sources` are the sentences that stay, each read by as many rows that follow each other;
        None promises that every row reads the same sentence as the one it replaces.
        """


Chooser = Callable[[Tensor, Tensor, int], Tensor]
"""From logits, the sentences of the rows and the step number to one word a row."""


def greedy(
    stepper: Stepper,
    limits: Sequence[Limits],
    start: int,
    eos: int,
    penalty: LengthPenalty = NO_PENALTY,
    prefixes: Sequence[Sequence[int]] | None = None,
    choose: Chooser | None = None,
    scored: bool = True,
) -> list[Hypothesis]:
    """Take the best word at every step, or the one `choose` draws.

    Without `scored` a word's probability is not computed, and the score is NaN.
    """
    count = len(limits)
    live = torch.arange(count)
    words = torch.full((count,), start, dtype=torch.long)
    written = torch.empty(count, 0, dtype=torch.long)
    logp = torch.full((count,), 0.0 if scored else math.nan, dtype=torch.float64)
    most = torch.tensor([one.length for one in limits])
    guarded = any(one.repeats for one in limits)
    done: list[Hypothesis | None] = [None] * count
    step = 0
    while len(live):
        logits = stepper.step(words)
        if prefixes is not None:
            _force(logits, live, prefixes, step)
        chosen = logits.argmax(-1) if choose is None else choose(logits, live, step)
        if scored:
            logp += torch.log_softmax(logits, -1, out=logits).gather(1, chosen[:, None])[:, 0]
        del logits  # the largest tensor here, and the next step makes another
        step += 1
        ended = chosen == eos
        written = torch.cat([written, chosen[:, None]], dim=1)
        leaving = ended | (step >= most[live])
        if step % 8 == 0 and guarded:
            for row, (sentence, ids) in enumerate(
                zip(live.tolist(), written.tolist(), strict=True)
            ):
                repeats = limits[sentence].repeats
                if repeats and repeating(ids, repeats):
                    leaving[row] = True
        if leaving.any():
            gone = leaving.nonzero()[:, 0]
            for sentence, ids, score, end in zip(
                *(t[gone].tolist() for t in (live, written, logp, ended)), strict=True
            ):
                stop: Stop = "end" if end else "length"
                done[sentence] = finish(
                    ids[:-1] if end else ids, score, penalty, stop, limits[sentence]
                )
            stay = (~leaving).nonzero()[:, 0]
            if len(stay):
                stepper.select(stay, sources=stay)
            live, written, logp, chosen = live[stay], written[stay], logp[stay], chosen[stay]
        words = chosen
    return [h for h in done if h is not None]


def beam(
    stepper: Stepper,
    limits: Sequence[Limits],
    width: int,
    start: int,
    eos: int,
    penalty: LengthPenalty,
    prefixes: Sequence[Sequence[int]] | None = None,
) -> list[list[Hypothesis]]:
    """Keep the `width` most likely beginnings of every sentence, and rank those that end.

    The stepper has one row a sentence when called; the search spreads each over `width` rows.
    Candidates are twice the width, so that ends never starve the beam. A sentence is finished when
    `width` of its hypotheses have ended and the best unfinished one scores lower now than all of
    them (Hugging Face's rule, so that both searches find the same). Stopping at the number alone
    would be wrong: a very confident model ends `width` bad hypotheses long before the good one
    comes to its end.
    """
    count = len(limits)
    found: list[list[Hypothesis]] = [[] for _ in range(count)]
    live = torch.arange(count)
    words = torch.full((count,), start, dtype=torch.long)
    written = torch.empty(count, 1, 0, dtype=torch.long)  # sentence, beam, step
    logp = torch.zeros(count, 1)
    step = 0
    while len(live):
        logits = stepper.step(words)
        beams = logp.size(1)
        if prefixes is not None:
            _force(logits, live, prefixes, step, beams)
        torch.log_softmax(logits, -1, out=logits)
        best, parent, word = best_of(logits.view(len(live), beams, -1), logp, 2 * width)
        del logits  # the largest tensor here, and the next step makes another
        # A candidate at -inf may be a padding column past the vocabulary.
        word = word.masked_fill(best.isneginf(), eos)
        step += 1
        ended = word == eos

        for row, place in ((ended[:, :width]) & best[:, :width].isfinite()).nonzero().tolist():
            sentence = int(live[row])
            history = written[row, int(parent[row, place])].tolist()
            new = finish(history, float(best[row, place]), penalty, "end", limits[sentence])
            found[sentence] = rank([*found[sentence], new])[:width]

        # The first `width` candidates that go on, best first: a stable sort by "has ended".
        going = ended.to(torch.int8).sort(dim=1, stable=True).indices[:, :width]
        logp, parent, word = best.gather(1, going), parent.gather(1, going), word.gather(1, going)
        logp = logp.masked_fill(word == eos, -math.inf)
        past = written.gather(1, parent[:, :, None].expand(-1, -1, written.size(2)))
        written = torch.cat([past, word[:, :, None]], dim=2)

        stay = []
        divisor = penalty(step)
        for row, (sentence, hope) in enumerate(
            zip(live.tolist(), logp[:, 0].tolist(), strict=True)
        ):
            one, ends = limits[sentence], found[sentence]
            if len(ends) == width and hope / divisor <= ends[-1].score:
                continue
            stuck = (
                step % 8 == 0 and one.repeats and repeating(written[row, 0].tolist(), one.repeats)
            )
            if step >= one.length or stuck or not math.isfinite(hope):
                for place, its_logp in enumerate(logp[row].tolist()):
                    if len(ends) < width and math.isfinite(its_logp):
                        history = written[row, place].tolist()
                        ends.append(finish(history, its_logp, penalty, "length", one))
                continue
            stay.append(row)
        keep = torch.tensor(stay, dtype=torch.long)
        origin = (torch.arange(len(live))[:, None] * beams + parent)[keep].flatten()
        if len(keep):
            same = len(stay) == len(live) and beams == parent.size(1)
            stepper.select(origin, sources=None if same else keep)
        live, written, logp, word = live[keep], written[keep], logp[keep], word[keep]
        words = word.flatten()
    return [rank(hypotheses) for hypotheses in found]


def best_of(gained: Tensor, before: Tensor, count: int) -> tuple[Tensor, Tensor, Tensor]:
    """Give the best ways on of each sentence: what they come to, from which beam, by which word.

    `gained` is sentence, beam, word; `before` what each beam has already. The same as `topk` of
    their sum, many times faster: the best are in the blocks with the largest maxima, and a maximum
    is cheap to find.
    """
    sentences, beams, words = gained.shape
    blocks = words // BLOCK
    if words % BLOCK or beams * blocks <= 2 * count:
        total = (gained + before[:, :, None]).flatten(1)
        best, spot = total.topk(min(count, total.size(1)))
        return best, spot // words, spot % words
    highest = gained.view(sentences, beams, blocks, BLOCK).amax(-1) + before[:, :, None]
    chosen = highest.flatten(1).topk(count, sorted=False).indices  # sentence, block
    beam = chosen // blocks
    place = chosen + beams * blocks * torch.arange(sentences)[:, None]
    candidates = gained.view(-1, BLOCK).index_select(0, place.flatten())
    candidates = candidates.view(sentences, count, BLOCK) + before.gather(1, beam)[:, :, None]
    best, spot = candidates.flatten(1).topk(count)
    block = spot // BLOCK
    word = chosen.gather(1, block) % blocks * BLOCK + spot % BLOCK
    return best, beam.gather(1, block), word


def _force(
    logits: Tensor, live: Tensor, prefixes: Sequence[Sequence[int]], step: int, beams: int = 1
) -> None:
    """Leave only the prefix's word possible while a sentence is inside its prefix.

    A search begins with one beam, so only one carries the prefix; the others stay impossible.
    """
    for row, sentence in enumerate(live.tolist()):
        if step < len(prefixes[sentence]):
            rows = slice(row * beams, (row + 1) * beams)
            logits[rows] = -math.inf
            logits[rows, prefixes[sentence][step]] = 0.0
