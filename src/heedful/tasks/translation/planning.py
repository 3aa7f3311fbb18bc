"""Choosing what nobody chose: sizes, dropout, batch and schedule from the data and the time.

A setting that a person, a preset or a recipe gave is never touched. The rules are simple on
purpose. Norm and learning rate were measured (docs/log/training.md); the sizes of vocabulary, batch
and dropout and the number of epochs are rules of thumb that nothing here has measured yet.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from heedful import config
from heedful.settings import ModelSettings
from heedful.tasks.contract import Plan, Prepared
from heedful.tasks.translation.settings import Settings
from heedful.train.rate import BARE, EFFICIENCY, SHARE_FOR_STEPS


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
    flops_per_token: float
    """Arithmetic for one source and one target token."""


def layer_parameters(model: ModelSettings) -> tuple[int, int]:
    """Count the matrix weights a source position and a target position are multiplied with."""
    d, head = model.d_model, model.head_width
    value = model.d_value or head
    attention = model.n_heads * (2 * d * head + 2 * d * value)
    feed_forward = 2 * d * model.d_ff
    encoder = model.encoder_layers * (attention + feed_forward)
    # The keys and values of cross-attention are made once a source position, in every layer.
    from_source = model.decoder_layers * model.n_heads * d * (head + value)
    decoder = model.decoder_layers * (2 * attention + feed_forward) - from_source
    return encoder + from_source, decoder


def estimate(model: ModelSettings, facts: Facts) -> Estimate:
    """Foresee the parameters, and the arithmetic of an epoch: 6 FLOPs a weight and token."""
    source, target = layer_parameters(model)
    embedding = facts.vocabulary * model.d_model
    flops = 6.0 * (facts.source_tokens * source + facts.target_tokens * (target + embedding))
    copies = 1 + (not model.share_embeddings) + (not model.share_output)
    return Estimate(
        source + target + copies * embedding,
        flops,
        6.0 * (source + target + embedding),
    )


def memory(model: ModelSettings, parameters: int, batch_tokens: int, workers: int = 1) -> float:
    """Foresee the most bytes a training holds: weights, gradients, moments, activations.

    A position keeps about ten vectors of d_model and two of d_ff in an encoder layer, eighteen and
    two in a decoder layer, whose attentions are two.
    """
    numbers = parameters * (1 + workers + 2)
    wide, inner = model.d_model, 2 * model.d_ff
    layers = model.encoder_layers * (10 * wide + inner) + model.decoder_layers * (18 * wide + inner)
    return BARE + 4.0 * (numbers + layers * batch_tokens / 2)


def plan(prepared: Prepared, workers: int) -> Plan:
    """Foresee a training of the planned model, and of the other sizes."""
    settings, facts = prepared.settings, prepared.facts
    m, batch = settings.model, settings.data.batch_tokens
    foreseen = estimate(m, facts)
    others = {
        name: estimate(ModelSettings.model_validate(size), facts) for name, size in SIZES.items()
    }
    return Plan(
        lines=[
            f"{facts.pairs:,} pairs to learn from, {len(prepared.dev):,} to check on; "
            f"{facts.vocabulary:,} pieces; "
            f"{facts.source_tokens:,} + {facts.target_tokens:,} tokens",
            f"model: {m.encoder_layers} + {m.decoder_layers} layers, d_model {m.d_model}, "
            f"d_ff {m.d_ff}, {m.n_heads} heads, {foreseen.parameters / 1e6:.1f} M parameters, "
            f"dropout {m.dropout}",
        ],
        arithmetic=f"{foreseen.flops_per_token / 1e6:.0f} MFLOP for a source and a target token",
        bytes=memory(m, foreseen.parameters, batch, workers),
        parameters=foreseen.parameters,
        flops_per_epoch=foreseen.flops_per_epoch,
        units_per_epoch=facts.source_tokens + facts.target_tokens,
        units_per_batch=batch,
        sizes={name: (one.parameters, one.flops_per_epoch) for name, one in others.items()},
    )


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


def choose_model(raw: dict[str, Any], facts: Facts, rate: float, fast: bool) -> Settings:
    """Choose the model and its training from the data, the minutes and the machine's rate.

    `fast` says that the device is a GPU, where the large sizes are worth their time.
    """
    given = config.resolve(raw, Settings)
    minutes = given.train.minutes
    most = 1 if facts.pairs < 8_000 else 3 if facts.pairs >= 500_000 and fast else 2
    for size in reversed(list(SIZES.values())[:most]):
        model = config.part(ModelSettings, size | raw.get("model", {}), "model.")
        epochs = min(150.0, max(5.0, 150.0 * (1000 / facts.pairs) ** 0.45))
        if minutes is not None:
            seconds = estimate(model, facts).flops_per_epoch / (rate * EFFICIENCY)
            epochs = 60 * minutes * SHARE_FOR_STEPS / seconds
        if minutes is None or epochs >= ENOUGH_EPOCHS:
            break
    # On a CPU a larger batch than 4096 is no faster a token, and takes memory.
    batch = 2048 if facts.pairs < 60_000 else 4096 if facts.pairs < 400_000 or not fast else 8192
    batch = max(batch, 2 * (facts.longest + 2))
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
        "model": size | {"norm": "pre", "dropout": choose_dropout(epochs)},
        "data": {"batch_tokens": batch},
        "train": training,
        "decode": decode,
        "tokenizer": {"regularisation": 0.1 if epochs >= 20 else 0.0},
    }
    return config.resolve(config.merge(chosen, raw), Settings)


def choose_dropout(epochs: float) -> float:
    """The more often the data is seen, the more has to be done against learning it by heart."""
    return 0.1 if epochs < 5 else 0.15 if epochs < 12 else 0.2 if epochs < 25 else 0.3
