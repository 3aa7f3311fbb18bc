"""The encoder-decoder of "Attention Is All You Need"."""

from __future__ import annotations

import math

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from heedful.nn import masks
from heedful.nn.cache import DecoderCache, Memory
from heedful.nn.dropout import Dropout
from heedful.nn.init import initialise
from heedful.nn.loss import Loss, aligned, projected
from heedful.nn.observe import passing
from heedful.nn.packed import Packed
from heedful.nn.positions import Learned, Positions, Sinusoid
from heedful.nn.shapes import BS, BT, BTD, BTV, B
from heedful.nn.stacks import Decoder, Encoder
from heedful.settings import ModelSettings, TokenIds


class Transformer(nn.Module):
    """Source ids in, logits of the next target word out.

    One matrix serves as source embedding, target embedding and output projection unless a tie
    is undone. The embedding is multiplied by sqrt(d_model) before the positions are added.
    """

    def __init__(self, settings: ModelSettings, ids: TokenIds) -> None:
        super().__init__()
        s = settings
        self.settings, self.ids = settings, ids
        self.target_embedding = nn.Embedding(ids.size, s.d_model, padding_idx=ids.pad)
        self.source_embedding = (
            self.target_embedding
            if s.share_embeddings
            else nn.Embedding(ids.size, s.d_model, padding_idx=ids.pad)
        )
        self.positions: Positions = (
            Learned(s.d_model, s.max_positions)
            if s.positions == "learned"
            else Sinusoid(s.d_model, concatenated=s.positions == "concatenated")
        )
        sizes = {
            "d_ff": s.d_ff,
            "n_heads": s.n_heads,
            "d_head": s.d_head,
            "d_value": s.d_value,
            "norm": s.norm,
            "activation": s.activation,
            "comparison": s.attention,
            "dropout": s.dropout,
            "attention_dropout": s.attention_dropout,
            "ff_dropout": s.ff_dropout,
        }
        self.dropout = Dropout(s.dropout)
        self.encoder = Encoder(s.encoder_layers, s.d_model, **sizes)
        self.decoder = Decoder(s.decoder_layers, s.d_model, **sizes)
        self.output_weight = (
            self.target_embedding.weight
            if s.share_output
            else nn.Parameter(torch.empty(ids.size, s.d_model))
        )
        self.output_bias = nn.Parameter(torch.zeros(ids.size)) if s.output_bias else None
        self.tied = frozenset(
            name
            for name, shared in (
                ("source_embedding.weight", s.share_embeddings),
                ("output_weight", s.share_output),
            )
            if shared
        )
        """Other names of the target embedding."""
        self._words = Packed()
        initialise(self, ids.pad)
        if not s.share_output:
            nn.init.normal_(self.output_weight, std=s.d_model**-0.5)

    def embed(self, ids: BT, embedding: nn.Embedding, start: int = 0) -> BTD:
        """Look up the words, scale them, add where they stand."""
        x = passing(embedding, embedding(ids)) * math.sqrt(self.settings.d_model)
        return self.dropout(x + self.positions(start, ids.size(1), x))  # type: ignore[no-any-return]

    def encode(self, source: BS, lengths: B) -> Memory:
        """Read the source once; everything the decoder ever asks of it is in the result."""
        keep = masks.padding(lengths, source.size(1))
        return Memory(self.encoder(self.embed(source, self.source_embedding), keep), keep)

    def decode(self, target: BT, memory: Memory, lengths: B | None = None) -> BTD:
        """Give the decoder's states for a whole target at once, as training does."""
        if lengths is None:
            lengths = target.new_full((target.size(0),), target.size(1))
        keep = masks.look_ahead(lengths, target.size(1))
        return self.decoder(self.embed(target, self.target_embedding), keep, memory)  # type: ignore[no-any-return]

    def step(self, words: B, memory: Memory, cache: DecoderCache) -> Tensor:
        """Give the logits that follow one new word per row; the cache holds the words before.

        There may be columns past the vocabulary, all of -inf.
        """
        x = self.embed(words[:, None], self.target_embedding, start=cache.length)
        return self._logits(self.decoder(x, None, memory, cache))[:, 0]

    def cache(self) -> DecoderCache:
        """Make an empty cache for a new search."""
        return DecoderCache(len(self.decoder.layers))

    def logits(self, states: BTD) -> BTV:
        """Compare each state with every word; the padding can never be predicted."""
        return self._logits(states)[..., : self.ids.size]

    def _logits(self, states: BTD) -> Tensor:
        if self._words.applies(states):
            parameters = (self.output_weight, self.output_bias)
            return self._words.linear(states, parameters, self._laid_out)
        logits = F.linear(states, self.output_weight, self.output_bias)
        logits[..., self.ids.pad] = -math.inf
        return logits

    def _laid_out(self) -> tuple[Tensor, Tensor]:
        """Fill the vocabulary up to whole cache lines, with words as impossible as the padding."""
        weight, size = self.output_weight, self.ids.size
        words = weight.new_zeros(aligned(size), weight.size(1))
        bias = weight.new_full((len(words),), -math.inf)
        words[:size] = weight
        bias[:size] = 0 if self.output_bias is None else self.output_bias
        bias[self.ids.pad] = -math.inf
        return words, bias

    def forward(self, source: BS, lengths: B, target: BT, target_lengths: B | None = None) -> BTV:
        """Give the logits of every target position; `target` begins with the start symbol."""
        return self.logits(self.decode(target, self.encode(source, lengths), target_lengths))

    def loss(self, source: BS, lengths: B, target: BT, target_lengths: B, smoothing: float) -> Loss:
        """Sum the loss of predicting each target word, and the end, from those before it.

        `target` is without start and end; both are added here, which is the shift to the right.
        """
        rows, size = target.shape
        first = target.new_full((rows, 1), self.ids.start)
        states = self.decode(
            torch.cat([first, target], dim=1), self.encode(source, lengths), target_lengths + 1
        )
        goal = torch.cat([target, target.new_full((rows, 1), self.ids.pad)], dim=1)
        goal = goal.scatter(1, target_lengths[:, None], self.ids.eos)
        real = masks.real(target_lengths + 1, size + 1)  # padding is neither predicted nor paid for
        return projected(
            states[real], self.output_weight, self.output_bias, goal[real], smoothing, self.ids.pad
        )

    @property
    def parameters_total(self) -> int:
        """Numbers that are learned, tied ones counted once."""
        return sum(p.numel() for p in self.parameters())
