"""Training a model on with other text, on the smallest of models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from verbs_case import STEPS, Heard, write

from heedful.errors import ConfigError
from heedful.tasks.contract import Request
from heedful.tasks.translation.corpus import development_pairs
from heedful.tasks.translation.model import load_model, open_folder
from heedful.verbs.finetune import finetune


@pytest.mark.parametrize(
    ("changes", "says"),
    [
        ({"model": {"d_model": 64}}, "model.d_model = 64: {} has 32, which fine-tuning keeps"),
        ({"model": {"n_heads": 4}}, "model.n_heads = 4: {} has 2, which fine-tuning keeps"),
        (
            {"tokenizer": {"vocab_size": 500}},
            "tokenizer.vocab_size = 500: {} has 420, which fine-tuning keeps",
        ),
    ],
)
def test_what_weights_were_made_for_is_not_changed_by_fine_tuning(
    parent: Path, tmp_path: Path, changes: dict[str, Any], says: str
) -> None:
    files = write(tmp_path, "new", 2)
    settings = STEPS | changes
    for _ in range(2):
        with pytest.raises(ConfigError) as refused:
            finetune(parent, Request(files=files, output=tmp_path / "m", settings=settings))
        assert str(refused.value).startswith(says.format(parent))
        assert not (tmp_path / "m").exists()


def test_what_is_no_table_is_refused_in_one_line(parent: Path, tmp_path: Path) -> None:
    made = Request(files=write(tmp_path, "new", 2), output=tmp_path / "m", settings={"model": 5})
    with pytest.raises(ConfigError, match=r"^model = 5 is not a table"):
        finetune(parent, made)


def test_fine_tuning_may_choose_another_dropout(parent: Path, tmp_path: Path) -> None:
    settings = STEPS | {"model": {"d_model": 32, "dropout": 0.2}}
    made = Request(files=write(tmp_path, "new", 2), output=tmp_path / "m", settings=settings)
    assert finetune(parent, made).result.finished
    assert open_folder(tmp_path / "m").settings.model.dropout == 0.2


def test_a_fine_tuned_model_keeps_pieces_and_begins_where_its_parent_ended(
    parent: Path, tmp_path: Path
) -> None:
    heard = Heard()
    still: dict[str, Any] = {"train": {"steps": 1, "lr": 1e-12, "average": 1}}
    request = Request(
        files=write(tmp_path, "new", 5), output=tmp_path / "child", settings=still, threads=1
    )
    found = finetune(parent, request, report=heard)
    child, old = open_folder(tmp_path / "child"), open_folder(parent)
    assert child.tokenizer == old.tokenizer
    assert (child.settings.source, child.settings.target) == ("en", "fr")
    ours, theirs = load_model(child).state_dict(), load_model(old).state_dict()
    for name in theirs:
        torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=1e-6)
    assert set(found.scores) == {"new data", "old data"}
    for before, after in found.scores.values():
        assert after.value == pytest.approx(before.value, abs=1e-6)
    assert any(line.startswith("BLEU, new data") for line in heard.told)


def test_old_text_is_mixed_in_as_much_as_asked_for(parent: Path, tmp_path: Path) -> None:
    files, old = write(tmp_path, "new", 5, 60), write(tmp_path, "old", 1)
    request = Request(files=files, output=tmp_path / "child", settings=STEPS, threads=1)
    finetune(parent, request, mix=old, share=0.25)
    mixed = tmp_path / "child.text" / "mixed.tsv"
    new = (tmp_path / "child.text" / "new.tsv").read_text(encoding="utf-8").splitlines()
    dev = (tmp_path / "child.text" / "dev.tsv").read_text(encoding="utf-8").splitlines()
    drawn = mixed.read_text(encoding="utf-8").splitlines()
    assert len(new) + len(dev) == 60
    assert len(drawn) == round(len(new) / 3)
    known = {source for source, _ in development_pairs(parent)}
    assert not known & {line.split("\t")[0] for line in drawn}
    assert finetune(parent, request, mix=old, share=0.25).result.already
    with pytest.raises(ConfigError, match="--mix-share 1: expected a number above 0 and below 1"):
        finetune(parent, request, mix=old, share=1)
