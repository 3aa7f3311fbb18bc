"""Label-smoothed cross-entropy over real tokens, twice: `smoothed` to read, `projected` to run.

Both leave the padding id out of the softmax: nothing should ever learn to predict it.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor

from heedful.nn.linear import ROWS, asked, product, products_in, shortened
from heedful.nn.shapes import MD, MV, M

CHUNK = 1 << 21
"""Logits alive at once in `projected`: small enough for a CPU's cache, large enough for speed."""
LEAST = 2 * ROWS
"""Tokens of a chunk, however large the vocabulary: each costs a sum over all its weights."""

LINE = 64
"""A row of logits has a multiple of so many columns: four of a CPU's cache lines, and the block in
which a beam search finds a maximum first (`decoding/search.py`)."""


def aligned(words: int) -> int:
    """Round a vocabulary up, so that each row of logits begins where the first one does.

    Rows of 4,001 numbers begin anywhere, and a CPU's matrix product that has to write or read them
    takes half as long again.
    """
    return -(-words // LINE) * LINE


class Loss(NamedTuple):
    """Sums over tokens, so that batches add up; divide by the tokens for a mean."""

    loss: Tensor
    """What is minimised: smoothed cross-entropy."""
    nll: Tensor
    """Plain negative log-likelihood, of which perplexity is made; carries no gradient."""


def smoothed(logits: MV, targets: M, smoothing: float, pad: int | None) -> Loss:
    """Compare predictions with a target that gives `smoothing` of its weight to all words alike.

    The right word's share is 1 - smoothing plus its part of what all share.
    """
    if pad is not None:
        logits = torch.cat([logits[:, :pad], logits[:, pad + 1 :]], dim=1)
        targets = targets - (targets > pad).long()
    logp = logits.log_softmax(-1)
    nll = -logp.gather(1, targets[:, None]).sum()
    loss = (1 - smoothing) * nll - smoothing * logp.mean(-1).sum()
    return Loss(loss, nll.detach())


class _Projected(torch.autograd.Function):
    """Logits, loss and gradients in one pass over chunks of tokens: V x M is never stored."""

    @staticmethod
    def forward(
        ctx: Any,
        hidden: Tensor,
        weight: Tensor,
        bias: Tensor | None,
        targets: Tensor,
        smoothing: float,
        pad: int | None,
    ) -> tuple[Tensor, Tensor]:
        words = weight if asked.onednn else shortened(weight)[: weight.size(0)]
        classes = weight.size(0) - (pad is not None)
        rows = max(LEAST, CHUNK // weight.size(0) // ROWS * ROWS)
        loss, nll = hidden.new_zeros(()), hidden.new_zeros(())  # Apple's GPUs have no float64
        wanted = any(ctx.needs_input_grad)
        d_hidden = torch.empty_like(hidden) if wanted else None
        make = torch.empty_like if len(hidden) else torch.zeros_like
        d_weight = make(weight) if wanted else None
        d_bias = torch.zeros_like(bias) if wanted and bias is not None else None
        room = hidden.new_empty(min(rows, hidden.size(0)), aligned(weight.size(0)))
        for part in range(0, hidden.size(0), rows):
            states = shortened(hidden[part : part + rows])
            wanted_ids = targets[part : part + rows, None]
            logits = room[: len(wanted_ids), : weight.size(0)]
            _multiply(states, words.T, logits)
            if bias is not None:
                logits += bias
            if pad is not None:
                logits[:, pad] = 0
            if smoothing:
                row_sum = logits.sum(-1, keepdim=True)
            if pad is not None:
                logits[:, pad] = -math.inf
            top = logits.amax(-1, keepdim=True)  # max(dim) also finds the index, many times slower
            logit_of_right = logits.gather(1, wanted_ids)
            probabilities = logits.sub_(top).exp_()
            total = probabilities.sum(-1, keepdim=True)
            log_total = total.log() + top
            part_nll = (log_total - logit_of_right).sum()
            nll += part_nll
            loss += (1 - smoothing) * part_nll
            if smoothing:
                loss += smoothing * (log_total - row_sum / classes).sum()
            if d_hidden is None or d_weight is None:
                continue
            gradient = probabilities.div_(total)
            if smoothing:
                gradient.sub_(smoothing / classes)
                if pad is not None:
                    gradient[:, pad] = 0
            ones = torch.full_like(wanted_ids, -(1 - smoothing), dtype=gradient.dtype)
            gradient.scatter_add_(1, wanted_ids, ones)
            if d_bias is not None:
                d_bias += gradient.sum(0)
            gradient = shortened(gradient)
            _multiply(gradient, words, d_hidden[part : part + rows])
            _multiply(gradient.T, states, d_weight, add=part > 0)
        ctx.save_for_backward(d_hidden, d_weight, d_bias)
        return loss, nll

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        up = gradients[0]
        d_hidden, d_weight, d_bias = ctx.saved_tensors
        if d_bias is not None:
            d_bias = d_bias * up
        return d_hidden * up, d_weight.mul_(up), d_bias, None, None, None


def _multiply(a: Tensor, b: Tensor, out: Tensor, add: bool = False) -> None:
    """Write a product to `out`, or add it there.

    The factors may be bfloat16 and have padding rows; oneDNN can only allocate its result.
    """
    if a.dtype != out.dtype or asked.onednn:
        found = product(a, b)[: len(out)]
        out.add_(found) if add else out.copy_(found)
    elif add:
        out.addmm_(a, b)
    else:  # no zeros to write first
        torch.mm(a, b, out=out)


def projected(
    hidden: MD, weight: Tensor, bias: Tensor | None, targets: M, smoothing: float, pad: int | None
) -> Loss:
    """Do the same as `smoothed` from the decoder's states, without ever storing all logits."""
    numbers = asked.numbers
    if numbers == torch.float16:  # a word's share of the smoothing is below its smallest number
        numbers = torch.float32
    # Sums over a vocabulary need float32, whatever its products are in.
    with torch.autocast(hidden.device.type, enabled=False), products_in(numbers, asked.onednn):
        states = hidden.to(weight.dtype)
        loss, nll = _Projected.apply(states, weight, bias, targets, smoothing, pad)  # type: ignore[no-untyped-call]
    return Loss(loss, nll.detach())
