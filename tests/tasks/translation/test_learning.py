"""What a training is told of its model on development text."""

import random
from types import SimpleNamespace
from typing import Any

import pytest
import torch

from heedful.data.padding import pad
from heedful.models.transformer import Transformer
from heedful.settings import ModelSettings, TokenIds
from heedful.tasks.translation.learning import TranslationLearner
from heedful.tasks.translation.settings import DataSettings, Settings


def test_the_development_loss_is_the_models_own_without_smoothing() -> None:
    ids = TokenIds(size=701, eos=0, unk=1, pad=700, start=700)
    model = Transformer(
        ModelSettings(d_model=14, d_ff=22, n_heads=2, encoder_layers=1, decoder_layers=2), ids
    ).eval()
    drawn = random.Random(1)
    dev = [
        tuple([drawn.randrange(2, 700) for _ in range(n)] for n in (m, 31 - m)) for m in range(31)
    ]
    task: Any = object.__new__(TranslationLearner)
    task.model, task.dev = model, dev
    task._settings = Settings(data=DataSettings(batch_tokens=150))
    task._tokenizer = SimpleNamespace(encode=lambda text, target=False: text)
    source, source_lengths = pad([[*s, ids.eos] for s, _ in dev], ids.pad)
    target, lengths = pad([t for _, t in dev], ids.pad)
    with torch.inference_mode():
        whole = model.loss(source, source_lengths, target, lengths, 0.0)
    assert task._dev_loss() == pytest.approx(float(whole.nll) / float(lengths.sum() + 31), abs=1e-6)
