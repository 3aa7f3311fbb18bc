"""Choosing what nobody chose: sizes, dropout, batch and schedule from the data and the time.

A setting that a person, a preset or a recipe gave is never touched. The rules are simple on
purpose. Norm and learning rate were measured (docs/log/training.md); the sizes of vocabulary, batch
and dropout and the number of epochs are rules of thumb that nothing here has measured yet.
"""

from __future__ import annotations

import itertools
import time
from contextlib import nullcontext
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from heedful import config
from heedful.settings import ModelSettings, Settings, TrainSettings

if TYPE_CHECKING:
    from heedful.train.learner import Learner
    from heedful.train.precision import Precision

BatchT = TypeVar("BatchT")

__all__ = [
    "Estimate",
    "Facts",
    "calibrate",
    "choose_model",
    "choose_vocabulary",
    "estimate",
    "gain",
    "machine_rate",
    "memory",
]


@dataclass(frozen=True)
class Facts:
    """What is known of the data once it is prepared."""

    pairs: int
    source_tokens: int
    """Tokens of one epoch, the end symbols included."""
    target_tokens: int
    longest: int
    """Pieces of the longest source but for a few outliers."""
    vocabulary: int


@dataclass(frozen=True)
class Estimate:
    """What a training will take."""

    parameters: int
    flops_per_epoch: float
    """Arithmetic of one pass over the data, forward and backward."""
    seconds_per_epoch: float
    flops_per_token: float
    """Arithmetic for one source and one target token."""


def machine_rate(precision: Precision | None = None, trials: int = 12) -> float:
    """Measure what this machine can do: FLOP/s of a large matrix product on its processor.

    The best of several short trials, for whatever else the machine does only makes one slower.
    """
    import torch

    from heedful.nn.linear import product, shortened

    size = 768
    a = torch.randn(size, size)
    best = float("inf")
    with nullcontext() if precision is None else precision.numbers():
        a = shortened(a)
        for _ in range(trials):
            begun = time.perf_counter()
            for _ in range(4):
                product(a, a)
            best = min(best, time.perf_counter() - begun)
    return 4 * 2 * size**3 / best


EFFICIENCY = 0.75
"""Share of the matrix-product rate that a training step reaches; one timing gave 0.77."""
COPIES = 0.08
"""Of the time of the usual products: converting to other numbers or layouts and back."""


def gain(precision: Precision, usual: float) -> float:
    """Say how many times as fast a processor trains as with the usual products in float32.

    `usual` is the rate of those. Only the products are faster, the rest of a step is not. It
    foresees 1.5 and 2.1 where 1.45 and 2.1 were measured, in bfloat16 on two processors, and 1.6
    where 1.4 was by oneDNN in float32.
    """
    if precision.device != "cpu" or (precision.name == "float32" and not precision.onednn):
        return 1.0
    faster = machine_rate(precision, trials=2) / usual
    return (1 / EFFICIENCY) / (1 / faster + 1 / EFFICIENCY - 1 + COPIES)


def layer_parameters(model: ModelSettings) -> tuple[int, int]:
    """Count the matrix weights a source position and a target position are multiplied with."""
    d, head = model.d_model, model.d_head or model.d_model // model.n_heads
    value = model.d_value or head
    attention = model.n_heads * (2 * d * head + 2 * d * value)
    feed_forward = 2 * d * model.d_ff
    encoder = model.encoder_layers * (attention + feed_forward)
    # The keys and values of cross-attention are made once a source position, in every layer.
    from_source = model.decoder_layers * model.n_heads * d * (head + value)
    decoder = model.decoder_layers * (2 * attention + feed_forward) - from_source
    return encoder + from_source, decoder


def estimate(model: ModelSettings, facts: Facts, rate: float) -> Estimate:
    """Foresee parameters, arithmetic and time of an epoch: 6 FLOPs a weight and token."""
    source, target = layer_parameters(model)
    embedding = facts.vocabulary * model.d_model
    flops = 6.0 * (facts.source_tokens * source + facts.target_tokens * (target + embedding))
    copies = 1 + (not model.share_embeddings) + (not model.share_output)
    return Estimate(
        source + target + copies * embedding,
        flops,
        flops / (rate * EFFICIENCY),
        6.0 * (source + target + embedding),
    )


BARE = 320e6
"""Bytes of a process that has loaded torch and a tokeniser."""


KEPT_CODE = 500e6
"""Bytes of the code that oneDNN runs products with on a CPU: a thousand shapes at the most."""


def memory(
    model: ModelSettings,
    parameters: int,
    batch_tokens: int,
    workers: int = 1,
    short: bool = False,
) -> float:
    """Foresee the most bytes a training holds: weights, gradients, moments, activations.

    A position keeps about ten vectors of d_model and two of d_ff in an encoder layer, eighteen and
    two in a decoder layer, whose attentions are two.
    """
    numbers = parameters * (1 + workers + 2)
    wide, inner = model.d_model, 2 * model.d_ff
    layers = model.encoder_layers * (10 * wide + inner) + model.decoder_layers * (18 * wide + inner)
    code = KEPT_CODE if short else 0.0
    return BARE + code + 4.0 * (numbers + layers * batch_tokens / 2)


def calibrate(
    learner: Learner[BatchT],
    settings: TrainSettings,
    workers: int,
    precision: Precision | None = None,
    steps: int = 4,
) -> float:
    """Take a few real steps with a learning rate of zero; give the seconds one epoch will take."""
    from heedful.train.replicas import Replicas

    replicas: Replicas[BatchT] = Replicas(learner, settings, workers, precision)
    times = []
    try:
        for batch in itertools.islice(learner.batches(0, 0), steps + 1):
            begun = time.perf_counter()
            replicas.gradients([batch], list(range(workers)))
            replicas.norm()
            replicas.update(0.0, 1.0)
            times.append(time.perf_counter() - begun)
    finally:
        replicas.close()
    usual = times[1:] or times  # the first also finds its memory
    return sum(usual) / len(usual) * learner.size(0)


def choose_vocabulary(raw: dict[str, Any], pairs: int) -> dict[str, Any]:
    """Choose the number of pieces: more text supports more of them."""
    if config.chosen(raw, "tokenizer.vocab_size"):
        return raw
    size = int(min(32_000, max(800, 35 * pairs**0.5)))
    return config.merge(raw, {"tokenizer": {"vocab_size": size}})


SIZES: dict[str, dict[str, int]] = {
    "tiny": {"d_model": 128, "d_ff": 512, "n_heads": 4, "encoder_layers": 3, "decoder_layers": 3},
    "small": {"d_model": 256, "d_ff": 1024, "n_heads": 4, "encoder_layers": 3, "decoder_layers": 3},
    "base": {"d_model": 512, "d_ff": 2048, "n_heads": 8, "encoder_layers": 6, "decoder_layers": 6},
}
ENOUGH_EPOCHS = 4.0
"""A larger model that cannot see the data this often in the time given loses to a smaller one."""
PLAIN_PENALTY = {"length_penalty": 0.5, "length_offset": 0.0}
"""Leans towards longer translations as the paper's does at twenty pieces, in the form that Hugging
Face has: an exported model finds in their search what it finds in ours. Laid down whole or not at
all, for either number means something else beside another."""
SHARE_FOR_STEPS = 0.88
"""Of the minutes; the rest goes to preparing, evaluating and scoring."""


def choose_model(
    raw: dict[str, Any], facts: Facts, minutes: float | None, rate: float, fast: bool
) -> Settings:
    """Choose the model and its training from the data, the minutes and the machine's rate.

    `fast` says that the device is a GPU, where the large sizes are worth their time.
    """
    ladder = ["tiny", "small", "base"]
    step = 0 if facts.pairs < 8_000 else 2 if facts.pairs >= 500_000 and fast else 1
    while True:
        model = config.part(ModelSettings, SIZES[ladder[step]] | raw.get("model", {}), "model.")
        epochs = min(150.0, max(5.0, 150.0 * (1000 / facts.pairs) ** 0.45))
        if minutes is not None:
            seconds = estimate(model, facts, rate).seconds_per_epoch
            epochs = 60 * minutes * SHARE_FOR_STEPS / seconds
        if minutes is None or epochs >= ENOUGH_EPOCHS or step == 0:
            break
        step -= 1
    # On a CPU a larger batch than 4096 is no faster a token, and takes memory.
    batch = 2048 if facts.pairs < 60_000 else 4096 if facts.pairs < 400_000 or not fast else 8192
    batch = max(batch, 2 * (facts.longest + 2))
    given = config.resolve(raw)
    if config.chosen(raw, "data.batch_tokens"):
        batch = given.data.batch_tokens
    tokens = facts.source_tokens + facts.target_tokens
    per_epoch = tokens / (batch * given.train.accumulate)
    ends = [] if minutes is None else [epochs]
    if given.train.epochs is not None:
        ends.append(given.train.epochs)
    if given.train.steps is not None:
        ends.append(given.train.steps / per_epoch)
    training: dict[str, Any] = {}
    if ends:
        epochs = min(ends)
    else:
        training["epochs"] = round(epochs, 1)
    if not config.chosen(raw, "train.schedule"):
        training |= {
            "schedule": "linear",
            "lr": 2e-3 * (256 / model.d_model) ** 0.5,
            "warmup": int(min(4000, max(20, 0.08 * epochs * per_epoch))),
        }
    decode: dict[str, Any] = {"split_above": min(512, max(32, facts.longest))}
    if not any(config.chosen(raw, f"decode.{key}") for key in PLAIN_PENALTY):
        decode |= PLAIN_PENALTY
    chosen = {
        "model": SIZES[ladder[step]] | {"norm": "pre", "dropout": choose_dropout(epochs)},
        "data": {"batch_tokens": batch},
        "train": training,
        "decode": decode,
        "tokenizer": {"regularisation": 0.1 if epochs >= 20 else 0.0},
    }
    return config.resolve(config.merge(chosen, raw))


def choose_dropout(epochs: float) -> float:
    """The more often the data is seen, the more has to be done against learning it by heart."""
    return 0.1 if epochs < 5 else 0.15 if epochs < 12 else 0.2 if epochs < 25 else 0.3
