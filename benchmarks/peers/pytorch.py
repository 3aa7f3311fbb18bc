"""`torch.nn.Transformer`, with the embeddings, positions and tied output that it leaves out."""

from __future__ import annotations

import math
from typing import Any

import torch
from torch import Tensor, nn

from benchmarks.peers.work import Rows, Trainer, TrainingWork


class Model(nn.Module):
    """Ids in, logits out; as in the paper, so no attention or inner dropout, and no last norm."""

    positions: Tensor

    def __init__(self, work: TrainingWork) -> None:
        super().__init__()
        s, self.pad = work.sizes, work.ids.pad
        d = s["d_model"]
        self.embedding = nn.Embedding(work.ids.size, d, padding_idx=self.pad)
        nn.init.normal_(self.embedding.weight, std=d**-0.5)
        self.dropout = nn.Dropout(s["dropout"])
        self.transformer = nn.Transformer(
            d,
            s["n_heads"],
            s["encoder_layers"],
            s["decoder_layers"],
            s["d_ff"],
            s["dropout"],
            batch_first=True,
        )
        self.transformer.encoder.norm = self.transformer.decoder.norm = None
        for module in self.transformer.modules():
            if isinstance(module, nn.MultiheadAttention):
                module.dropout = 0.0
            if isinstance(module, nn.TransformerEncoderLayer | nn.TransformerDecoderLayer):
                module.dropout = nn.Identity()
        angle = torch.arange(1024)[:, None] * torch.exp(
            torch.arange(0, d, 2) * (-math.log(10_000.0) / d)
        )
        self.register_buffer("positions", torch.cat([angle.sin(), angle.cos()], dim=1))

    def embed(self, ids: Tensor) -> Tensor:
        """Look up, scale, add positions, drop."""
        x = self.embedding(ids) * math.sqrt(self.embedding.embedding_dim)
        return self.dropout(x + self.positions[: ids.size(1)])  # type: ignore[no-any-return]

    def forward(self, source: Tensor, target: Tensor) -> Tensor:
        """Give the logits of every target position."""
        silent = source == self.pad
        size = target.size(1)
        future = torch.ones(size, size, dtype=torch.bool).triu(1)
        states = self.transformer(
            self.embed(source),
            self.embed(target),
            tgt_mask=future,
            src_key_padding_mask=silent,
            memory_key_padding_mask=silent,
            tgt_is_causal=True,
        )
        return nn.functional.linear(states, self.embedding.weight)


class PyTorch(Trainer):
    """Training it."""

    def logits(self, rows: Rows) -> Tensor:
        """Padding of the target is on the right, so the future's mask hides it too."""
        logits: Tensor = self.model(rows.source, rows.given)
        return logits


def trainer(work: str) -> Any:
    """Make ready to train."""
    read = TrainingWork.read(work)
    torch.manual_seed(1)
    return PyTorch(Model(read), read)
