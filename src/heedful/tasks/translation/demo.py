"""`heedful demo`: watch a Transformer learn to translate, then look inside it.

Everything comes from the built-in grammar, so every translation can be judged exactly, and it is
known what each "it" stands for.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from heedful import config, files, metrics
from heedful.data import grammar
from heedful.data.grammar import Sentence, Splits
from heedful.errors import ConfigError
from heedful.tasks.contract import Request, Train
from heedful.tasks.translation.settings import Demo
from heedful.tasks.translation.using import Translator
from heedful.train.report import Report, clock

if TYPE_CHECKING:
    from heedful.tasks.translation.heads import Heads

DRAWN = 2
"""Famous sentences that are drawn: the animal that was too tired, the street that was too wide."""
LANGUAGES = {"fr": "French", "ko": "Korean"}


@dataclass(frozen=True)
class Shown:
    """What the demo showed."""

    model: Path
    picture: Path
    bleu: dict[str, float]
    """By split: random, longer, combinations."""
    exact: dict[str, float]
    """Share of sentences that are exactly right, by split."""
    agreement: float
    """French: the pronoun of "it" is right; Korean: all particles are."""
    heads: Heads
    seconds: float


def demo(
    options: Demo,
    train: Train,
    report: Report,
    started: float,
    sizes: tuple[int, int, int] = (80_000, 500, 500),
) -> Shown:
    """Train on the built-in corpus, translate what everybody knows, and draw the attention.

    `train` is the command of that name; `sizes` are the sentences of training, development and each
    test split.
    """
    from heedful.tasks.translation.heads import keep, measure

    to, model = options.to, options.output / options.to
    if to not in LANGUAGES:
        raise ConfigError(f"--to {to}: expected fr or ko; the built-in corpus has no other")
    report.note(f"The built-in corpus: English to {LANGUAGES[to]}, {sizes[0]:,} sentences, such as")
    splits = grammar.splits(*sizes, seed=options.seed)
    for sentence in splits.train[:3]:
        report.note(f"    {sentence.en}  =  {sentence.text(to)}")
    paths = _write(splits, to, options.output / f"corpus-{to}")
    # A part of the minutes is left for what follows the training.
    minutes = options.minutes - min(0.35, 0.1 * options.minutes)
    recipe = config.recipe("demo", "heedful.tasks.translation")
    settings = config.merge(recipe, {"train": {"minutes": minutes, "seed": options.seed}})
    request = Request(
        files=paths["train"],
        dev=paths["dev"],
        output=model,
        source="en",
        target=to,
        settings=settings,
        threads=options.threads,
    )
    train(request, report, started)
    translator = Translator.load(model, workers=options.threads, note=report.note)
    _show_famous(translator, to, report)
    bleu, exact, agreement = _score(translator, splits, to, report)
    heads = measure(lambda text: translator.explain(text, ""), splits.random)
    keep(heads, model)
    report.note(heads.said())
    picture = options.output / f"attention-{to}.svg"
    _draw(translator, heads.best, picture, report)
    seconds = time.time() - started
    report.note(f"\n{clock(seconds)} in all. What to type next:")
    report.note(f'  heedful translate {model} "The dog did not see the cat."')
    report.note(f"  open {picture} in a browser")
    report.note(f"  heedful serve {model}")
    report.note("  heedful train yours.source yours.target -o your-model")
    return Shown(model, picture, bleu, exact, agreement, heads, seconds)


def _write(splits: Splits, to: str, folder: Path) -> dict[str, tuple[Path, ...]]:
    folder.mkdir(parents=True, exist_ok=True)
    paths: dict[str, tuple[Path, ...]] = {}
    for name in ("train", "dev", "random", "longer", "combinations"):
        sentences: list[Sentence] = getattr(splits, name)
        paths[name] = (folder / f"{name}.en", folder / f"{name}.{to}")
        for path, language in zip(paths[name], ("en", to), strict=True):
            files.write(path, "".join(s.text(language) + "\n" for s in sentences))
    return paths


def _show_famous(translator: Translator, to: str, report: Report) -> None:
    report.note("\nSentences of the literature, none of them in the training:")
    found = translator.translate([s.en for s in grammar.FAMOUS])
    for sentence, text in zip(grammar.FAMOUS, found, strict=True):
        right = text == sentence.text(to)
        report.note(f"    {sentence.en}")
        report.note(f"  > {text}" + ("" if right else f"   (right: {sentence.text(to)})"))


def _score(
    translator: Translator, splits: Splits, to: str, report: Report
) -> tuple[dict[str, float], dict[str, float], float]:
    bleu: dict[str, float] = {}
    exact: dict[str, float] = {}
    agreement = 0.0
    report.note("\nOn sentences it has never seen:")
    for name, what in (
        ("random", "of the same kinds"),
        ("longer", "longer than any in training"),
        ("combinations", "with words never together in training"),
    ):
        sentences: list[Sentence] = getattr(splits, name)
        report.progress("scoring", len(bleu), 3)
        texts = translator.translate([s.en for s in sentences])
        wanted = [s.text(to) for s in sentences]
        bleu[name] = metrics.bleu(texts, wanted).value
        exact[name] = metrics.exact(texts, wanted)
        report.note(
            f"    {what:<40} BLEU {bleu[name]:6.2f}   {100 * exact[name]:5.1f} % exactly right"
        )
        if name == "random":
            agreement = _agreement(sentences, texts, to)
    if to == "fr":
        report.note(f'    "it" becomes the right pronoun, il or elle {100 * agreement:21.1f} %')
    else:
        report.note(f"    every particle is right {100 * agreement:40.1f} %")
    return bleu, exact, agreement


def _agreement(sentences: Sequence[Sentence], texts: Sequence[str], to: str) -> float:
    pairs = list(zip(sentences, texts, strict=True))
    if to == "fr":
        right = [grammar.pronoun_right(s, t) for s, t in pairs if s.it is not None]
    else:
        right = [grammar.particles_right(s, t) for s, t in pairs]
    return sum(right) / max(1, len(right))


# -- looking inside ------------------------------------------------------------------------------


def _draw(translator: Translator, best: tuple[int, int], path: Path, report: Report) -> None:
    from heedful.explain.render import heat_map, lines_between, page_of, shades
    from heedful.explain.words import word_spans

    layer, head = best
    groups = []
    for number, sentence in enumerate([s for s in grammar.FAMOUS if s.it is not None][:DRAWN]):
        assert sentence.it is not None
        text = translator.translate([sentence.en])[0]
        seen = translator.explain(sentence.en, text)
        it = word_spans(seen.source)[sentence.it][0]
        groups.append(
            lines_between(
                seen.source,
                it,
                seen.encoder[layer, head][None, it],
                f'What "it" looks at: encoder layer {layer + 1}, head {head + 1}',
            )
        )
        last = seen.cross[-1].mean(0)
        # Row i is what the decoder read when it wrote piece i: the target without its last piece.
        written = [*seen.target[1:], "</s>"]
        groups.append(
            heat_map(written, seen.source, last, f"{text}  (cross-attention, last layer)")
        )
        if number == 0:
            report.note("\nWhere each word of the translation looked (darker is more):")
            for line in shades(written, seen.source, last):
                report.note("  " + line)
    files.write(path, page_of(groups))
