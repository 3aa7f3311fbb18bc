"""What is told of a model's quality is what a person gets; the length penalty is chosen by it."""

import re
from pathlib import Path

import pytest
import sacrebleu
from verbs_case import SMALL, Heard

from heedful.data import grammar
from heedful.data.tokenizer import Tokenizer, learn
from heedful.decoding.hypothesis import Hypothesis, LengthPenalty, rerank
from heedful.models.folder import Folder, state
from heedful.models.transformer import Transformer
from heedful.settings import ModelSettings, TokenizerSettings
from heedful.tasks.contract import Request
from heedful.tasks.translation import judging as module
from heedful.tasks.translation.judging import tune
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.settings import Settings
from heedful.tasks.translation.using import Translator
from heedful.train.report import Report
from heedful.verbs.evaluate import evaluate
from heedful.verbs.train import train

WORDS = ["uno", "dos", "tres", "cuatro"]


def written(folder: Path, name: str, count: int, sentences: int = 1) -> tuple[Path, Path]:
    """Write English and French, so many sentences to a line."""
    stream = grammar.generate(len(name))
    lines = [[next(stream) for _ in range(sentences)] for _ in range(count)]
    paths = folder / f"{name}.en", folder / f"{name}.fr"
    for path, language in zip(paths, ("en", "fr"), strict=True):
        text = "".join(" ".join(s.text(language) for s in line) + "\n" for line in lines)
        path.write_text(text, encoding="utf-8")
    return paths


@pytest.mark.parametrize("attention", ["scaled", "additive"])  # which CTranslate2 cannot run
def test_the_score_of_a_training_is_that_of_what_a_person_gets(
    tmp_path: Path, attention: str
) -> None:
    settings = SMALL | {
        "decode": {"split_above": 40},
        "model": SMALL["model"] | {"attention": attention},
    }
    test, heard = written(tmp_path, "test", 12, sentences=4), Heard()
    output = tmp_path / "model"
    files = written(tmp_path, "training", 200)
    found = train(
        Request(files=files, test=test, output=output, settings=settings, threads=1), heard
    )
    scores = found.scores["test"]
    tokenizer = Translator.load(output).tokenizer
    sources, wanted = (path.read_text(encoding="utf-8").splitlines() for path in test)
    assert max(len(tokenizer.encode(line)) for line in sources) > 40  # so lines are split
    assert scores == evaluate(output, *test, threads=1).scores
    texts = Translator.load(output, workers=1).translate(sources)
    bleu, chrf = sacrebleu.corpus_bleu(texts, [wanted]), sacrebleu.corpus_chrf(texts, [wanted])
    assert {s.name: s.value for s in scores} == {
        "BLEU": pytest.approx(bleu.score, abs=1e-9),
        "chrF": pytest.approx(chrf.score, abs=1e-9),
    }
    assert bleu.score > 0
    (told,) = [line for line in heard.told if line.startswith("test set: BLEU")]
    assert re.match(rf"test set: BLEU {bleu.score:.2f} \[", told)
    said = [line for line in heard.told if "on torch instead" in line]
    assert len(said) == (attention == "additive")  # once, and only where it is so


def test_reranking_changes_the_order_and_nothing_else() -> None:
    short, long = Hypothesis([5], -2.0, -2.0), Hypothesis([5, 6, 7, 8, 9], -2.4, -2.4)
    assert rerank([short, long], LengthPenalty(0.0))[0].ids == short.ids
    best, other = rerank([short, long], LengthPenalty(2.0, 5.0))
    assert best.ids == long.ids
    assert best.score == pytest.approx(-2.4 / (11 / 6) ** 2)
    assert {best.logp, other.logp} == {-2.0, -2.4}


def test_a_guarded_hypothesis_stays_behind_whatever_the_penalty() -> None:
    ended, cut = Hypothesis([5], -9.0, -9.0), Hypothesis([5] * 9, -1.0, -1.0, "length")
    assert rerank([cut, ended], LengthPenalty(2.0))[0].ids == ended.ids


@pytest.fixture
def folder(tmp_path: Path) -> tuple[Folder, Tokenizer]:
    tokenizer = Tokenizer(learn(WORDS * 20, TokenizerSettings(vocab_size=300)))
    settings = Settings(
        target="en",
        model=ModelSettings(d_model=8, d_ff=8, n_heads=2, encoder_layers=1, decoder_layers=1),
    )
    made = Folder.create(
        tmp_path / "model", settings, {"ids": tokenizer.ids.model_dump()}, tokenizer.files
    )
    made.write_weights(state(Transformer(settings.model, tokenizer.ids)))
    return made, tokenizer


def test_the_best_one_is_written_into_the_folder(
    folder: tuple[Folder, Tokenizer], monkeypatch: pytest.MonkeyPatch
) -> None:
    made, tokenizer = folder
    short, long = "uno dos tres cuatro", "uno dos tres cuatro uno dos tres"
    answer = [tokenizer.encode(short), tokenizer.encode(long)]
    # The longer one overtakes the shorter one where alpha is 1.4.
    cost = -2.0 * ((6 + len(answer[1])) / (6 + len(answer[0]))) ** 1.4
    hypotheses = [Hypothesis(answer[0], -2.0, -2.0), Hypothesis(answer[1], cost, cost)]
    monkeypatch.setattr(
        "heedful.decoding.batch.search",
        lambda model, sources, *a, **k: [hypotheses for _ in sources],
    )
    dev = [("uno", long)] * module.ENOUGH_TO_CHOOSE
    changed = tune(made, dev, {}, 1, Report())
    assert changed.settings.decode.length_penalty == 1.5
    assert open_folder(made.path).settings == changed.settings

    usual = tune(made, [("uno", short)] * len(dev), {}, 1, Report())
    assert usual.settings.decode.length_penalty == 0.6  # the usual one is as good: it stays


def test_a_small_development_set_chooses_nothing(folder: tuple[Folder, Tokenizer]) -> None:
    made, _ = folder
    assert tune(made, [("uno", "dos")] * 5, {}, 1, Report()) is made
