"""Fine-tuning, distillation, back-translation and averages, on the smallest of models."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

from heedful.data import grammar
from heedful.errors import ConfigError, DataError, ModelFolderError
from heedful.models.folder import Folder, load_model
from heedful.train.report import SilentReport
from heedful.translator import Translator
from heedful.verbs.life import average, development_of, distill, finetune
from heedful.verbs.request import Request
from heedful.verbs.synthesise import backtranslate, synthesise
from heedful.verbs.train import train

SMALL: dict[str, Any] = {
    "model": {
        "d_model": 32,
        "d_ff": 48,
        "n_heads": 2,
        "encoder_layers": 1,
        "decoder_layers": 1,
        "dropout": 0.0,
    },
    "tokenizer": {"vocab_size": 420},
    "train": {"steps": 100, "evaluate_every": 50, "average": 2, "lr": 0.01, "warmup": 10},
}
STEPS: dict[str, Any] = {"train": {"steps": 4, "evaluate_every": 2}}


class Heard(SilentReport):
    def __init__(self) -> None:
        self.told: list[str] = []

    def note(self, text: str) -> None:
        self.told.append(text)


def write(folder: Path, name: str, seed: int, count: int = 200) -> tuple[Path, Path]:
    pairs = [(s.en, s.fr) for s, _ in zip(grammar.generate(seed), range(count), strict=False)]
    paths = folder / f"{name}.en", folder / f"{name}.fr"
    for path, side in zip(paths, zip(*pairs, strict=True), strict=True):
        path.write_text("".join(f"{line}\n" for line in side), encoding="utf-8")
    return paths


@pytest.fixture(scope="module")
def parent(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parent")
    files = write(folder, "old", 1)
    train(Request(files=files, output=folder / "model", settings=SMALL, threads=1))
    return folder / "model"


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


def test_fine_tuning_may_choose_another_dropout(parent: Path, tmp_path: Path) -> None:
    settings = STEPS | {"model": {"d_model": 32, "dropout": 0.2}}
    made = Request(files=write(tmp_path, "new", 2), output=tmp_path / "m", settings=settings)
    assert finetune(parent, made).result.finished
    assert Folder.open(tmp_path / "m").settings.model.dropout == 0.2


def test_a_fine_tuned_model_keeps_pieces_and_begins_where_its_parent_ended(
    parent: Path, tmp_path: Path
) -> None:
    heard = Heard()
    still: dict[str, Any] = {"train": {"steps": 1, "lr": 1e-12, "average": 1}}
    request = Request(
        files=write(tmp_path, "new", 5), output=tmp_path / "child", settings=still, threads=1
    )
    found = finetune(parent, request, report=heard)
    child, old = Folder.open(tmp_path / "child"), Folder.open(parent)
    assert child.tokenizer == old.tokenizer
    assert (child.settings.source, child.settings.target) == ("en", "fr")
    ours, theirs = load_model(child).state_dict(), load_model(old).state_dict()
    for name in theirs:
        torch.testing.assert_close(ours[name], theirs[name], rtol=0, atol=1e-6)
    assert set(found.scores) == {"new text", "old text"}
    for before, after in found.scores.values():
        assert after.value == pytest.approx(before.value, abs=1e-6)
    assert any(line.startswith("BLEU, new text") for line in heard.told)


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
    known = {source for source, _ in development_of(parent)}
    assert not known & {line.split("\t")[0] for line in drawn}
    assert finetune(parent, request, mix=old, share=0.25).result.already
    with pytest.raises(ConfigError, match="--mix-share 1: expected a number above 0 and below 1"):
        finetune(parent, request, mix=old, share=1)


def test_a_student_learns_what_its_teacher_says(parent: Path, tmp_path: Path) -> None:
    text = write(tmp_path, "mono", 9, 60)[0]
    heard = Heard()
    request = Request(files=(), output=tmp_path / "student", settings=STEPS, threads=1)
    found = distill(parent, text, request, heard)
    said = (tmp_path / "student.text" / "teacher.tsv").read_text(encoding="utf-8").splitlines()
    teacher = Translator.load(parent)
    for line in said[:5]:
        given, made = line.split("\t")
        assert teacher.translate([given]) == [made]
    assert found.parameters[1] <= found.parameters[0] / 3
    assert min(found.speed) > 0
    assert set(found.scores) == {"development set"}
    student = Folder.open(tmp_path / "student")
    assert student.settings.model.d_model < 16
    assert student.tokenizer == Folder.open(parent).tokenizer


def test_what_was_translated_before_a_stop_is_not_translated_again(
    parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.verbs.synthesise.CHUNK", 10)
    text, output = write(tmp_path, "mono", 9, 30)[1], tmp_path / "back.tsv"
    translator = Translator.load(parent)
    whole = synthesise(translator, text, tmp_path / "whole.tsv", back=True)
    with pytest.raises(DataError, match="was begun with other text, another model or other"):
        synthesise(translator, text, tmp_path / "whole.tsv")
    (tmp_path / "mine.tsv").write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(DataError, match="exists and was not made here"):
        synthesise(translator, text, tmp_path / "mine.tsv")
    assert 0 < whole <= 30
    plain, asked = translator.lines, []

    def lines(texts: list[str], *options: Any, **named: Any) -> Any:
        if len(asked) == 2:
            raise KeyboardInterrupt
        asked.append(len(texts))
        return plain(texts, *options, **named)

    with monkeypatch.context() as patched:
        patched.setattr(translator, "lines", lines)
        with pytest.raises(KeyboardInterrupt):
            synthesise(translator, text, output, back=True)
    part = tmp_path / "back.tsv.part"
    part.write_bytes(part.read_bytes()[:-3])  # a kill cuts a line off
    assert backtranslate(parent, text, output, threads=1) == whole
    assert output.read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    assert not part.exists()
    assert backtranslate(parent, text, output, threads=1) == whole
    made, given = output.read_text(encoding="utf-8").splitlines()[0].split("\t")
    assert given in text.read_text(encoding="utf-8")
    assert made
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(DataError, match="is empty"):
        backtranslate(parent, empty, tmp_path / "none.tsv", threads=1)


def test_models_are_averaged(parent: Path, tmp_path: Path) -> None:
    first = Folder.open(parent)
    other = Folder.create(tmp_path / "other", first.settings, first.ids, first.tokenizer)
    other.write_weights({name: t + 1 for name, t in first.weights().items()})
    made = average([parent, other.path], tmp_path / "mean")
    for name, tensor in made.weights().items():
        torch.testing.assert_close(tensor, first.weights()[name] + 0.5)
    assert Folder.open(tmp_path / "mean").settings == first.settings
    moments = average([parent], tmp_path / "moments")
    assert load_model(moments).parameters_total == load_model(first).parameters_total
    with pytest.raises(DataError, match="has kept 0 moments of its training"):
        average([other.path], tmp_path / "none")
    settings = first.settings.model_copy(
        update={"model": first.settings.model.model_copy(update={"d_ff": 12})}
    )
    thin = Folder.create(tmp_path / "thin", settings, first.ids, first.tokenizer)
    with pytest.raises(ModelFolderError, match="has another shape or other pieces"):
        average([parent, thin.path], tmp_path / "none")
