"""Decoding the test sentences: sentences a second, and whether all say the same."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.captions import Captions, captions
from benchmarks.contest import Entry, contest, line, paired, spread, table
from benchmarks.sizes import Amounts
from heedful.models.folder import Folder, state
from heedful.settings import ModelSettings
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.settings import Settings

ONE_IN = 5
"""Of the sentences, at batch 1, where the slowest contenders would take an hour."""


def teach(text: Captions, sizes: dict[str, Any], steps: int, budget: int, path: Path) -> Folder:
    """Train a model a little, so that it says something, and forbid it to end a sentence.

    Then every engine takes exactly as many steps as it may, whatever it says.
    """
    import torch

    from benchmarks.peers.ours import Training, batch_of
    from heedful.models.transformer import Transformer

    torch.manual_seed(1)
    ids = text.tokenizer.ids
    settings = Settings(model=ModelSettings.model_validate(sizes | {"output_bias": True}))
    model = Transformer(settings.model, ids)
    work = text.work(sizes, steps, budget)
    for number, (sources, targets) in enumerate(work.batches):
        if number == 0:
            training = Training(model, [batch_of(sources, targets, ids.pad)])
        training.batches = [batch_of(sources, targets, ids.pad)]
        training(lr=2e-3 * min(1.0, (number + 1) / 100))
    assert model.output_bias is not None
    with torch.no_grad():
        model.output_bias[ids.eos] = -1e9
    folder = Folder.create(path, settings, {"ids": ids.model_dump()}, text.tokenizer.files)
    folder.write_weights(state(model))
    folder.write_card("# A model to measure with\n")
    return open_folder(path)


def prepare(text: Captions, amounts: Amounts, path: Path) -> None:
    """Write the model in everyone's format, and the sentences, longest first."""
    from heedful.tasks.translation.exchange.ctranslate2 import convert
    from heedful.tasks.translation.exchange.huggingface import write_huggingface

    folder = teach(text, amounts.decoding, amounts.taught, amounts.budget, path / "model")
    write_huggingface(folder, path / "huggingface")
    convert(folder, path / "ctranslate2")
    sources = sorted((s for s in text.test if s), key=len, reverse=True)
    work = {
        "sources": sources,
        "steps": amounts.steps,
        "ids": folder.ids.model_dump(),
        "sizes": amounts.decoding,
    }
    (path / "work.json").write_text(json.dumps(work), encoding="utf-8")


def entries(path: Path) -> list[Entry]:
    """Name the contenders."""
    work = {"work": str(path)}
    return [
        Entry("Heedful on torch", "ours", "decoder", work | {"engine": "torch"}),
        Entry("Heedful on CTranslate2", "ours", "decoder", work | {"engine": "ctranslate2"}),
        Entry("CTranslate2", "ctranslate2", "decoder", work),
        Entry(
            "Heedful on CTranslate2, int8",
            "ours",
            "decoder",
            work | {"engine": "ctranslate2", "compute": "int8"},
        ),
        Entry("CTranslate2, int8", "ctranslate2", "decoder", work | {"compute": "int8"}),
        Entry("Hugging Face generate", "marian", "decoder", work),
        Entry("Joey NMT", "joey", "decoder", work),
    ]


def run(amounts: Amounts, rates: list[float]) -> Iterator[str]:
    """Decode with every engine in turn, greedily and with a beam, in batches of several sizes."""
    text = captions(amounts.pieces, amounts.pairs, amounts.sentences)
    yield (
        f"{len(text.test):,} sentences of {text.name} (one in {ONE_IN} at batch 1), all given at "
        f"once, longest first, in batches of n or as the engine makes them; {amounts.steps} steps "
        f"each, for the model is forbidden to end. The same weights everywhere. CTranslate2 and "
        f"Heedful decode a batch a core, the others a batch with all cores. Sentences/s, median "
        f"(least-most) of {amounts.decoding_rounds} rounds; ratios are medians of ratios "
        f"within a round. The last ratio is to CTranslate2 by itself, int8 to int8. Identical: "
        f"translations equal to Heedful's on torch."
    )
    yield ""
    heads = ["search", "batch", "", "sentences/s", "Heedful on torch is x times"]
    yield from table([*heads, "x CTranslate2", "identical"], [], left=3)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder)
        prepare(text, amounts, path)
        contenders = entries(path)
        for batch in amounts.batches:
            for beam in amounts.beams:
                yield from map(line, compare(contenders, amounts, batch, beam, rates))
        for entry in contenders:
            entry.close()


def compare(
    contenders: list[Entry], amounts: Amounts, batch: int, beam: int, rates: list[float]
) -> Iterator[list[str]]:
    """Have everyone decode in one way; give a row each. Batch 0 is the engine's own way."""
    some = [e for e in contenders if batch or e.peer in ("ours", "ctranslate2")]
    options = {"batch": batch, "beam": beam, "every": ONE_IN if batch == 1 else 1}
    few = max(1, amounts.sentences // (2 * max(8, batch)))
    found, measured = contest(some, amounts.decoding_rounds, options, warm=options | {"every": few})
    rates += measured
    ours, reference = found.get(some[0].name, []), some[0].last.get("result") or []
    for entry in some:
        what = [
            "greedy" if beam == 1 else f"beam {beam}",
            str(batch or "its own"),
            entry.name + entry.waiting,
        ]
        seconds = found.get(entry.name, [])
        if entry.absent or not seconds:
            yield [*what, entry.absent, "", "", ""]
            continue
        same = sum(a == b for a, b in zip(reference, entry.last["result"], strict=True))
        speed = spread([len(reference) / s for s in seconds])
        beside = found.get("CTranslate2, int8" if "int8" in entry.name else "CTranslate2", [])
        ratios = [paired(seconds, ours), paired(beside, seconds)]
        yield [*what, speed, *ratios, f"{same:,} of {len(reference):,}"]
