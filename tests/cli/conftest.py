"""One tiny model for all tests of the command: trained once, changed by none."""

from __future__ import annotations

from pathlib import Path

import pytest
from command import Trained, call, training, two_files


@pytest.fixture(scope="session")
def trained(tmp_path_factory: pytest.TempPathFactory) -> Trained:
    folder = tmp_path_factory.mktemp("trained")
    files = two_files(folder, 200)
    how = training(
        *("model.d_model=32", "model.d_ff=48", "model.dropout=0", "train.lr=0.01"),
        *("train.warmup=10", "train.evaluate_every=50", "tokenizer.vocab_size=420"),
        *("tokenizer.regularisation=0", "decode.split_above=40"),
        steps=100,
    )
    command: list[object] = ["train", *files, "-o", folder / "model", *how]
    called = call(*command)
    assert called.code == 0, called.err
    return Trained(folder / "model", command, called)


@pytest.fixture
def model(trained: Trained) -> Path:
    return trained.model
