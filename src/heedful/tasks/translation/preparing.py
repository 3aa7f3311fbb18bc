"""From the files of a request to a prepared corpus: what comes before the first step."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from heedful import config
from heedful.data.findings import Findings
from heedful.data.languages import check_language, guess_languages, kind_of, separate_columns
from heedful.data.tokenizer import Tokenizer
from heedful.errors import ConfigError, DataError
from heedful.models.folder import Folder
from heedful.tasks.contract import Columns, Prepared, Request
from heedful.tasks.translation import doctor, planning
from heedful.tasks.translation.corpus import Corpus, Pair, pairs_of, prepare_corpus
from heedful.tasks.translation.model import open_folder
from heedful.tasks.translation.reading import Source, sources
from heedful.tasks.translation.settings import Settings, TrainOptions

if TYPE_CHECKING:
    from heedful.train.report import Report


def claims(files: Sequence[Path], columns: Columns | None) -> str | None:
    """Recognise pairs: two aligned files, or tables of two columns."""
    paths = [separate_columns(file)[0] for file in files]
    kinds = {kind_of(path) for path in paths}
    if kinds == {"files"}:
        plain = not any(path.is_dir() for path in paths)
        return "files of aligned lines" if plain and len(paths) % 2 == 0 else None
    if "files" in kinds or (columns is not None and len(columns) != 2):
        return None
    try:
        found = any(sources(files[:1], _two(columns), "utf-8")[0].pairs())
    except DataError:
        found = columns is not None  # two were named: reading will say what is wrong with them
    return "tables of pairs" if found else None


def _two(columns: Columns | None) -> tuple[str, str] | None:
    return None if columns is None else (columns[0], columns[-1])


def read(paths: Sequence[Path], request: Request) -> list[Source]:
    """Open files with the columns and the encoding of a request."""
    return sources(paths, _two(request.columns), request.encoding) if paths else []


def rows(paths: Sequence[Path], columns: Columns | None, encoding: str) -> list[Pair]:
    """Read the pairs of a development or test set."""
    found = list(pairs_of(sources(paths, _two(columns), encoding)))
    if found and not any(map(all, found)):
        raise DataError(
            f"{paths[0]} has no pair with text on both sides; look at the columns that are given"
        )
    return found


def evaluated(paths: Sequence[Path], columns: Columns | None, encoding: str) -> list[Pair]:
    """Read two files line by line, source and reference, whatever their names end in."""
    if len(paths) == 2:
        return list(pairs_of([Source("files", (paths[0], paths[1]), None, encoding)]))
    return rows(paths, columns, encoding)


def examine(request: Request, report: Report) -> Findings:
    """Examine the text a training would read, and say what is wrong with it, worst first."""
    settings = config.resolve(request.settings or {}, Settings)
    training, dev, test = (read(p, request) for p in (request.files, request.dev, request.test))
    return doctor.examine(training, settings.data, dev, test, report.progress)


def prepare(request: Request, made: Path, report: Report) -> Prepared:
    """Examine the text, learn its pieces unless given, write its ids, choose the open settings."""
    for paths in (request.files, request.dev, request.test):
        read(paths, request)  # a missing file is an error before any work is done
    raw = _with_languages(request)
    settings = config.resolve(raw, Settings)
    _positions_suffice(settings)
    languages = f"languages: {settings.source} to {settings.target}"
    if "und" in (settings.source, settings.target):
        languages += " (not told by the file names; --from and --to name them)"
    report.note(languages)
    findings = examine(request.but(settings=raw), report)
    findings.raise_errors()
    for line in findings.lines():
        report.note(line)
    raw = planning.choose_vocabulary(raw, findings.kept)
    parent = open_folder(request.parent) if request.parent else None
    corpus, tokenizer = prepare_corpus(
        read(request.files, request),
        findings.keep,
        config.resolve(raw, Settings),
        made,
        read(request.dev, request),
        Tokenizer(parent.tokenizer, parent.ids) if parent else None,
        report.progress,
    )
    if corpus.too_long:
        report.note(
            f"{corpus.too_long} pairs have more than {settings.data.max_length} pieces on a side "
            f"and are left out"
        )
    facts = _facts(corpus, tokenizer)
    settings = planning.choose_model(raw, facts, *_speed(request, settings))
    from heedful.tasks.translation.batching import Batches

    # Refuses a sentence that does not fit into a batch.
    Batches(corpus, settings.data.batch_tokens, tokenizer.ids.eos, tokenizer.ids.pad)
    return _prepared(settings, corpus, tokenizer, findings)


def reopen(folder: Folder[Settings], made: Path) -> Prepared:
    """Open the corpus an earlier start prepared."""
    corpus = Corpus.open(made)
    return _prepared(folder.settings, corpus, Tokenizer(folder.tokenizer, folder.ids), None)


def _prepared(
    settings: Settings, corpus: Corpus, tokenizer: Tokenizer, findings: Findings | None
) -> Prepared:
    return Prepared(
        settings=settings,
        data=(corpus, tokenizer),
        dev=corpus.dev,
        counts={"pairs": len(corpus), "dev_pairs": len(corpus.dev)},
        tables={"ids": tokenizer.ids.model_dump()},
        files=tokenizer.files,
        findings=findings,
        facts=_facts(corpus, tokenizer),
    )


def _with_languages(request: Request) -> dict[str, Any]:
    """Lay the settings over the languages that were given, or guessed from the files' names."""
    options = request.options(TrainOptions)
    guessed = guess_languages(request.files, _two(request.columns))
    given = [
        check_language(code) if code else guess
        for code, guess in zip((options.source, options.target), guessed, strict=True)
    ]
    return config.merge({"source": given[0], "target": given[1]}, request.settings or {})


def _facts(corpus: Corpus, tokenizer: Tokenizer) -> planning.Facts:
    lengths = corpus.source.lengths()
    return planning.Facts(
        pairs=len(corpus),
        source_tokens=int(lengths.sum()) + len(corpus),
        target_tokens=int(corpus.target.lengths().sum()) + len(corpus),
        longest=int(np.quantile(lengths, 0.999)),
        vocabulary=tokenizer.ids.size,
    )


def _speed(request: Request, settings: Settings) -> tuple[float, bool]:
    """Measure what this machine computes a second; say whether its device is a GPU."""
    from heedful.train import rate
    from heedful.train.precision import choose_precision, device_of

    device = device_of(request.device)
    precision = choose_precision(settings.train.precision, device, settings.train.compile)
    usual = rate.machine_rate()
    return usual * rate.gain(precision, usual), device != "cpu"


def _positions_suffice(settings: Settings) -> None:
    """Refuse, before any work, sentences longer than a learned table of positions."""
    model, longest = settings.model, settings.data.max_length
    if model.positions == "learned" and longest >= model.max_positions:
        raise ConfigError(
            f"data.max_length = {longest} pieces and an end do not fit into model.max_positions = "
            f"{model.max_positions}; lower the one or raise the other"
        )
