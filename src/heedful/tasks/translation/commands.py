"""The commands only translation has: what they do with their options."""

from __future__ import annotations

from typing import Any

from heedful import config
from heedful.settings import SamplingSettings
from heedful.tasks.contract import Terminal
from heedful.tasks.translation.settings import Backtranslate, Demo, Distill, Translate


def translate(options: Translate, terminal: Terminal) -> None:
    """Translate lines as they come."""
    from heedful.tasks.translation.using import LINES_AT_ONCE, open_model

    translator = open_model(options.model, options.how(terminal.report.note))
    changes: dict[str, Any] = {"beam": options.beam, "max_length": options.max_length}
    changes = {name: value for name, value in changes.items() if value is not None}
    if options.no_guards:
        changes["guards"] = False
    if options.n_best > 1 and not options.sample:
        changes.setdefault("beam", max(4, options.n_best))
    drawing = {name: getattr(options, name) for name in SamplingSettings.model_fields}
    told = options.scores or options.n_best > 1
    found = translator.lines(
        options.text or terminal.lines(),
        translator.decoding(**changes),
        options.n_best,
        config.part(SamplingSettings, drawing, "--") if options.sample else None,
        options.prefix,
        1 if terminal.typing and not options.text else LINES_AT_ONCE,
        scored=told,
    )
    guarded = 0
    for translation in found:
        guarded += bool(translation.guards)
        for candidate in translation.candidates:
            start = f"{candidate.score:.4f}\t" if told else ""
            terminal.write(start + candidate.text)
    if guarded:
        terminal.report.note(
            f"heedful: {guarded} line{'s' * (guarded != 1)} did not end and "
            f"{'were' if guarded != 1 else 'was'} stopped by a guard; --no-guards turns them off"
        )


def distill(options: Distill, terminal: Terminal) -> None:
    """Teach a student, and say how it compares."""
    from heedful.tasks.translation import TASK
    from heedful.tasks.translation.distill import distill as teach

    request = options.request(TASK, (), preset=options.preset)
    found = teach(
        options.teacher, options.text, request, terminal.train, terminal.report, terminal.started
    )
    terminal.ended(found.result)


def backtranslate(options: Backtranslate, terminal: Terminal) -> None:
    """Write pairs of text and its translation back.

    The model translates the other way, from the language of the text: what it makes becomes the
    source, and what people wrote stays the target.
    """
    from heedful.machine import decoding_workers
    from heedful.tasks.translation.pairs import translate_to_pairs
    from heedful.tasks.translation.using import Translator
    from heedful.train.world import in_one_process

    in_one_process("backtranslate")
    workers = decoding_workers(options.threads)
    count = translate_to_pairs(
        Translator.load(options.model, workers=workers, engine="torch"),
        options.text,
        options.output,
        back=True,
        changes={} if options.beam is None else {"beam": options.beam},
        sampling=SamplingSettings(seed=options.seed) if options.sample else None,
        encoding=options.encoding,
        report=terminal.report,
    )
    terminal.report.note(
        f"{count:,} pairs are in {options.output}; train with them beside real ones:\n"
        f"  heedful train real.src real.tgt {options.output}:1,2 -o model"
    )


def demo(options: Demo, terminal: Terminal) -> None:
    """Train on the built-in corpus and show what came of it."""
    from heedful.tasks.translation.demo import demo as show

    show(options, terminal.train, terminal.report, terminal.started)
