"""From the files of a request to a prepared corpus and a plan: what comes before the first step."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from heedful import config
from heedful.data import doctor
from heedful.data.corpus import Corpus, prepare
from heedful.data.findings import Findings
from heedful.data.languages import check_language, guess_languages
from heedful.data.reading import Source, sources
from heedful.data.tokenizer import Tokenizer
from heedful.errors import ConfigError
from heedful.settings import Settings
from heedful.train import plan
from heedful.train.report import Report, clock
from heedful.verbs.request import Request, make_folder

__all__ = ["Prepared", "device_of", "plan_lines", "prepare_text", "read"]


@dataclass(frozen=True)
class Prepared:
    """A corpus as numbers, and how it will be trained on."""

    corpus: Corpus
    tokenizer: Tokenizer
    findings: Findings
    facts: plan.Facts
    settings: Settings
    short: bool = False
    """Whether a CPU will compute its products in bfloat16."""


def device_of(name: str) -> str:
    """Choose the device, or see that the one asked for is there."""
    import torch

    there = {
        "cuda": torch.cuda.is_available(),
        "mps": torch.backends.mps.is_available(),
        "cpu": True,
    }
    found = [device for device, is_there in there.items() if is_there]
    if name != "auto" and name not in found:
        raise ConfigError(
            f"--device {name} is not on this machine; expected auto or {' or '.join(found)}"
        )
    return found[0] if name == "auto" else name


def read(paths: Sequence[Path], request: Request) -> list[Source]:
    """Open files with the columns and the encoding of a request."""
    return sources(paths, request.columns, request.encoding) if paths else []


def prepare_text(
    request: Request, made: Path, report: Report, tokenizer: Tokenizer | None = None
) -> Prepared:
    """Examine the text, learn its pieces unless given, write its ids, choose the open settings."""
    from heedful.train.precision import choose_precision

    raw = dict(request.settings or {})
    guessed = guess_languages(request.files, request.columns)
    given = [
        check_language(code) if code else guess
        for code, guess in zip((request.source, request.target), guessed, strict=True)
    ]
    raw = config.merge({"source": given[0], "target": given[1]}, raw)
    settings = config.resolve(raw)
    _positions_suffice(settings)
    languages = f"languages: {settings.source} to {settings.target}"
    if "und" in (settings.source, settings.target):
        languages += " (not told by the file names; --from and --to name them)"
    report.note(languages)
    training, dev, test = (read(p, request) for p in (request.files, request.dev, request.test))
    findings = doctor.examine(training, settings.data, dev, test, progress=_progress(report))
    findings.raise_errors()
    for line in findings.lines():
        report.note(line)
    raw = plan.choose_vocabulary(raw, findings.kept)
    settings = config.resolve(raw)
    make_folder(made)
    corpus, tokenizer = prepare(
        training, findings.keep, settings, made, dev, tokenizer, progress=_progress(report)
    )
    if corpus.too_long:
        report.note(
            f"{corpus.too_long} pairs have more than {settings.data.max_length} pieces on a side "
            f"and are left out"
        )
    lengths = corpus.source.lengths()
    facts = plan.Facts(
        pairs=len(corpus),
        source_tokens=int(lengths.sum()) + len(corpus),
        target_tokens=int(corpus.target.lengths().sum()) + len(corpus),
        longest=int(np.quantile(lengths, 0.999)),
        vocabulary=tokenizer.ids.size,
    )
    minutes = settings.train.minutes
    device = device_of(request.device)
    precision = choose_precision(settings.train.precision, device, settings.train.compile)
    rate = plan.machine_rate()
    rate *= plan.gain(precision, rate)
    short = device == "cpu" and (precision.name == "bfloat16" or precision.onednn)
    settings = plan.choose_model(raw, facts, minutes, rate, fast=device != "cpu")
    return Prepared(corpus, tokenizer, findings, facts, settings, short)


def _positions_suffice(settings: Settings) -> None:
    """Refuse, before any work, sentences longer than a learned table of positions."""
    model, longest = settings.model, settings.data.max_length
    if model.positions == "learned" and longest >= model.max_positions:
        raise ConfigError(
            f"data.max_length = {longest} pieces and an end do not fit into model.max_positions = "
            f"{model.max_positions}; lower the one or raise the other"
        )


def _progress(report: Report) -> Callable[[str, int, int], None]:
    return lambda what, done, total: report.progress(what, done, total)


def plan_lines(prepared: Prepared, seconds_per_epoch: float, workers: int) -> list[str]:
    """Say before the first step what will be trained, and what it will take."""
    settings, facts = prepared.settings, prepared.facts
    m, ends = settings.model, settings.train
    foreseen = plan.estimate(m, facts, 1.0)
    batch = settings.data.batch_tokens
    peak = plan.memory(m, foreseen.parameters, batch, workers, prepared.short)
    lines = [
        f"{facts.pairs:,} pairs to learn from, {len(prepared.corpus.dev):,} to check on; "
        f"{facts.vocabulary:,} pieces; {facts.source_tokens:,} + {facts.target_tokens:,} tokens",
        f"model: {m.encoder_layers} + {m.decoder_layers} layers, d_model {m.d_model}, "
        f"d_ff {m.d_ff}, {m.n_heads} heads, {foreseen.parameters / 1e6:.1f} M parameters, "
        f"dropout {m.dropout}",
        f"{foreseen.flops_per_token / 1e6:.0f} MFLOP for a source and a target token, "
        f"forward and backward; about {peak / 1e9:.1f} GB of memory at most",
        f"about {clock(seconds_per_epoch)} an epoch here, measured on a few steps",
    ]
    if ends.minutes:
        fit = 60 * ends.minutes * plan.SHARE_FOR_STEPS / seconds_per_epoch
        lines[-1] += f"; {ends.minutes:g} minutes in all, about {fit:.1f} epochs"
    elif ends.epochs:
        whole = seconds_per_epoch * ends.epochs
        lines[-1] += f"; at most {ends.epochs:g} epochs, {clock(whole)}"
    elif ends.steps:
        whole = ends.steps * settings.data.batch_tokens * ends.accumulate
        share = whole / (facts.source_tokens + facts.target_tokens)
        lines[-1] += f"; {ends.steps:,} steps, {clock(share * seconds_per_epoch)}"
    return lines
