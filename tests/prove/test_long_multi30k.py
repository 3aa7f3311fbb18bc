"""Real data: German-English captions, with no recipe, in the time given.

The trained models stay in `out/` beside the package, for the tests that look at them.
"""

import statistics
import time
from itertools import pairwise
from pathlib import Path

import pytest

from heedful.tasks.translation.using import Translator
from heedful.train.report import PlainReport
from heedful.verbs.evaluate import evaluate
from heedful.verbs.train import Request, train

TRANSLATION = "heedful.tasks.translation"

pytestmark = [pytest.mark.long, pytest.mark.timeout(3 * 3600)]
OUT = Path(__file__).parents[2] / "out"


def files(data: Path, name: str, sides: tuple[str, str] = ("de", "en")) -> tuple[Path, Path]:
    folder = data / "multi30k" / "raw"
    return folder / f"{name}.{sides[0]}.gz", folder / f"{name}.{sides[1]}.gz"


def trained(data: Path, minutes: int, seed: int) -> Path:
    output = OUT / f"multi30k-de-en-{minutes}-{seed}"
    request = Request(
        files=files(data, "train"),
        dev=files(data, "val"),
        output=output,
        settings={"train": {"minutes": minutes, "seed": seed}},
    )
    train(request, PlainReport())
    return output


def either(data: Path) -> Path:
    """Give the model of one seed or the other, trained where neither is."""
    for seed in (1, 2):
        if (OUT / f"multi30k-de-en-30-{seed}" / "model.safetensors").exists():
            return OUT / f"multi30k-de-en-30-{seed}"
    return trained(data, 30, 1)


def bleu(model: Path, data: Path) -> float:
    found = evaluate(model, *files(data, "test_2016_flickr"))
    print("\n" + "\n".join(found.lines()))
    return next(s.value for s in found.scores if s.name == "BLEU")


@pytest.mark.parametrize(("minutes", "seed", "least"), [(30, 1, 39.0), (30, 2, 0.0), (60, 1, 40.5)])
def test_a_timed_run_reaches_its_score(
    real_data: Path, minutes: int, seed: int, least: float
) -> None:
    assert bleu(trained(real_data, minutes, seed), real_data) >= least


def test_the_older_protocol_reaches_the_published_figure(real_data: Path) -> None:
    from heedful import config

    folder = real_data / "multi30k" / "tok"

    def tok(name: str) -> tuple[Path, Path]:
        return folder / f"{name}.lc.norm.tok.en.gz", folder / f"{name}.lc.norm.tok.de.gz"

    output = OUT / "multi30k-tok-en-de"
    request = Request(
        files=tok("train"),
        dev=tok("val"),
        output=output,
        settings=config.recipe("multi30k-tok", TRANSLATION),
    )
    train(request, PlainReport())
    found = evaluate(output, *tok("test_2016_flickr"), tokenize="none")
    print("\n" + "\n".join(found.lines()))
    assert next(s.value for s in found.scores if s.name == "BLEU") >= 41.0


@pytest.mark.parametrize("beam", [1, 4])
def test_a_thousand_sentences_batched_and_one_by_one(real_data: Path, beam: int) -> None:
    translator = Translator.load(either(real_data))
    source = [s for _, s, _ in _pairs(real_data)]
    decode = translator.decoding(beam=beam)
    together = list(translator.lines(source, decode, n_best=beam))
    different = []
    for line, expected in zip(source, together, strict=True):
        (alone,) = translator.lines([line], decode, n_best=beam)
        if alone.text != expected.text:
            gap = abs(alone.candidates[0].score - expected.candidates[0].score)
            different.append((gap, line, alone.text, expected.text))
    for case in different:
        print("\n", *case, sep="\n  ")
    assert all(gap < 1e-4 for gap, *_ in different)


def test_the_cache_saves_three_quarters_and_more_with_length(real_data: Path) -> None:
    """The thousand sentences with the cache and without, in turns."""
    from benchmarks.cache import run
    from benchmarks.sizes import FULL

    folder = either(real_data)
    source = [s for _, s, _ in _pairs(real_data)]
    both = [Translator.load(folder, engine="torch", plain=plain) for plain in (False, True)]
    ratios = []
    for translator in both:
        translator.translate(source[:64], beam=1)
    for _ in range(5):
        texts, seconds = [], []
        for translator in both:
            begun = time.perf_counter()
            texts.append(translator.translate(source, beam=1))
            seconds.append(time.perf_counter() - begun)
        print(f"cached {seconds[0]:.2f} s, recomputed {seconds[1]:.2f} s")
        assert texts[0] == texts[1]
        ratios.append(seconds[1] / seconds[0])
    assert statistics.median(ratios) >= 4

    by_length = [float(line.split("|")[4]) for line in run(FULL, []) if line[2:3].isdigit()]
    assert len(by_length) == len(FULL.cached)
    assert all(a < b for a, b in pairwise(by_length))


def _pairs(data: Path) -> list[tuple[int, str, str]]:
    from heedful.tasks.translation.reading import sources

    return list(sources(files(data, "test_2016_flickr"))[0].pairs())
