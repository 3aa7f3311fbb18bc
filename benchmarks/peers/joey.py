"""Joey NMT: its model, its loss, its batches and its search, in its own environment."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import torch
from joeynmt.batch import Batch
from joeynmt.builders import build_optimizer
from joeynmt.datasets import TokenBatchSampler
from joeynmt.model import build_model
from joeynmt.search import search
from joeynmt.transformer_layers import MultiHeadedAttention, PositionwiseFeedForward
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.utils.data import RandomSampler

from benchmarks.peers.work import Ids, Trainer, TrainingWork, rectangle

Pairing = tuple[list[list[int]], list[list[int]]]


class Vocabulary(SimpleNamespace):
    """What its model asks of a vocabulary: the special ids, and how many there are."""

    def __init__(self, ids: Ids) -> None:
        super().__init__(
            pad_index=ids.pad,
            bos_index=ids.start,
            eos_index=ids.eos,
            unk_index=ids.unk,
            sep_index=None,
            specials=[],
            lang_tags=[],
            size=ids.size,
        )

    def __len__(self) -> int:
        return int(self.size)


def make(sizes: dict[str, Any], ids: Ids, stock: bool = False) -> nn.Module:
    """Build a post-norm model with one tied matrix; with the paper's dropout sites only.

    `stock` leaves its own: also on the attention's weights and inside the feed-forward.
    """
    side = {
        "type": "transformer",
        "hidden_size": sizes["d_model"],
        "ff_size": sizes["d_ff"],
        "num_heads": sizes["n_heads"],
        "dropout": sizes["dropout"],
        "layer_norm": "post",
        "embeddings": {"embedding_dim": sizes["d_model"], "scale": True},
    }
    config = {
        "tied_embeddings": True,
        "tied_softmax": True,
        "encoder": {**side, "num_layers": sizes["encoder_layers"]},
        "decoder": {**side, "num_layers": sizes["decoder_layers"]},
    }
    vocabulary = Vocabulary(ids)
    model: nn.Module = build_model(config, vocabulary, vocabulary)
    for module in () if stock else model.modules():
        if isinstance(module, MultiHeadedAttention):
            module.dropout = nn.Identity()
        if isinstance(module, PositionwiseFeedForward):
            module.pwff_layer[2] = nn.Identity()
    return model


def batch_of(sources: list[list[int]], targets: list[list[int]] | None, ids: Ids) -> Batch:
    """Make a batch as its data loader does."""
    target = None
    if targets is not None:
        target = rectangle([[ids.start, *t, ids.eos] for t in targets], ids.pad)
    return Batch(
        src=rectangle(sources, ids.pad),
        src_length=torch.tensor([len(s) for s in sources]),
        src_prompt_mask=None,
        trg=target,
        trg_prompt_mask=None,
        indices=torch.arange(len(sources)),
        device=torch.device("cpu"),
        pad_index=ids.pad,
        eos_index=ids.eos,
        is_train=targets is not None,
    )


class Joey(Trainer):
    """Training it, with its own smoothed loss."""

    def __init__(self, model: nn.Module, work: TrainingWork) -> None:
        super().__init__(model, work)
        model.loss_function = ("crossentropy", work.smoothing)
        self.batches = [batch_of(source, target, work.ids) for source, target in work.batches]

    def loss(self, rows: Any) -> Tensor:
        """Do what its `_train_step` does."""
        rows.sort_by_src_length()
        loss, _, _, _ = self.model(return_type="loss", **vars(rows))
        normal: Tensor = rows.normalize(loss, normalization="tokens")
        return normal


class Pairs(list[tuple[int, list[int], list[int]]]):
    """The pairs of all batches, as its sampler wants a data set."""

    def own_batches(self, tokens: int) -> list[Pairing]:
        """Put them together anew as it does: at random, whatever their lengths."""
        order = RandomSampler(self, generator=torch.Generator().manual_seed(1))
        found = TokenBatchSampler(order, batch_size=tokens, drop_last=False, seed=1)
        return [([self[i][1] for i in rows], [self[i][2] for i in rows]) for rows in found]


def trainer(work: str, stock: bool = False) -> Any:
    """Make ready to train; `stock` has its own batches, dropout sites and Adam."""
    read = TrainingWork.read(work)
    if stock:
        pairs = [pair for batch in read.batches for pair in zip(*batch, strict=True)]
        widest = [len(s) * max(map(len, s)) for s, _ in read.batches]  # positions of one side
        own = Pairs((i, s, t) for i, (s, t) in enumerate(pairs)).own_batches(max(widest))
        read = replace(read, batches=own)
    torch.manual_seed(1)
    made = Joey(make(read.sizes, read.ids, stock), read)
    if stock:
        how = {"optimizer": "adam", "learning_rate": 1e-4, "adam_betas": (0.9, 0.98)}
        made.adam = build_optimizer(how, made.model.parameters())
    return made


ATTENTION = {"query": "q_layer", "key": "k_layer", "value": "v_layer", "output": "output_layer"}
PARTS = {
    "encoder": {
        "attention_norm": "layer_norm",
        **{f"attention.{ours}": f"src_src_att.{its}" for ours, its in ATTENTION.items()},
    },
    "decoder": {
        "attention_norm": "x_layer_norm",
        "cross_norm": "dec_layer_norm",
        **{f"attention.{ours}": f"trg_trg_att.{its}" for ours, its in ATTENTION.items()},
        **{f"cross.{ours}": f"src_trg_att.{its}" for ours, its in ATTENTION.items()},
    },
}
FEED_FORWARD = {
    "feed_forward_norm": "feed_forward.layer_norm",
    "feed_forward.inner": "feed_forward.pwff_layer.0",
    "feed_forward.outer": "feed_forward.pwff_layer.3",
}


def take(model: nn.Module, ours: dict[str, Tensor]) -> None:
    """Give it Heedful's weights: the two models differ in names, and in the norms' epsilon."""
    state = model.state_dict()
    shared = ours["target_embedding.weight"]
    for name in ("src_embed.lut", "trg_embed.lut", "decoder.output_layer"):
        state[f"{name}.weight"] = shared
    for side, parts in PARTS.items():
        layers = len(getattr(model, side).layers)
        for index in range(layers):
            for mine, its in {**parts, **FEED_FORWARD}.items():
                for kind in ("weight", "bias"):
                    place = f"{side}.layers.{index}"
                    state[f"{place}.{its}.{kind}"] = ours[f"{place}.{mine}.{kind}"]
    model.load_state_dict(state)
    for module in model.modules():
        if isinstance(module, nn.LayerNorm):
            module.eps = 1e-5


class Search:
    """Its search, over batches of sentences."""

    def __init__(self, path: Path) -> None:
        work = json.loads((path / "work.json").read_text(encoding="utf-8"))
        self._ids = Ids(**work["ids"])
        self._sources, self._steps = work["sources"], work["steps"]
        self._model = make(work["sizes"], self._ids).eval()
        take(self._model, load_file(path / "model" / "model.safetensors"))

    def __call__(self, batch: int, beam: int, every: int = 1) -> list[list[int]]:
        """Give the ids of every sentence; the end is forbidden, as everywhere."""
        found: list[list[int]] = []
        sources = self._sources[::every]
        for begin in range(0, len(sources), batch):
            rows = [[*s, self._ids.eos] for s in sources[begin : begin + batch]]
            given, _, _ = search(
                self._model,
                batch_of(rows, None, self._ids),
                max_output_length=self._steps,
                min_output_length=self._steps,
                beam_size=beam,
                beam_alpha=0.0,
            )
            found += given.tolist()
        return found


def decoder(work: str) -> Any:
    """Make ready to decode."""
    return Search(Path(work))
