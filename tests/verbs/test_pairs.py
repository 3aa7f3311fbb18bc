"""Pairs that a model makes of text: killed and gone on with, and refused."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from verbs_case import write

from heedful.errors import DataError
from heedful.tasks.translation.pairs import translate_to_pairs
from heedful.tasks.translation.using import Translator


def test_what_was_translated_before_a_stop_is_not_translated_again(
    parent: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("heedful.tasks.translation.pairs.CHUNK", 10)
    text, output = write(tmp_path, "mono", 9, 30)[1], tmp_path / "back.tsv"
    translator = Translator.load(parent)
    whole = translate_to_pairs(translator, text, tmp_path / "whole.tsv", back=True)
    with pytest.raises(DataError, match="was begun with other text, another model or other"):
        translate_to_pairs(translator, text, tmp_path / "whole.tsv")
    (tmp_path / "mine.tsv").write_text("a\tb\n", encoding="utf-8")
    with pytest.raises(DataError, match="exists and was not made here"):
        translate_to_pairs(translator, text, tmp_path / "mine.tsv")
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
            translate_to_pairs(translator, text, output, back=True)
    part = tmp_path / "back.tsv.part"
    part.write_bytes(part.read_bytes()[:-3])  # a kill cuts a line off
    again = Translator.load(parent, workers=1, engine="torch")
    assert translate_to_pairs(again, text, output, back=True) == whole
    assert output.read_bytes() == (tmp_path / "whole.tsv").read_bytes()
    assert not part.exists()
    assert translate_to_pairs(again, text, output, back=True) == whole
    made, given = output.read_text(encoding="utf-8").splitlines()[0].split("\t")
    assert given in text.read_text(encoding="utf-8")
    assert made
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(DataError, match="is empty"):
        translate_to_pairs(again, empty, tmp_path / "none.tsv", back=True)
