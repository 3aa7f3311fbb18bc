"""The entry point: one command, its groups, and how an error reaches a person."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from typing import Annotated

import typer

from heedful import __version__
from heedful.cli.average import average
from heedful.cli.backtranslate import backtranslate
from heedful.cli.data import check, demo
from heedful.cli.distill import distill
from heedful.cli.exchange import export, import_
from heedful.cli.explain import explain
from heedful.cli.finetune import finetune
from heedful.cli.model import evaluate, info, plan, train, translate
from heedful.cli.serve import serve
from heedful.errors import HeedfulError
from heedful.train.world import World

__all__ = ["app", "run"]

app = typer.Typer(
    name="heedful",
    help="Train a translation model on your own text, look inside it, use it.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


COMMANDS: tuple[Callable[..., None], ...] = (
    *(train, plan, translate, evaluate, info, explain, serve),
    *(finetune, distill, backtranslate, average, export, import_, check, demo),
)
for command in COMMANDS:
    app.command(command.__name__.strip("_"))(command)


def process_start() -> float:
    """Give the time this process began, for `--minutes` count the whole command."""
    try:
        with open("/proc/self/stat", encoding="ascii") as file:
            ticks = int(file.read().rsplit(")", 1)[1].split()[19])
        with open("/proc/uptime", encoding="ascii") as file:
            uptime = float(file.read().split()[0])
        return time.time() - (uptime - ticks / os.sysconf("SC_CLK_TCK"))
    except (OSError, ValueError, IndexError):
        return time.time()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"heedful {__version__}")
        raise typer.Exit


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Say which version.")
    ] = False,
    debug: Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")] = False,
) -> None:
    """Take the options that stand before a command."""


SETS = ("--dev", "--test", "--mix", "--old")
"""Options that take the files of one set of pairs."""


def spread(arguments: list[str]) -> list[str]:
    """Repeat `--dev` and the like before the second of two files: an option takes one value.

    `--dev a.ko a.en` becomes `--dev a.ko --dev a.en`; a TSV or JSONL file is a set by itself.
    """
    out, rest = [], list(arguments)
    while rest:
        word = rest.pop(0)
        out.append(word)
        if word not in SETS or not rest or rest[0].startswith("-"):
            continue
        out.append(rest.pop(0))
        name = out[-1].split(":")[0].removesuffix(".gz")
        if not name.endswith((".tsv", ".jsonl")) and rest and not rest[0].startswith("-"):
            out += [word, rest.pop(0)]
    return out


def run() -> None:
    """Run the command; an error a person can act on is one line, not a traceback.

    Exit 0: done; 1: failed; 2: the user's mistake; 130: interrupted.
    """
    debug = "--debug" in sys.argv
    sys.argv[1:] = spread([a for a in sys.argv[1:] if a != "--debug"])
    try:
        app(prog_name="heedful")
    except HeedfulError as error:
        if debug:
            raise
        if World.of_environment().lead:  # of several processes only the first speaks
            print(f"heedful: {error}", file=sys.stderr)
        sys.exit(error.exit_code)
    except KeyboardInterrupt:
        if debug:
            raise
        print("heedful: interrupted", file=sys.stderr)
        sys.exit(130)
    except BrokenPipeError:  # the reader of our output went away: not an error of ours
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(0)
    except OSError as error:
        if debug:
            raise
        print(f"heedful: {error.filename or 'a file'}: {error.strerror or error}", file=sys.stderr)
        sys.exit(1)
