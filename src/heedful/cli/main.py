"""The entry point: one command, its groups, and how an error reaches a person."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Annotated, Any

import typer

from heedful import __version__
from heedful.cli.commands import COMMANDS, Shared
from heedful.cli.generate import command, merged
from heedful.cli.serve import Serve, serve
from heedful.cli.show import make_report
from heedful.cli.training import ended
from heedful.errors import DataError, HeedfulError
from heedful.settings import Table
from heedful.tasks import registry
from heedful.tasks.contract import Command, Terminal, lazy
from heedful.train.world import World

UsageError: Any = typer.BadParameter.__bases__[0]
"""What typer says of a wrong option, and does not export."""


def build() -> typer.Typer:
    """Make the command line of all tasks there are.

    A shared command takes the options of every task; which of them fit is checked when it is known
    which task it is.
    """
    app = typer.Typer(
        name="heedful",
        help="Train a Transformer on your own data, look inside it, use it.",
        no_args_is_help=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    app.callback()(main)
    tasks = registry.tasks()
    shared: dict[str, Shared] = {**COMMANDS, "serve": (Serve, serve)}
    for name, (options, run) in shared.items():
        own = {task.name: task.options[name] for task in tasks.values() if name in task.options}
        whole = merged(options.__name__, options, own)
        app.command(name)(command(name, whole, run, options.__doc__))
    for task in tasks.values():
        for one in task.commands:
            app.command(one.name)(command(one.name, one.options, partial(_run, one)))
    return app


def _run(one: Command, options: Table) -> None:
    """Run a command of a task's own, with a terminal to speak with."""
    report = make_report()
    terminal = Terminal(
        lines=_standard_input,
        write=_write,
        report=report,
        train=lazy("heedful.verbs.train:train"),
        ended=lambda result: ended(result, report),
        started=process_start(),
        typing=sys.stdin.isatty(),
    )
    try:
        one.run(options, terminal)
    finally:
        report.close()


def _write(line: str) -> None:
    sys.stdout.write(line + "\n")
    sys.stdout.flush()


def _standard_input() -> Iterator[str]:
    """Give the lines of standard input, decoded strictly, with \\n or \\r\\n at their ends."""
    for number, line in enumerate(sys.stdin.buffer, start=1):
        try:
            yield line.decode("utf-8").removesuffix("\n").removesuffix("\r")
        except UnicodeDecodeError as error:
            raise DataError(
                f"line {number} of standard input is not UTF-8 (byte 0x{line[error.start]:02x}); "
                f"convert it first, for example with iconv"
            ) from error


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
        sys.exit(build()(prog_name="heedful", standalone_mode=False) or 0)
    except UsageError as error:
        if World.of_environment().lead:
            told = error.format_message()  # the whole help, where no command is given
            print(told if told.startswith("Usage") else f"heedful: {told}", file=sys.stderr)
        sys.exit(2)
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
