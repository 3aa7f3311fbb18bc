"""What the first layer makes of words, kept, against the layer itself."""

from __future__ import annotations

import math
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import torch
from quick_case import IDS, MODELS, SOURCES, made
from torch import Tensor

from heedful.decoding import first
from heedful.decoding.batch import search
from heedful.decoding.first import First, opened
from heedful.decoding.maps import Map, Norm, joint, mapped, normed
from heedful.decoding.quick import Quick
from heedful.models.transformer import Transformer
from heedful.nn.layers import DecoderLayer
from heedful.settings import DecodeSettings


def of(model: Transformer) -> tuple[First, DecoderLayer]:
    layer: DecoderLayer = model.decoder.layers[0]  # type: ignore[assignment]
    torch.nn.init.normal_(layer.attention_norm.weight, mean=1.0, std=0.3)
    found = First.of(model, model.target_embedding, layer)
    assert found is not None
    return found, layer


def both(
    model: Transformer, known: First, layer: DecoderLayer, words: Tensor, start: int
) -> list[Tensor]:
    """Give queries, keys and values as they are kept, and as the layer computes them."""
    length = words.size(1)
    x = model.target_embedding(words) * math.sqrt(model.settings.d_model)
    x = (x + model.positions(start, length, x)).flatten(0, 1)
    read = normed(x, Norm.of(layer.attention_norm)) if layer.norm == "pre" else x
    flat = words.flatten()
    kept = opened(known.at(flat, start, length), flat, x)
    return [kept, mapped(read, Map.of(*joint(layer.attention)))]


@pytest.mark.parametrize("changes", [*MODELS, {"positions": "learned", "norm": "pre"}])
@torch.inference_mode()
def test_kept_or_computed_it_is_the_same(changes: dict[str, Any]) -> None:
    model = made(**changes)
    known, layer = of(model)
    for start, length in ((0, 1), (1, 1), (0, 7), (63, 1), (64, 1), (0, 130), (500, 3)):
        words = torch.randint(0, IDS.size, (5, length))
        for _ in range(2):  # met for the first time, and known
            torch.testing.assert_close(
                *both(model, known, layer, words, start), atol=1e-5, rtol=1e-5
            )


@torch.inference_mode()
def test_a_word_once_learned_stays_as_it_is() -> None:
    known, _ = of(made(norm="pre"))
    once = known.at(torch.tensor([3]), 0, 1).words[3].clone()
    assert torch.equal(known.at(torch.tensor([3, 4, 5]), 0, 1).words[3], once)


def test_several_may_learn_at_once() -> None:
    model = made()
    known, layer = of(model)
    generator = torch.Generator().manual_seed(1)
    tables = [torch.randint(0, IDS.size, (2, n), generator=generator) for n in range(1, 60)]

    @torch.inference_mode()
    def right(words: Tensor) -> bool:
        return torch.allclose(*both(model, known, layer, words, 0), atol=1e-5, rtol=1e-5)

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(right, tables))


def test_made_in_one_mode_it_is_read_in_another() -> None:
    with torch.inference_mode():
        known, _ = of(made())
    assert known.at(torch.tensor([3]), 0, 1) is not None


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("most", [0, 53 * 36])  # no words; words, but only 32 places
def test_what_is_too_large_to_keep_is_computed(
    norm: str, most: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, decode = made(norm=norm), DecodeSettings(beam=3, max_length=40, guards=False)
    sources = [*SOURCES, [5] * 40]
    kept = search(model, sources, decode)
    monkeypatch.setattr(first, "MOST", most)
    known = Quick(model).first
    assert (known is None) == (most == 0)
    assert known is None or known.at(torch.tensor([3]), 32, 1) is None
    computed = search(model, sources, decode)
    for one, other in zip(kept, computed, strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        for h, g in zip(one, other, strict=True):
            assert math.isclose(h.logp, g.logp, abs_tol=1e-4)
