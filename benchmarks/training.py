"""Training: tokens a second, and the share of the machine's arithmetic that they are."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path

from benchmarks import commands
from benchmarks.captions import captions
from benchmarks.contest import Entry, contest, paired, spread, table
from benchmarks.peers.work import TrainingWork
from benchmarks.sizes import Amounts
from heedful.settings import ModelSettings
from heedful.tasks.translation.planning import layer_parameters
from heedful.train.precision import choose_precision


def flops(work: TrainingWork) -> float:
    """Count 6 FLOPs for each matrix weight and real token; padding is no work."""
    source, target = layer_parameters(ModelSettings.model_validate(work.sizes))
    read = sum(len(s) for sources, _ in work.batches for s in sources)
    return 6.0 * (read * source + tokens(work) * (target + work.ids.size * work.sizes["d_model"]))


def tokens(work: TrainingWork) -> int:
    """Count what is predicted: the words, and the end of each sentence."""
    return sum(len(t) + 1 for _, targets in work.batches for t in targets)


IN_FLOAT32 = "Heedful, float32"


def entries(path: Path) -> list[Entry]:
    """Name the contenders."""
    work = {"work": str(path)}
    short = choose_precision("auto", "cpu").name
    beside = []
    if short != "float32":
        beside = [
            Entry(IN_FLOAT32, "ours", "trainer", work | {"numbers": "float32"}),
            Entry(f"MarianMT, {short}", "marian", "trainer", work | {"numbers": short}),
        ]
    return [
        Entry("Heedful", "ours", "trainer", work),
        *beside,
        Entry("Hugging Face MarianMT", "marian", "trainer", work),
        Entry("torch.nn.Transformer", "pytorch", "trainer", work),
        Entry("Joey NMT", "joey", "trainer", work),
        Entry("Joey NMT as it comes", "joey", "trainer", work | {"stock": True}),
    ]


def run(amounts: Amounts, rates: list[float]) -> Iterator[str]:
    """Train models of every size on the same batches, everyone in turn."""
    text = captions(amounts.pieces, amounts.pairs, amounts.sentences)
    yield (
        f"Batches of {text.name}: at most {amounts.budget:,} positions on both sides together, "
        f"{text.tokenizer.ids.size:,} pieces. Everyone has the same batches, weights, label "
        f"smoothing, dropout (on embeddings and sublayers), clipping and fused Adam; Joey NMT as "
        f"it comes puts the same pairs into batches by itself, at random, and has its own dropout "
        f"and Adam. Where the processor has units for shorter numbers, Heedful takes them by "
        f"itself, and is there in float32 too, as are the others if nothing else is said; MarianMT "
        f"in shorter numbers is torch's autocast. The rate is that of float32. FLOPs are "
        f"those of matrix weights over real tokens. Median (least-most) of {amounts.rounds} "
        f"rounds; ratios are medians of ratios within a round."
    )
    yield ""
    rows = []
    for name, (sizes, steps) in amounts.training.items():
        work = text.work(sizes, steps, amounts.budget)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "work.json"
            work.write(path)
            contenders = entries(path)
            found, measured = contest(contenders, amounts.rounds)
            for entry in contenders:
                entry.close()
        rates += measured
        ours = found.get("Heedful", [])
        plain = found.get(IN_FLOAT32, ours)
        for entry in contenders:
            seconds = found.get(entry.name, [])
            if entry.absent or not seconds:
                rows.append([name, entry.name, entry.absent, "", "", "", "", ""])
                continue
            threads = [entry.facts.get(key) for key in ("workers", "threads")]
            how = f", {threads[0]} x {threads[1]} threads" if threads[0] else ""
            if entry is contenders[0]:
                how = f", {entry.facts['numbers']}{how}"
            rows.append(
                [
                    name,
                    entry.name + how + entry.waiting,
                    spread([tokens(work) / s for s in seconds], 0),
                    paired([flops(work) / s for s in seconds], measured, 100, 0) + " %",
                    paired(seconds, ours),
                    paired(seconds, plain),
                    f"{entry.facts['parameters']:,}",
                    f"{entry.last['peak'] / 2**20:,.0f}",
                ]
            )
    heads = ["size", "", "target tokens/s", "of the matrix-product rate", "Heedful is x times"]
    heads += ["in float32 x times", "weights", "most memory, MB"]
    yield from table(heads, rows, left=2)
    yield ""
    yield from commands.run(text, amounts, rates)
