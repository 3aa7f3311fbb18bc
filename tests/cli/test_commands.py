"""The commands as people use them, on one tiny model."""

from __future__ import annotations

import gzip
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from command import Called, Trained, call, everything, pairs, training, two_files, write

import heedful
from heedful.decoding.batch import search
from heedful.decoding.hypothesis import Hypothesis, LengthPenalty
from heedful.errors import ConfigError, DataError
from heedful.tasks.translation.using import Translator
from heedful.train.loop import Trainer

SENTENCES = [s for s, _ in pairs(12, seed=7)]
LONG = " ".join(SENTENCES)


def said(called: Called) -> list[str]:
    """What a command that went well wrote."""
    assert called.code == 0, called.err
    return called.out.split("\n")[:-1] if called.out else []


def translated(model: Path, *arguments: object, given: str | bytes = b"") -> list[str]:
    return said(call("translate", model, *arguments, "--threads", 1, given=given))


# -- train -----------------------------------------------------------------------------------


def test_training_tells_what_it_does(trained: Trained) -> None:
    told = trained.called.err
    assert trained.called.out == ""
    for line in (
        "languages: en to fr",
        "200 pairs: 200 kept, 0 dropped",
        r"\d+ pairs to learn from, \d+ to check on; 421 pieces; [\d,]+ \+ [\d,]+ tokens",
        r"cpu, (float32|bfloat16) \(.+\)",
        r"about 0:\d\d an epoch here, measured on a few steps; 100 steps, \d:\d\d",
        r"model: 1 \+ 1 layers, d_model 32, d_ff 48, 2 heads, 0\.0 M parameters, dropout 0\.0",
        r"step 50: BLEU \d+\.\d\d  chrF \d+\.\d\d  perplexity \d+\.\d\d  \(best so far\)",
        r"finished after 100 steps, \d+\.\d epochs; weights: .+",
        r"development set: BLEU \d+\.\d\d \[\d+\.\d\d, \d+\.\d\d\]  nrefs:1\|.*\|version:.*",
        re.escape(f"the model is in {trained.model}; try it:"),
        re.escape(f'  heedful translate {trained.model} "..."'),
    ):
        assert re.search(f"^{line}$", told, re.MULTILINE), line


def test_the_folder_is_the_model(trained: Trained) -> None:
    names = {path.name for path in trained.model.iterdir()}
    assert names - {"ctranslate2"} == {  # which translating makes
        *("config.toml", "model.safetensors", "tokenizer.model", "README.md", "manifest.json"),
        *("simple.json", "simple.tsv.gz", "run"),
    }
    card = (trained.model / "README.md").read_text(encoding="utf-8")
    assert "from `en` into `fr`" in card
    assert re.search(r"\| BLEU \| \d+\.\d \| \d+\.\d to \d+\.\d \| nrefs:1\\\|", card)
    kinds = {
        json.loads(line)["kind"]
        for line in (trained.model / "run" / "log.jsonl").read_text().splitlines()
    }
    assert kinds == {"schedule", "step", "look", "finalist"}


def test_the_same_command_again_says_that_it_is_finished(trained: Trained) -> None:
    before = everything(trained.model)
    called = call(*trained.command)
    assert called.code == 0
    assert called.err.splitlines() == [
        f"going on with the training in {trained.model}",
        f"{trained.model} is finished: 100 steps; nothing to do",
    ]
    assert everything(trained.model) == before


def test_more_steps_go_on_and_end(tmp_path: Path) -> None:
    command = ["train", *two_files(tmp_path, 30), "-o", tmp_path / "model"]
    assert call(*command, *training(steps=2)).code == 0
    for again in ("finished after 4 steps", "is finished: 4 steps; nothing to do"):
        called = call(*command, *training(steps=4))
        assert called.code == 0
        assert again in called.err
    assert "is finished: 4 steps; nothing to do" in call(*command, *training(steps=3)).err


def test_an_interrupted_training_says_how_to_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command = ["train", *two_files(tmp_path, 30), "-o", tmp_path / "a model", *training(steps=5)]
    step = Trainer.step

    def interrupting(trainer: Trainer[object], group: list[object]) -> object:
        trainer.interrupted = trainer.state.step >= 2
        return step(trainer, group)

    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "step", interrupting)
        called = call(*command)
    assert called.code == 130
    told = called.err.splitlines()[-2:]
    assert told[0] == "stopped at step 3; everything is saved, go on with:"
    assert told[1].startswith(f"  heedful train {tmp_path}/a.en {tmp_path}/a.fr -o '{tmp_path}/a m")
    called = call(*command)
    assert called.code == 0
    assert "finished after 5 steps" in called.err


def test_files_of_every_kind_and_given_sets_are_read(tmp_path: Path) -> None:
    both = pairs(60)
    tsv = write(tmp_path / "a.tsv", [f"7\t{t}\t{s}" for s, t in both[:20]])
    packed = tmp_path / "b.jsonl.gz"
    packed.write_bytes(
        gzip.compress(
            "".join(json.dumps({"en": s, "fr": t}) + "\n" for s, t in both[20:40]).encode()
        )
    )
    dev, test = two_files(tmp_path, 5, "dev"), two_files(tmp_path, 3, "test")
    called = call(
        *("train", f"{tsv}:3,2", packed, "--dev", *dev, "--test", *test, "--from", "eng"),
        *("--to", "fr", "-o", tmp_path / "model", *training(steps=1)),
    )
    assert called.code == 0, called.err
    assert "languages: en to fr" in called.err
    # The first sentences are in all three: they count as leaks, those of the test first.
    assert "40 pairs: 35 kept, 5 dropped" in called.err
    assert "35 pairs to learn from, 5 to check on" in called.err
    assert re.search(r"^test set: BLEU ", called.err, re.MULTILINE)


# -- translate -------------------------------------------------------------------------------


def test_line_n_out_is_line_n_in(model: Path) -> None:
    alone = [translated(model, sentence)[0] for sentence in SENTENCES[:4]]
    assert len(set(alone)) > 1
    assert all(alone)
    assert translated(model, *SENTENCES[:4]) == alone
    given = f"{SENTENCES[0]}\n\n{SENTENCES[1]}\r\n \u00a0 \n{SENTENCES[2]}\n{SENTENCES[3]}"
    assert translated(model, given=given) == [alone[0], "", alone[1], "", *alone[2:]]
    assert translated(model, given="") == []
    assert translated(model, given="\n\n") == ["", ""]


def test_a_long_line_is_split_and_joined_again(model: Path) -> None:
    alone = [translated(model, sentence)[0] for sentence in SENTENCES]
    assert translated(model, given=f"{LONG}\n{SENTENCES[0]}\n") == [" ".join(alone), alone[0]]
    assert translated(model, "dog" * 500)[0]


def test_the_best_of_several_is_the_one_given_alone(model: Path) -> None:
    lines = translated(model, SENTENCES[0], SENTENCES[1], "--n-best", 3)
    assert len(lines) == 6
    scores, texts = zip(*(line.split("\t") for line in lines), strict=True)
    assert [texts[0], texts[3]] == translated(model, SENTENCES[0], SENTENCES[1])
    for group in (scores[:3], scores[3:]):
        assert [float(s) for s in group] == sorted(map(float, group), reverse=True)
    assert len(set(texts[:3])) == 3
    assert len(translated(model, SENTENCES[0], "--n-best", 6)) == 6


def test_sampling_follows_its_seed(model: Path) -> None:
    drawn = [translated(model, SENTENCES[0], "--sample", "--seed", seed)[0] for seed in (1, 1, 2)]
    assert drawn[0] == drawn[1] != drawn[2]
    best = translated(model, SENTENCES[0], "--beam", 1)
    assert translated(model, SENTENCES[0], "--sample", "--top-k", 1) == best
    several = translated(model, SENTENCES[0], "--sample", "--n-best", 3, "--temperature", "1.5")
    assert len(several) == 3


def test_a_prefix_begins_every_translation(model: Path) -> None:
    found = translated(model, *SENTENCES[:3], "--prefix", "Le chat")
    assert all(text.startswith("Le chat") for text in found)
    (long,) = translated(model, LONG, "--prefix", "Le chat")
    assert long.startswith("Le chat")
    assert long.count("Le chat") == 1


def test_scores_stand_before_the_lines(model: Path) -> None:
    lines = translated(model, *SENTENCES[:3], "--scores")
    assert [line.split("\t")[1] for line in lines] == translated(model, *SENTENCES[:3])
    assert all(re.fullmatch(r"-\d+\.\d{4}", line.split("\t")[0]) for line in lines)


def test_a_guard_that_acts_says_so(model: Path) -> None:
    called = call("translate", model, *SENTENCES[:2], "--max-length", 2, "--threads", 1)
    assert len(said(called)) == 2
    assert called.err == (
        "heedful: 2 lines did not end and were stopped by a guard; --no-guards turns them off\n"
    )


def test_the_score_of_a_translation_is_the_one_reported(model: Path) -> None:
    translator = Translator.load(model)
    checked = 0
    for sentence in SENTENCES:
        ids = translator.tokenizer.encode(sentence)
        printed = translated(model, sentence, "--n-best", 4)
        (ranked,) = search(translator.model, [ids], translator.decoding(), n_best=4)
        for line, hypothesis in zip(printed, ranked, strict=True):
            reported, text = line.split("\t")
            assert text == translator.tokenizer.decode(hypothesis.ids)
            if hypothesis.stop != "end" or translator.tokenizer.encode(text) != hypothesis.ids:
                continue  # the text alone does not tell by which pieces it was reached
            ((logp, pieces),) = translator.score([sentence], [text])
            assert pieces == len(hypothesis.ids) + 1
            assert logp == pytest.approx(hypothesis.logp, abs=1e-3)
            normalised = logp / LengthPenalty.of(translator.settings.decode)(pieces)
            assert normalised == pytest.approx(float(reported), abs=1e-3)
            checked += 1
    assert checked >= 5


# -- from Python -----------------------------------------------------------------------------


def test_two_lines_of_python_translate(model: Path) -> None:
    assert heedful.Translator is Translator
    translator = heedful.Translator.load(model)
    assert translator.translate(SENTENCES[:3]) == translated(model, *SENTENCES[:3])
    assert translator.translate([]) == []
    greedy = translator.translate(SENTENCES[:3], beam=1)
    assert greedy == translated(model, *SENTENCES[:3], "--beam", 1)
    plain = Translator.load(model, plain=True, workers=2).translate(SENTENCES[:3])
    assert plain == translator.translate(SENTENCES[:3])
    assert torch.get_num_threads() == 1


def test_a_line_feed_spelled_in_bytes_ends_no_line(
    model: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    translator = Translator.load(model, engine="torch")
    encode, line_feed = translator.tokenizer.encode, 18 + 10
    assert translator.tokenizer.piece(line_feed) == "<0x0A>"
    ids = [*encode("un"), line_feed, *encode("deux")]
    monkeypatch.setattr("heedful.decoding.batch.search", lambda *_: [[Hypothesis(ids, -1.0, -1.0)]])
    assert translator.translate(["one two"]) == ["un deux"]


def test_mistakes_in_python_are_told(model: Path) -> None:
    translator = Translator.load(model)
    with pytest.raises(ConfigError) as error:
        translator.translate(["a dog"], beams=5)
    assert str(error.value) == "decode.beams is not a setting; did you mean decode.beam?"
    with pytest.raises(ConfigError) as error:
        translator.translate(["a dog"], beam="wide")
    assert str(error.value) == (
        'decode.beam = "wide" is not allowed; expected a whole number, at least 1 and at most 512'
    )
    with pytest.raises(DataError) as data_error:
        translator.translate("a dog")
    assert str(data_error.value) == (
        "translate() takes a list of texts; put the one text into a list"
    )


# -- evaluate, info, check -------------------------------------------------------------------


def test_evaluating_prints_scores_with_their_signatures(model: Path, tmp_path: Path) -> None:
    one, two = two_files(tmp_path, 20)
    out = tmp_path / "out.fr"
    lines = said(call("evaluate", model, one, two, "-o", out, "--threads", 1))
    assert re.fullmatch(
        r"BLEU +\d+\.\d\d  \[\d+\.\d\d, \d+\.\d\d\]  nrefs:1\|bs:1000\|.*", lines[0]
    )
    assert re.fullmatch(
        r"chrF +\d+\.\d\d  \[\d+\.\d\d, \d+\.\d\d\]  nrefs:1\|bs:1000\|.*", lines[1]
    )
    assert re.fullmatch(r"perplexity +\d+\.\d\d  a piece of the reference", lines[2])
    assert len(lines) == 3
    assert out.read_text(encoding="utf-8").splitlines() == translated(model, given=one.read_bytes())


def test_two_models_are_compared_by_a_paired_test(model: Path, tmp_path: Path) -> None:
    one, two = two_files(tmp_path, 20)
    command = ["evaluate", model, one, two, "--threads", 1]
    lines = said(call(*command, "--compare", model, "--tokenize", "char"))
    assert "tok:char" in lines[0]
    bleu = lines[0].split()[1]
    # The comparison counts as the score does, and a model is as good as itself.
    assert lines[3] == (
        f"BLEU       {float(bleu):6.2f} against {bleu}: +0.00, p = 1.000, "
        f"not significant (paired bootstrap)"
    )
    assert lines[4].startswith("chrF ")
    assert len(lines) == 5


def test_files_are_evaluated_line_by_line_whatever_their_names(model: Path, tmp_path: Path) -> None:
    one, two = two_files(tmp_path, 6)
    expected = said(call("evaluate", model, one, two, "--threads", 1))
    renamed = one.rename(tmp_path / "source.tsv"), two.rename(tmp_path / "reference.tsv")
    assert said(call("evaluate", model, *renamed, "--threads", 1)) == expected


def test_info_tells_what_a_model_is(model: Path) -> None:
    lines = said(call("info", model))
    assert lines[0] == f"{model}: translation, en to fr"
    assert re.fullmatch(r"[\d,]+ parameters in \d+ tensors, 421 pieces", lines[1])
    assert "  d_model = 32" in lines


def test_check_finds_what_was_planted(tmp_path: Path) -> None:
    both = pairs(30)
    planted = [*both[:10], ("", "rien"), both[3], *both[10:], ("Same here.", "Same here.")]
    path = write(tmp_path / "a.en-fr.tsv", [f"{s}\t{t}" for s, t in planted])
    called = call("check", path)
    told = said(called)
    assert told[0] == "33 pairs: 30 kept, 3 dropped"
    for line in (
        f"dropped: 1 pair with an empty side ({path}:11); "
        f"nothing to do, unless the columns are wrong",
        f"dropped: 1 repetition of a pair ({path.name}:12); "
        f"nothing to do: the first of them is kept",
        f'    "{both[3][0]}" | "{both[3][1]}"',
        f"dropped: 1 pair with two equal sides ({path.name}:33); "
        f"translate them, or set data.drop_equal=false",
    ):
        assert line in told
    report = json.loads(call("check", path, "--json").out)
    assert (report["pairs"], report["kept"]) == (33, 30)


def test_check_fails_where_a_training_would(tmp_path: Path) -> None:
    one, _ = two_files(tmp_path, 30)
    two = write(tmp_path / "b.fr", [t for _, t in pairs(30)][:20])
    called = call("check", one, two)
    assert called.code == 1
    assert called.out.splitlines()[0] == "20 pairs: 20 kept, 0 dropped"
    assert called.out.splitlines()[1].startswith("error: 10 lines more in one file than in the")


# -- the command itself ----------------------------------------------------------------------


def python(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=os.environ | {"PYTHONWARNINGS": "error"},
    )


def test_the_version_is_told() -> None:
    assert said(call("--version")) == [f"heedful {heedful.__version__}"]
    module = python("-m", "heedful", "--version")
    assert (module.returncode, module.stdout) == (0, f"heedful {heedful.__version__}\n")


def test_help_imports_no_torch_and_nothing_heavy() -> None:
    code = (
        "import sys\n"
        "sys.argv = ['heedful', '--help']\n"
        "from heedful.cli.main import run\n"
        "try: run()\n"
        "except SystemExit as end: assert not end.code\n"
        "heavy = ('torch', 'numpy', 'sentencepiece', 'sacrebleu', 'safetensors')\n"
        "print('LOADED', [name for name in heavy if name in sys.modules])\n"
    )
    found = python("-c", code)
    assert found.returncode == 0, found.stderr
    assert found.stdout.splitlines()[-1] == "LOADED []"
    for command in ("train", "translate", "evaluate", "info", "check", "demo"):
        assert re.search(rf"^  {command} ", found.stdout, re.MULTILINE)


def test_importing_the_package_loads_nothing_heavy() -> None:
    found = python(
        "-c", "import sys, heedful, heedful.tasks.translation.using; print('torch' in sys.modules)"
    )
    assert (found.returncode, found.stdout) == (0, "False\n"), found.stderr


@pytest.mark.parametrize("command", ["train", "translate", "evaluate", "info", "check", "demo"])
def test_every_command_has_help(command: str) -> None:
    called = call(command, "--help")
    assert called.code == 0
    assert called.out.startswith(f"Usage: heedful {command} ")
