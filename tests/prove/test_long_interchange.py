"""The Multi30k and the demo model in the tools they were exported for: what Heedful says they say.

Needs the models that `test_long_multi30k.py` and `make demo` leave behind.
"""

from __future__ import annotations

import gzip
import itertools
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from test_long_multi30k import OUT, either, files

from heedful.metrics import judged
from heedful.tasks.translation.exchange.argos import write_argos
from heedful.tasks.translation.exchange.ctranslate2 import write_ctranslate2
from heedful.tasks.translation.exchange.huggingface import write_huggingface
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.using import Translator

sys.path.insert(0, str(Path(__file__).parents[1] / "tasks" / "translation" / "exchange"))
from test_argos import argos

pytestmark = [pytest.mark.long, pytest.mark.timeout(3 * 3600)]
SENTENCES = 50


@pytest.fixture
def model(real_data: Path) -> Path:
    return either(real_data)


def lines(path: Path) -> list[str]:
    with gzip.open(path, "rt", encoding="utf-8") as file:
        return [line.rstrip("\n") for line in file]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("beam", [1, 4])
def test_transformers_reaches_the_bleu_that_heedful_reports(
    model: Path, real_data: Path, tmp_path: Path, beam: int
) -> None:
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

    source, reference = (lines(path) for path in files(real_data, "test_2016_flickr"))
    write_huggingface(open_folder(model), tmp_path / "theirs")
    tokenizer = AutoTokenizer.from_pretrained(tmp_path / "theirs")
    network = AutoModelForSeq2SeqLM.from_pretrained(tmp_path / "theirs").eval()
    order = sorted(range(len(source)), key=lambda i: len(source[i]))
    theirs = [""] * len(source)
    for start in range(0, len(order), 50):
        rows = order[start : start + 50]
        given = tokenizer([source[i] for i in rows], return_tensors="pt", padding=True)
        with torch.inference_mode():
            made = network.generate(**given, num_beams=beam)
        for row, text in zip(
            rows, tokenizer.batch_decode(made, skip_special_tokens=True), strict=True
        ):
            theirs[row] = text
    ours = Translator.load(model).translate(source, beam=beam)
    one, other = (next(judged(texts, reference, "en")).value for texts in (ours, theirs))
    print(f"\nbeam {beam}: Heedful {one:.2f}, transformers {other:.2f}")
    assert abs(one - other) <= 0.1


def test_the_stock_converter_gives_the_text_of_our_own_export(
    model: Path, real_data: Path, tmp_path: Path
) -> None:
    import ctranslate2

    folder = open_folder(model)
    write_huggingface(folder, tmp_path / "theirs")
    write_ctranslate2(folder, tmp_path / "ours")
    converter = Path(sys.executable).with_name("ct2-transformers-converter")
    subprocess.run(
        [converter, "--model", tmp_path / "theirs", "--output_dir", tmp_path / "stock"], check=True
    )
    tokenizer = Translator.load(model, engine="torch").tokenizer
    source = lines(files(real_data, "test_2016_flickr")[0])
    pieces = [tokenizer.pieces(tokenizer.encode(s), target=False) for s in source]
    for beam in (1, 4):
        found = []
        for name in ("ours", "stock"):
            engine = ctranslate2.Translator(str(tmp_path / name), inter_threads=2, intra_threads=1)
            end = ["</s>"] if name == "stock" else []  # ours adds it by itself
            results = engine.translate_batch(
                [[*p, *end] for p in pieces], beam_size=beam, max_batch_size=64
            )
            found.append([r.hypotheses[0] for r in results])
        assert found[0] == found[1]


def test_argos_says_what_we_say(model: Path, real_data: Path, tmp_path: Path) -> None:
    cases = [(model, lines(files(real_data, "test_2016_flickr")[0])[:SENTENCES], ("de", "en"))]
    demo = OUT.parent / "demo" / "fr"
    assert demo.is_dir(), "run `make demo` first"
    from heedful.data import grammar

    held_out = [s.en for s in itertools.islice(grammar.generate(99), SENTENCES)]
    cases.append((demo, held_out, ("en", "fr")))
    for number, (folder, texts, codes) in enumerate(cases):
        place = tmp_path / str(number)
        place.mkdir()
        write_argos(open_folder(folder), place / "out")
        (package,) = (place / "out").iterdir()
        ours = Translator.load(folder).translate(texts, beam=1)
        assert argos(package, texts, place, codes) == ours
