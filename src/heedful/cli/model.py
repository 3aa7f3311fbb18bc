"""`train`, `translate`, `evaluate`, `info`: the commands that make and use a model."""

from __future__ import annotations

import shlex
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from heedful.cli.options import (
    Columns,
    Compute,
    Dev,
    Encoding,
    Engine,
    Files,
    From,
    Minutes,
    Model,
    Output,
    Recipe,
    Seed,
    Set,
    Test,
    Threads,
    To,
)
from heedful.cli.show import make_report, say
from heedful.errors import ConfigError, DataError

if TYPE_CHECKING:
    from heedful.train.report import Report
    from heedful.verbs.train import Result

__all__ = ["end", "evaluate", "info", "plan", "train", "translate"]


def train(
    files: Files,
    output: Output,
    dev: Dev = None,
    test: Test = None,
    source: From = None,
    target: To = None,
    columns: Columns = None,
    preset: Annotated[
        str | None,
        typer.Option(help="tiny, small, base or big; chosen from the data if not given."),
    ] = None,
    recipe: Recipe = None,
    minutes: Minutes = None,
    seed: Seed = None,
    settings: Set = None,
    encoding: Encoding = "utf-8",
    device: Annotated[str, typer.Option(help="auto, cpu, cuda or mps.")] = "auto",
    threads: Threads = 0,
    parallel: Annotated[
        str, typer.Option(help="Under torchrun: ddp, or fsdp to spread the model too.")
    ] = "ddp",
    compiled: Annotated[
        bool, typer.Option("--compile", help="Fuse each layer with torch.compile.")
    ] = False,
    tensorboard: Annotated[
        bool, typer.Option("--tensorboard", help="Also write events for TensorBoard.")
    ] = False,
) -> None:
    """Train a translation model on your own text; run it again to go on after a stop."""
    from heedful import config
    from heedful.cli.main import process_start
    from heedful.verbs.train import Request
    from heedful.verbs.train import train as verb

    if device not in ("auto", "cpu", "cuda", "mps"):
        raise ConfigError(f"--device {device}: expected auto, cpu, cuda or mps")
    if parallel not in ("ddp", "fsdp"):
        raise ConfigError(f"--parallel {parallel}: expected ddp or fsdp")
    started = process_start()
    raw = laid_over(preset, recipe, minutes, seed, settings)
    if compiled:
        raw = config.merge(raw, {"train": {"compile": True}})
    request = Request(
        files=tuple(files),
        output=output,
        dev=tuple(dev or ()),
        test=tuple(test or ()),
        source=source,
        target=target,
        columns=parse_columns(columns),
        encoding=encoding,
        settings=raw,
        device=device,
        threads=threads,
        parallel=parallel,
        tensorboard=tensorboard,
    )
    report = make_report()
    try:
        result = verb(request, report, started)
    finally:
        report.close()
    end(result, output, report)


def end(result: Result, output: Path, report: Report) -> None:
    """Say how a training ended, and what to type next."""
    if result.already:
        report.note(f"{output} is finished: {result.step:,} steps; nothing to do")
    elif result.finished:
        report.note(
            f"the model is in {output}; try it:\n"
            f'  heedful translate {shlex.quote(str(output))} "..."'
        )
    else:
        report.note(
            f"stopped at step {result.step:,}; everything is saved, go on with:\n"
            f"  {' '.join(map(shlex.quote, ['heedful', *sys.argv[1:]]))}"
        )
        raise typer.Exit(130)


def laid_over(
    preset: str | None,
    recipe: Path | None,
    minutes: float | None,
    seed: int | None,
    settings: list[str] | None,
) -> dict[str, Any]:
    """Lay recipe over preset, flags over recipe, and single settings over all."""
    from heedful import config

    raw: dict[str, Any] = {}
    for name in (preset, recipe):
        if name is not None:
            raw = config.merge(raw, config.recipe(name))
    flags = {k: v for k, v in (("minutes", minutes), ("seed", seed)) if v is not None}
    raw = config.merge(raw, {"train": flags} if flags else {})
    return config.merge(raw, config.parse_overrides(settings or []))


def plan(
    files: Annotated[list[Path], typer.Argument(help="The files of a training.")],
    dev: Dev = None,
    source: From = None,
    target: To = None,
    columns: Columns = None,
    preset: Annotated[str | None, typer.Option(help="tiny, small, base or big.")] = None,
    recipe: Recipe = None,
    minutes: Annotated[float | None, typer.Option(help="Time for the whole training.")] = None,
    settings: Set = None,
    encoding: Encoding = "utf-8",
    threads: Threads = 0,
    devices: Annotated[int | None, typer.Option(min=1, help="Plan for so many devices ...")] = None,
    tflops: Annotated[float, typer.Option(min=1e-6, help="... of so many TFLOP/s each ...")] = 9.5,
    efficiency: Annotated[
        float, typer.Option(min=1e-6, max=1, help="... of which a training reaches this share.")
    ] = 0.3,
) -> None:
    """Say what a training will take: parameters, arithmetic, memory, time."""
    from heedful.verbs.plan import Hardware
    from heedful.verbs.plan import plan as verb
    from heedful.verbs.request import Request

    hardware = Hardware(devices, tflops, efficiency) if devices is not None else None
    request = Request(
        files=tuple(files),
        output=Path(),
        dev=tuple(dev or ()),
        source=source,
        target=target,
        columns=parse_columns(columns),
        encoding=encoding,
        settings=laid_over(preset, recipe, minutes, None, settings),
        threads=threads,
    )
    report = make_report()
    try:
        lines = verb(request, hardware, report)
    finally:
        report.close()
    typer.echo("\n".join(lines))


def parse_columns(text: str | None) -> tuple[str, str] | None:
    """Take "2,3" apart."""
    if text is None:
        return None
    parts = [part.strip() for part in text.split(",")]
    if len(parts) != 2 or not all(parts):
        raise ConfigError(f"--columns {text}: expected two of them, such as 2,3 or ko,en")
    return parts[0], parts[1]


def translate(
    model: Model,
    text: Annotated[
        list[str] | None, typer.Argument(help="What to translate; standard input if not given.")
    ] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="Hypotheses kept; 1 is greedy.")] = None,
    n_best: Annotated[
        int, typer.Option(min=1, help="Translations to print for each line, with their scores.")
    ] = 1,
    sample: Annotated[
        bool, typer.Option("--sample", help="Draw words instead of searching.")
    ] = False,
    temperature: Annotated[float, typer.Option(help="Of sampling.")] = 1.0,
    top_k: Annotated[int, typer.Option(help="Of sampling; 0 is all.")] = 0,
    top_p: Annotated[float, typer.Option(help="Of sampling.")] = 1.0,
    seed: Annotated[int, typer.Option(help="Of sampling.")] = 1,
    prefix: Annotated[str, typer.Option(help="What every translation has to begin with.")] = "",
    max_length: Annotated[int | None, typer.Option(help="Pieces a translation may have.")] = None,
    no_guards: Annotated[
        bool, typer.Option("--no-guards", help="Let output grow without end.")
    ] = False,
    scores: Annotated[
        bool, typer.Option("--scores", help="Print the score before each line.")
    ] = False,
    engine: Engine = "auto",
    compute: Compute = "float32",
    threads: Threads = 0,
) -> None:
    """Translate lines: line n out is line n in."""
    from heedful import config
    from heedful.settings import SamplingSettings
    from heedful.verbs.translate import translate as verb

    changes: dict[str, Any] = {}
    if beam is not None:
        changes["beam"] = beam
    if max_length is not None:
        changes["max_length"] = max_length
    if no_guards:
        changes["guards"] = False
    if n_best > 1 and not sample:
        changes.setdefault("beam", max(4, n_best))
    how = {"seed": seed, "temperature": temperature, "top_k": top_k, "top_p": top_p}
    sampling = config.part(SamplingSettings, how, "--") if sample else None
    found = verb(
        model,
        text if text else _standard_input(),
        changes,
        n_best=n_best,
        sampling=sampling,
        prefix=prefix,
        threads=threads,
        engine=engine,  # type: ignore[arg-type]  # an unknown one is refused in one line
        compute=compute,  # type: ignore[arg-type]
        note=say,
        scored=scores or n_best > 1,
        **({"at_once": 1} if sys.stdin.isatty() and not text else {}),  # a person is typing
    )
    guarded = 0
    for translation in found:
        guarded += bool(translation.guards)
        for candidate in translation.candidates:
            start = f"{candidate.score:.4f}\t" if scores or n_best > 1 else ""
            sys.stdout.write(start + candidate.text + "\n")
        sys.stdout.flush()
    if guarded:
        print(
            f"heedful: {guarded} line{'s' * (guarded != 1)} did not end and "
            f"{'were' if guarded != 1 else 'was'} stopped by a guard; --no-guards turns them off",
            file=sys.stderr,
        )


def _standard_input() -> Any:
    """Give the lines of standard input, decoded strictly, with \\n or \\r\\n at their ends."""
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.decode("utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise DataError(
                f"line {number} of standard input is not UTF-8 (byte 0x{line[error.start]:02x}); "
                f"convert it first, for example with iconv"
            ) from error


def evaluate(
    model: Model,
    source: Annotated[Path, typer.Argument(help="What to translate.")],
    reference: Annotated[Path, typer.Argument(help="What is right.")],
    compare: Annotated[
        Path | None, typer.Option(help="Another model: is the difference significant?")
    ] = None,
    beam: Annotated[int | None, typer.Option(min=1, help="Hypotheses kept; 1 is greedy.")] = None,
    tokenize: Annotated[
        str | None, typer.Option(help="sacreBLEU's tokeniser, such as none for tokenised text.")
    ] = None,
    encoding: Encoding = "utf-8",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the translations here.")
    ] = None,
    engine: Engine = "auto",
    compute: Compute = "float32",
    threads: Threads = 0,
) -> None:
    """Score a model with BLEU, chrF and perplexity; compare two."""
    from heedful import files
    from heedful.verbs.evaluate import evaluate as verb

    changes = {} if beam is None else {"beam": beam}
    result = verb(
        model,
        source,
        reference,
        compare,
        changes,
        tokenize,
        encoding,
        threads,
        engine,  # type: ignore[arg-type]  # an unknown one is refused in one line
        compute,  # type: ignore[arg-type]
        say,
    )
    if output is not None:
        files.write(output, "".join(t + "\n" for t in result.texts))
    for line in result.lines():
        typer.echo(line)


def info(
    model: Annotated[Path | None, typer.Argument(help="The model folder.")] = None,
    settings: Annotated[
        bool,
        typer.Option("--settings", help="Explain every setting there is, with its default."),
    ] = False,
) -> None:
    """Show what a model folder holds, or what can be set."""
    from heedful.verbs.info import info as verb
    from heedful.verbs.info import settings_lines

    if settings == (model is not None):
        raise ConfigError("info: give a model folder, or --settings for what can be set")
    for line in verb(model) if model is not None else settings_lines():
        typer.echo(line)
