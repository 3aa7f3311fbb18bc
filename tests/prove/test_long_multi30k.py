"""Real data: German-English captions, with no recipe, in the time given.

The trained models stay in `out/` beside the package, for the tests that look at them.
"""

from itertools import pairwise
from pathlib import Path

import pytest

from heedful.train.report import PlainReport
from heedful.translator import Translator
from heedful.verbs.evaluate import evaluate
from heedful.verbs.train import Request, train

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
        files=tok("train"), dev=tok("val"), output=output, settings=config.recipe("multi30k-tok")
    )
    train(request, PlainReport())
    found = evaluate(output, *tok("test_2016_flickr"), tokenize="none")
    print("\n" + "\n".join(found.lines()))
    assert next(s.value for s in found.scores if s.name == "BLEU") >= 41.0


@pytest.mark.parametrize("beam", [1, 4])
def test_a_thousand_sentences_batched_and_one_by_one(real_data: Path, beam: int) -> None:
    translator = Translator.load(trained(real_data, 30, 1))
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


def test_the_cache_saves_at_least_four_fifths_and_more_with_length(real_data: Path) -> None:
    import time

    folder = trained(real_data, 30, 1)
    source = [s for _, s, _ in _pairs(real_data)]
    seconds = {}
    for plain in (False, True):
        translator = Translator.load(folder, plain=plain)
        translator.translate(source[:64], beam=1)
        begun = time.perf_counter()
        seconds[plain] = (translator.translate(source, beam=1), time.perf_counter() - begun)
    print(f"\ncached {seconds[False][1]:.1f} s, recomputed {seconds[True][1]:.1f} s")
    assert seconds[False][0] == seconds[True][0]
    assert seconds[True][1] / seconds[False][1] >= 4

    from benchmarks.cache import run

    rows = [line.split("|") for line in list(run())[2:]]
    ratios = [float(row[4]) for row in rows]
    assert all(a < b for a, b in pairwise(ratios))


def _pairs(data: Path) -> list[tuple[int, str, str]]:
    from heedful.data.reading import sources

    return list(sources(files(data, "test_2016_flickr"))[0].pairs())
