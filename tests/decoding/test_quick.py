"""The step laid out for speed against the step to read: the same logits, the same searches."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from quick_case import IDS, MODELS, SIZES, SOURCES, made

from heedful.data.batching import pad
from heedful.decoding.batch import search
from heedful.decoding.freed import freed
from heedful.decoding.quick import Quick
from heedful.decoding.stepper import CachedStepper
from heedful.models.transformer import Transformer
from heedful.settings import DecodeSettings, ModelSettings, SamplingSettings, TokenIds


@pytest.mark.parametrize("changes", MODELS)
def test_every_step_gives_the_logits_of_the_step_to_read(changes: dict[str, Any]) -> None:
    model = made(**changes)
    table, lengths = pad([[*s, IDS.eos] for s in SOURCES], IDS.pad)
    with torch.inference_mode():
        memory = model.encode(table, lengths)
        plain, quick = CachedStepper(model, memory), Quick(model).begin(memory)
        words = torch.full((5,), IDS.start)
        for step in range(40):  # past the first buffer, which holds thirty-two
            one, other = plain.step(words), quick.step(words)
            assert float((one[:, : IDS.pad] - other[:, : IDS.pad]).abs().max()) < 1e-5
            assert one[:, IDS.pad :].isneginf().all()
            assert other[:, IDS.pad :].isneginf().all()  # more columns than there are words
            words = torch.randint(2, IDS.pad, (len(words),))
            chosen: tuple[list[int], list[int] | None] | None = {
                3: ([0, 0, 2, 2, 3, 3], [0, 2, 3]),  # two rows of each sentence that stays
                7: ([1, 0, 2, 2, 5, 4], None),  # beams reordered within their sentences
                20: ([2, 3, 4, 5], [1, 2]),
            }.get(step)
            if chosen is not None:
                rows = torch.tensor(chosen[0])
                sources = None if chosen[1] is None else torch.tensor(chosen[1])
                plain.select(rows, sources)
                quick.select(rows, sources)
                words = words[rows]


@pytest.mark.parametrize("changes", [*MODELS, {"d_model": 256, "d_ff": 520, "n_heads": 4}])
@pytest.mark.parametrize("copies", [1, 8, 30])
def test_out_of_the_interpreter_every_bit_is_the_same(
    changes: dict[str, Any], copies: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = made(**changes)
    sources = sorted(SOURCES * copies, key=len, reverse=True)  # 150 rows are enough for blocks
    found: list[list[torch.Tensor]] = []
    for free in (True, False):
        monkeypatch.setattr("heedful.decoding.freed.can_free", lambda free=free: free)
        quick = Quick(model)
        assert hasattr(quick.through, "graph") == free  # a program of torch's has one
        with torch.inference_mode():
            stepper = quick.begin(quick.read(sources))
            words = torch.full((len(sources),), IDS.start)
            found.append([])
            for step in range(40):
                found[-1].append(stepper.step(words))
                words = (words * 7 + step) % IDS.pad
                if step == 5:  # from here on few rows, even of many
                    stepper.select(torch.arange(3), torch.arange(3))
                    words = words[:3]
    for one, other in zip(*found, strict=True):
        assert torch.equal(one, other)


def test_without_its_source_a_function_runs_as_it_is() -> None:
    made_up: dict[str, Any] = {"__name__": "made_up"}
    exec("def twice(x):\n    return 2 * x", made_up)
    assert freed(made_up["twice"])(3) == 6


@pytest.mark.parametrize("seed", range(4))
def test_the_past_follows_its_rows_wherever_they_go(seed: int) -> None:
    """Rows are reordered, repeated and let go at random."""
    torch.manual_seed(seed)
    model = made(d_ff=520)  # wide enough for blocks
    table, lengths = pad([[*s, IDS.eos] for s in SOURCES], IDS.pad)
    with torch.inference_mode():
        memory = model.encode(table, lengths)
        plain, quick = CachedStepper(model, memory), Quick(model).begin(memory)
        words, sentences, beams = torch.full((5,), IDS.start), 5, 1
        for step in range(30):
            one, other = plain.step(words), quick.step(words)
            assert float((one[:, : IDS.pad] - other[:, : IDS.pad]).abs().max()) < 1e-5
            words = torch.randint(2, IDS.pad, (len(words),))
            stay = torch.arange(sentences)
            if step % 9 == 5 and sentences > 1:
                stay = torch.randperm(sentences)[: sentences - 1]
            wide = 3 if step >= 2 else 1
            within = torch.randint(0, beams, (len(stay), wide))
            if step % 2 and beams == wide:  # most of them stay where they are
                within = torch.arange(wide).expand(len(stay), -1).clone()
                within[0, 0] = beams - 1
            rows = (stay[:, None] * beams + within).flatten()
            same = beams == wide and len(stay) == sentences
            plain.select(rows, None if same else stay)
            quick.select(rows, None if same else stay)
            words, sentences, beams = words[rows], len(stay), wide


@pytest.mark.parametrize("changes", MODELS)
@pytest.mark.parametrize("beam", [1, 3])
def test_searches_find_the_same(
    changes: dict[str, Any], beam: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, decode = made(**changes), DecodeSettings(beam=beam, max_length=30)
    quick = search(model, SOURCES, decode, n_best=beam)
    monkeypatch.setattr(Quick, "suits", staticmethod(lambda model: False))
    plain = search(model, SOURCES, decode, n_best=beam)
    for one, other in zip(quick, plain, strict=True):
        assert [h.ids for h in one] == [h.ids for h in other]
        assert [h.logp for h in one] == pytest.approx([h.logp for h in other], abs=1e-4)


def test_what_it_does_not_suit_is_stepped_as_ever() -> None:
    assert not Quick.suits(made(attention="additive"))
    assert not Quick.suits(made().double())
    assert not Quick.suits(made().train())
    assert Quick.suits(made())
    found = search(made(attention="additive"), SOURCES, DecodeSettings(beam=2, max_length=5))
    assert len(found) == len(SOURCES)


def test_what_fills_the_vocabulary_up_is_never_a_word() -> None:
    small = TokenIds(size=7, pad=6, start=6)
    model = Transformer(ModelSettings.model_validate(SIZES), small).eval()
    sources, prefixes = [[3, 4], [5]], [[4, 3, 5], [3]]
    decode = DecodeSettings(beam=6, max_length=8)
    for found in (
        search(model, sources, decode, n_best=6),  # twice the beam is more than there are words
        search(model, sources, decode, n_best=6, prefixes=prefixes),
        search(model, sources, decode, n_best=9, sampling=SamplingSettings(temperature=50.0)),
    ):
        assert all(i < small.pad for one in found for h in one for i in h.ids)
