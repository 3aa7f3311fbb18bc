"""The page to read and the package to run are the same model."""

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest
import torch

from heedful.models.transformer import Transformer
from heedful.settings import ModelSettings, TokenIds

PAGE = Path(__file__).parents[1] / "examples" / "one_file.py"


@pytest.fixture(scope="module")
def page() -> ModuleType:
    spec = importlib.util.spec_from_file_location("one_file", PAGE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_its_logits_equal_the_packages(page: ModuleType) -> None:
    vocabulary, pad = 31, 30
    settings = ModelSettings(
        d_model=24, d_ff=38, n_heads=3, encoder_layers=2, decoder_layers=2, dropout=0.0
    )
    ours = Transformer(settings, TokenIds(size=vocabulary, pad=pad, start=pad)).eval()
    theirs = page.Transformer(vocabulary, 24, 38, 3, 2, 0.0).eval()
    weights = {
        name.replace("target_embedding", "embedding"): tensor
        for name, tensor in ours.state_dict().items()
        if name not in ("source_embedding.weight", "output_weight")
    }
    theirs.load_state_dict(weights, strict=True)
    source = torch.randint(2, pad, (3, 7))
    lengths, target = torch.tensor([7, 4, 1]), torch.randint(2, pad, (3, 5))
    with torch.inference_mode():
        expected = ours(source, lengths, target)[..., :pad]
        found = theirs(source, lengths, target)[..., :pad]
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_it_learns_to_turn_digits_round(page: ModuleType) -> None:
    assert page.accuracy(page.train(steps=600), count=60) >= 0.98


def test_its_learning_rate_is_the_packages(page: ModuleType) -> None:
    from heedful.train.optim import Schedule

    schedule = Schedule((64 * 400) ** -0.5, 400, "paper")
    for step in (1, 17, 400, 401, 9000):
        assert schedule.lr(step) == pytest.approx(page.learning_rate(step, 64, 400))
