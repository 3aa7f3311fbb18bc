"""The settings several tasks share, each with its only default.

A field's description is its documentation; `heedful info --settings` prints it. The defaults are
the paper's base model. Presets in `recipes/` and what a task chooses from the amount of data are
laid over them; what a person asked for lies on top. What only one task has is in its folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar, Literal

from pydantic import BaseModel, ConfigDict, Field, model_validator

FORMAT_VERSION = 1
"""The version of the model folder; raised when an older Heedful could no longer read a new one."""


class Table(BaseModel):
    """One table of settings: cannot be changed, and refuses a key it does not know."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", allow_inf_nan=False, use_attribute_docstrings=True
    )


class TokenIds(Table):
    """Which ids are special: data of each vocabulary, never constants in code."""

    size: int = Field(ge=3)
    """Number of ids, the padding included."""
    eos: int = 0
    """Ends a sentence."""
    unk: int = 1
    """An unknown piece; with byte fallback it never comes up."""
    pad: int
    """Fills a batch; outside the softmax. Its embedding is zero."""
    start: int
    """What the decoder reads first."""


class TokenizerSettings(Table):
    """The sentencepiece model learned from the training text."""

    vocab_size: int = Field(default=32_000, ge=300, le=1_000_000)
    """Pieces wanted, bytes and reserved ones included; fewer, or more, where the text needs it."""
    character_coverage: float = Field(default=0.9999, gt=0, le=1)
    """Share of the characters that get a piece of their own; rarer ones are spelled in bytes."""
    sample_lines: int = Field(default=300_000, ge=1)
    """At most so many sentences of each side, drawn at random, are read to learn the pieces."""
    regularisation: float = Field(default=0.0, ge=0, le=1)
    """Chance that a word of a training sentence is split in another way than the best one."""


class ModelSettings(Table):
    """The sizes and the variants of the Transformer; the defaults are the paper's base."""

    d_model: int = Field(default=512, ge=2)
    """Width of the residual stream."""
    d_ff: int = Field(default=2048, ge=1)
    """Width of the feed-forward's inner layer."""
    n_heads: int = Field(default=8, ge=1)
    """Attention heads of every layer."""
    d_head: int | None = Field(default=None, ge=1)
    """Width of a head's queries and keys (the paper's d_k); d_model / n_heads when not given."""
    d_value: int | None = Field(default=None, ge=1)
    """Width of a head's values (the paper's d_v); d_head when not given."""
    encoder_layers: int = Field(default=6, ge=1)
    """Layers of the encoder (the paper's N)."""
    decoder_layers: int = Field(default=6, ge=1)
    """Layers of the decoder."""
    dropout: float = Field(default=0.1, ge=0, lt=1)
    """On the embeddings and on every sublayer's output, as in the paper."""
    attention_dropout: float = Field(default=0.0, ge=0, lt=1)
    """On the attention weights; the paper has none."""
    ff_dropout: float = Field(default=0.0, ge=0, lt=1)
    """Inside the feed-forward, after its activation; the paper has none."""
    norm: Literal["post", "pre"] = "post"
    """LayerNorm after the residual sum (the paper) or before the sublayer."""
    activation: Literal["relu", "gelu", "swish"] = "relu"
    """The feed-forward's non-linearity."""
    positions: Literal["interleaved", "concatenated", "learned"] = "interleaved"
    """Sinusoids with sin and cos in turn (the paper), in halves (Marian), or a learned table."""
    max_positions: int = Field(default=1024, ge=1)
    """Rows of the learned table; the sinusoids have no end."""
    attention: Literal["scaled", "dot", "additive"] = "scaled"
    """How a query is compared with a key."""
    share_embeddings: bool = True
    """One matrix for source and target words."""
    share_output: bool = True
    """The target embedding is the output projection too."""
    output_bias: bool = False
    """Add a bias to the logits; imported models may have one."""

    @property
    def head_width(self) -> int:
        """Width of a head's queries and keys, given or not."""
        return self.d_head or self.d_model // self.n_heads

    @model_validator(mode="after")
    def _heads_fit(self) -> ModelSettings:
        if self.d_head is None and self.d_model % self.n_heads:
            raise ValueError(
                f"model.d_model = {self.d_model} is not a multiple of model.n_heads = "
                f"{self.n_heads}; give model.d_head or change one of them"
            )
        if self.positions != "learned" and self.d_model % 2:
            raise ValueError(
                f"model.d_model = {self.d_model} is odd; a sinusoid needs an even width"
            )
        return self


class TrainSettings(Table):
    """The paper's optimiser, schedule and smoothing, and when to stop, evaluate and save."""

    steps: int | None = Field(default=None, ge=1)
    """Optimiser steps at most."""
    epochs: float | None = Field(default=None, gt=0)
    """Passes over the data at most."""
    minutes: float | None = Field(default=None, gt=0)
    """Minutes for the whole command, preparation and final scoring included."""
    seed: int = Field(default=1, ge=0)
    """Everything random follows from it."""
    lr: float | None = Field(default=None, gt=0)
    """Peak learning rate; the paper's (d_model x warmup)^-0.5 when not given."""
    warmup: int = Field(default=4000, ge=1)
    """Steps in which the learning rate rises to its peak."""
    schedule: Literal["paper", "linear"] = "paper"
    """After the peak: fall with the square root of the step, or straight to zero at the end."""
    label_smoothing: float = Field(default=0.1, ge=0, lt=1)
    """Probability taken from the right word and spread over the others."""
    beta1: float = Field(default=0.9, ge=0, lt=1)
    """Adam's memory of the gradient."""
    beta2: float = Field(default=0.98, ge=0, lt=1)
    """Adam's memory of the gradient's square."""
    epsilon: float = Field(default=1e-9, gt=0)
    """Keeps Adam from dividing by zero."""
    weight_decay: float = Field(default=0.0, ge=0)
    """Decoupled weight decay on matrices; the paper has none."""
    clip: float = Field(default=1.0, ge=0)
    """Largest norm of the whole gradient; 0 turns clipping off."""
    accumulate: int = Field(default=1, ge=1)
    """Batches whose gradients are summed into one step."""
    evaluate_every: int | None = Field(default=None, ge=1)
    """Steps between evaluations on the development set; once an epoch by default."""
    patience: int = Field(default=8, ge=1)
    """Evaluations without a better development score before stopping early."""
    average: int = Field(default=5, ge=1)
    """Checkpoints averaged into the final weights where that scores better; 1 turns it off."""
    precision: Literal["auto", "float32", "bfloat16", "float16"] = "auto"
    """Numbers of the matrix products; auto takes bfloat16 or float16 where the hardware has it."""
    compile: bool = False
    """Have torch.compile fuse each layer: for GPUs, never measured there; slower on a CPU."""
    log_every: int = Field(default=50, ge=1)
    """Steps between lines of the log."""


class DecodeSettings(Table):
    """How text is searched for; each guard has one meaning on every engine."""

    beam: int = Field(default=4, ge=1, le=512)
    """Hypotheses kept; 1 is greedy."""
    length_penalty: float = 0.6
    """Scores are divided by ((offset + length) / (offset + 1)) to this power: more is longer."""
    length_offset: float = Field(default=5.0, ge=0)
    """Of length_penalty: 5 in GNMT and the paper; 0 in Marian, Hugging Face and our trainings."""
    max_length: int | None = Field(default=None, ge=1)
    """Pieces a sentence's translation may have; only the guards limit it when not given."""
    guards: bool = True
    """Stop output that will not end: the length guard and the repetition guard."""
    guard_ratio: float = Field(default=3.0, gt=0)
    """Length guard: at most this many target pieces for each source piece, and guard_extra more."""
    guard_extra: int = Field(default=32, ge=1)
    """Length guard: target pieces beyond those of guard_ratio, however short the sentence."""
    guard_repeats: int = Field(default=6, ge=2)
    """Repetition guard: stop when the last pieces (24 or more) are one pattern so many times."""
    batch_tokens: int = Field(default=8192, ge=1)
    """Source positions decoded together, padding and beams included."""
    split_above: int = Field(default=128, ge=8)
    """Lines with more pieces are split into sentences; training sets it from its longest lines."""


class SamplingSettings(Table):
    """Draw words instead of searching for the best ones."""

    seed: int = Field(default=1, ge=0)
    """The same seed and sentence give the same draw, alone or in any batch."""
    temperature: float = Field(default=1.0, gt=0)
    """Below 1 the likely words gain, above 1 the unlikely ones."""
    top_k: int = Field(default=0, ge=0)
    """Draw from so many of the likeliest words; 0 is all."""
    top_p: float = Field(default=1.0, gt=0, le=1)
    """Draw from the fewest words that together have this probability."""


class TaskSettings(Table):
    """What every task's settings have; a task adds tables of its own."""

    tables: ClassVar[tuple[str, ...]] = ()
    """Tables of config.toml that belong to one model and are no settings, such as its ids."""

    if TYPE_CHECKING:  # each task declares them itself, in the order of its config.toml
        task: str
        train: TrainSettings
