"""Every measurement runs, at toy size; no figure is asserted but those that are counted."""

from __future__ import annotations

from pathlib import Path

import pytest
from benchmarks import __main__ as bench
from benchmarks import contest, memory, training
from benchmarks.captions import captions
from benchmarks.joey import NO_INSTALL
from benchmarks.peers.work import Ids, TrainingWork
from benchmarks.sizes import QUICK, TOY


@pytest.fixture(autouse=True)
def _invented_text_and_no_downloads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HEEDFUL_DATA", raising=False)
    monkeypatch.setenv(NO_INSTALL, "1")


SLOW = ("decoding", "growth", "startup", "serving")
"""Even as toys they take half a minute each: `make prove` runs them."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.long) if n in SLOW else n for n in bench.SECTIONS],
)
def test_a_section_writes_itself_and_leaves_the_others(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Starting the peers once is enough.
    monkeypatch.setattr(memory, "entries", lambda path: training.entries(path)[:1])
    output = tmp_path / "benchmarks.md"
    other = next(s for s in bench.SECTIONS if s != name)
    output.write_text(bench.replace("", other, "as it was"), encoding="utf-8")
    bench.main(["--quick", name, "-o", str(output)])
    text = output.read_text(encoding="utf-8")
    assert f"## {other}\n\nas it was\n" in text
    section = text.split(f"## {name}\n")[1].split("\n## ")[0]
    assert "| ---" in section
    assert "cores" in section
    for word in ("failed", "Error"):
        assert word not in section, section


@pytest.mark.long
def test_all_contenders_have_the_same_number_of_weights(tmp_path: Path) -> None:
    work = captions(QUICK.pieces, QUICK.pairs, QUICK.sentences).work(TOY, 1, QUICK.budget)
    work.write(tmp_path / "work.json")
    found = {}
    for entry in training.entries(tmp_path / "work.json"):
        entry.begin()
        entry.close()
        if not entry.absent:
            found[entry.name] = entry.facts["parameters"]
    assert "Heedful" in found
    assert len(set(found.values())) == 1, found


def test_a_contender_that_is_not_there_says_so() -> None:
    entry = contest.Entry("nobody", "nobody", "trainer")
    entry.begin()
    entry.close()
    assert entry.absent == "not installed: benchmarks.peers.nobody"


def test_flops_are_six_for_each_weight_and_real_token() -> None:
    sizes = {"d_model": 2, "d_ff": 3, "n_heads": 1, "encoder_layers": 1, "decoder_layers": 1}
    ids = Ids(size=7, eos=0, unk=1, pad=6, start=6)
    work = TrainingWork(sizes, ids, [([[2, 3, 0], [2, 0]], [[4], []])])
    read, said = 5, 3
    source = (
        4 * 2 * 2 + 2 * 2 * 3 + 2 * 2 * 2
    )  # attention, feed-forward, keys and values for the decoder
    target = 4 * 2 * 2 + 2 * 2 * 2 + 2 * 2 * 3 + 7 * 2
    assert training.flops(work) == 6 * (read * source + said * target)


def test_the_least_a_cache_holds_is_a_key_and_a_value_a_layer_and_position() -> None:
    held, least = memory.cache_bytes(QUICK, steps=16)
    assert least == 4 * 2 * 2 * 32 * (16 + 20)
    assert held >= least


def test_batches_are_as_training_makes_them() -> None:
    text = captions(QUICK.pieces, QUICK.pairs, QUICK.sentences)
    for sources, targets in text.work(TOY, 3, QUICK.budget).batches:
        wide = max(map(len, sources)) + max(len(t) + 1 for t in targets)
        assert len(sources) * wide <= QUICK.budget
        assert all(s[-1] == text.tokenizer.ids.eos for s in sources)
