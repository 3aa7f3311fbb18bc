import time
from pathlib import Path

import pytest

from heedful.data.grammar import FAMOUS
from heedful.errors import ConfigError
from heedful.tasks.translation.demo import demo
from heedful.tasks.translation.heads import measured
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.settings import Demo
from heedful.train.report import PlainReport, Report
from heedful.verbs.evaluate import evaluate
from heedful.verbs.train import train


def test_another_language_is_refused() -> None:
    with pytest.raises(ConfigError) as error:
        demo(Demo(to="de"), train, Report(), time.time())
    assert str(error.value) == "--to de: expected fr or ko; the built-in corpus has no other"


@pytest.mark.parametrize("to", ["fr", "ko"])
def test_a_very_short_demo_goes_all_the_way(
    to: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    options = Demo(to=to, output=tmp_path, minutes=0.2, threads=1)
    found = demo(options, train, PlainReport(every=0.0), time.time(), sizes=(12_000, 20, 10))
    shown = capsys.readouterr().err
    assert set(found.bleu) == set(found.exact) == {"random", "longer", "combinations"}
    for name, bleu in found.bleu.items():  # the same figure as a person gets
        files = [tmp_path / f"corpus-{to}" / f"{name}.{language}" for language in ("en", to)]
        scores = evaluate(found.model, *files, tokenize="13a", threads=1).scores
        assert {s.name: s.value for s in scores}["BLEU"] == pytest.approx(bleu, abs=1e-9)
    assert found.picture.read_text(encoding="utf-8").startswith("<svg")
    assert (found.model / "README.md").exists()
    assert 0 <= found.heads.baseline <= 1
    assert found.heads.said() in shown
    assert measured(open_folder(found.model), ["▁it", "▁is", "</s>"])["note"] == found.heads.said()  # type: ignore[index]
    assert all(sentence.en in shown for sentence in FAMOUS)
    assert f"heedful translate {found.model}" in shown
    assert (tmp_path / f"corpus-{to}" / f"train.{to}").exists()
