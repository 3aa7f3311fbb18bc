"""The encoder laid out for speed against the encoder to read: the same states."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from quick_case import IDS, MODELS, SOURCES, made

from heedful.data.batching import pad
from heedful.decoding import maps, reader
from heedful.decoding.reader import Reader, read

BLOCKED = [False, True] if torch.backends.mkldnn.is_available() else [False]
LONGEST_FIRST = sorted(SOURCES, key=len, reverse=True)


@pytest.mark.parametrize("blocked", BLOCKED)
@pytest.mark.parametrize("changes", MODELS)
def test_what_is_read_is_what_the_model_reads(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], blocked: bool
) -> None:
    monkeypatch.setattr(maps, "blocks", lambda: blocked)
    model = made(**changes)
    for sources in (LONGEST_FIRST, [[5, 6, 7]] * 3, [[9]]):
        table, lengths = pad([[*s, IDS.eos] for s in sources], IDS.pad)
        with torch.inference_mode():
            wanted, found = model.encode(table, lengths), Reader(model).encode(table, lengths)
        assert torch.equal(found.keep, wanted.keep)
        assert torch.equal(found.lengths, wanted.lengths)
        real = wanted.keep[:, 0, 0]
        assert float((found.states[real] - wanted.states[real]).abs().max()) < 1e-5


def test_a_few_at_a_time_is_all_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    model = made()
    with torch.inference_mode():
        at_once = Reader(model).read(LONGEST_FIRST)
        monkeypatch.setattr(reader, "AT_ONCE", 9)
        few = Reader(model).read(LONGEST_FIRST)
        plain = read(model.encode, LONGEST_FIRST, IDS.eos, IDS.pad)
    real = at_once.keep[:, 0, 0]
    assert torch.equal(few.keep, at_once.keep)
    assert torch.allclose(few.states[real], at_once.states[real], atol=1e-6)
    assert torch.allclose(plain.states[real], at_once.states[real], atol=1e-5)
