"""Hugging Face's MarianMT: training, and `generate` with the weights that Heedful exported."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import torch
from torch import Tensor
from transformers import MarianConfig, MarianMTModel

from benchmarks.peers.work import Rows, Trainer, TrainingWork, rectangle


class Marian(Trainer):
    """Training it."""

    def logits(self, rows: Rows) -> Tensor:
        """Padding of the target is on the right, so the future's mask hides it too."""
        logits: Tensor = self.model(
            input_ids=rows.source,
            attention_mask=(rows.source != self.work.ids.pad).long(),
            decoder_input_ids=rows.given,
            use_cache=False,
        ).logits
        return logits


def trainer(work: str, numbers: str = "float32") -> Any:
    """Make ready to train a model of these sizes, with the paper's dropout sites only."""
    read = TrainingWork.read(work)
    s, ids = read.sizes, read.ids
    torch.manual_seed(1)
    config = MarianConfig(
        vocab_size=ids.size,
        decoder_vocab_size=ids.size,
        d_model=s["d_model"],
        encoder_layers=s["encoder_layers"],
        decoder_layers=s["decoder_layers"],
        encoder_attention_heads=s["n_heads"],
        decoder_attention_heads=s["n_heads"],
        encoder_ffn_dim=s["d_ff"],
        decoder_ffn_dim=s["d_ff"],
        activation_function="relu",
        dropout=s["dropout"],
        attention_dropout=0.0,
        activation_dropout=0.0,
        scale_embedding=True,
        share_encoder_decoder_embeddings=True,
        tie_word_embeddings=True,
        pad_token_id=ids.pad,
        eos_token_id=ids.eos,
        decoder_start_token_id=ids.start,
        forced_eos_token_id=None,
        max_position_embeddings=1024,
    )
    made = Marian(MarianMTModel(config), read)
    made.numbers = numbers
    return made


class Generate:
    """`generate` over batches of sentences."""

    def __init__(self, path: Path) -> None:
        work = json.loads((path / "work.json").read_text(encoding="utf-8"))
        self._sources, self._pad, self._steps = work["sources"], work["ids"]["pad"], work["steps"]
        self._eos = work["ids"]["eos"]
        self._model = MarianMTModel.from_pretrained(path / "huggingface").eval()
        # The padding's bias forbids it already; a list of bad words would only cost time.
        self._model.generation_config.bad_words_ids = None

    @torch.inference_mode()
    def __call__(self, batch: int, beam: int, every: int = 1) -> list[list[int]]:
        """Give the ids of every sentence."""
        found: list[list[int]] = []
        sources = self._sources[::every]
        for begin in range(0, len(sources), batch):
            rows = [[*s, self._eos] for s in sources[begin : begin + batch]]
            source = rectangle(rows, self._pad)
            given = self._model.generate(
                input_ids=source,
                attention_mask=(source != self._pad).long(),
                num_beams=beam,
                do_sample=False,
                max_new_tokens=self._steps,
                max_length=None,
                early_stopping=False,
            )
            found += given[:, 1:].tolist()
        return found


def decoder(work: str) -> Any:
    """Make ready to decode."""
    return Generate(Path(work))
