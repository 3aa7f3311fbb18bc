"""`serve`: models over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from heedful.cli.options import Compute, Engine, Threads
from heedful.cli.show import say

__all__ = ["serve"]


def serve(
    models: Annotated[
        list[Path], typer.Argument(help="Model folders; each translates in one direction.")
    ],
    host: Annotated[
        str | None, typer.Option(help="Address to listen on; 0.0.0.0 lets other machines in.")
    ] = None,
    port: Annotated[int | None, typer.Option(help="Port to listen on; 0 takes a free one.")] = None,
    prefix: Annotated[
        str | None, typer.Option(help="Path a reverse proxy puts before ours, such as /translator.")
    ] = None,
    cors: Annotated[
        list[str] | None,
        typer.Option(help="Origin whose pages may use this server; * is all; can be repeated."),
    ] = None,
    api_key_file: Annotated[
        Path | None, typer.Option(help="File of the keys that are let in, one a line.")
    ] = None,
    require_key: Annotated[
        bool, typer.Option("--require-key", help="Make up a key, tell it, and let in no one else.")
    ] = False,
    beam: Annotated[int | None, typer.Option(min=1, help="Hypotheses kept; 1 is greedy.")] = None,
    engine: Engine = "auto",
    compute: Compute = "float32",
    threads: Threads = 0,
    char_limit: Annotated[
        int | None, typer.Option(help="Characters of a request, all its texts together.")
    ] = None,
    batch_limit: Annotated[int | None, typer.Option(help="Texts of a request.")] = None,
    body_limit: Annotated[int | None, typer.Option(help="Bytes of a request.")] = None,
    file_limit: Annotated[int | None, typer.Option(help="Bytes of a request with a file.")] = None,
    timeout: Annotated[float | None, typer.Option(help="Seconds a request may take.")] = None,
    queue: Annotated[
        int | None, typer.Option(help="Pieces that may wait for a model; then 503 is answered.")
    ] = None,
    client_limit: Annotated[
        int | None,
        typer.Option(help="Requests of one address at once; then 429 is answered; 0 is any."),
    ] = None,
    connections: Annotated[int | None, typer.Option(help="Connections at once.")] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Tell each request: endpoint, status, time; no text.")
    ] = False,
) -> None:
    """Serve models: a page for people, LibreTranslate's API for programs."""
    import logging

    from heedful.errors import ConfigError
    from heedful.serve.keys import Keys
    from heedful.serve.options import ServeOptions
    from heedful.serve.run import serve as run

    keys = None
    if api_key_file is not None and require_key:
        raise ConfigError("--api-key-file and --require-key: give one; a file's keys are required")
    if api_key_file is not None:
        keys = Keys.read(api_key_file)
    elif require_key:
        keys, key = Keys.make()
        say(f"the key is {key}")
    chosen = {
        "host": host,
        "port": port,
        "prefix": None if prefix is None else prefix.rstrip("/"),
        "beam": beam,
        "char_limit": char_limit,
        "batch_limit": batch_limit,
        "body_limit": body_limit,
        "file_limit": file_limit,
        "timeout": timeout,
        "queue": queue,
        "client_limit": client_limit,
        "connections": connections,
    }
    options = ServeOptions(
        cors=tuple(cors or ()),
        keys=keys,
        engine=engine,  # type: ignore[arg-type]  # an unknown one is refused in one line
        compute=compute,  # type: ignore[arg-type]
        threads=threads,
        access_log=log,
        **{name: value for name, value in chosen.items() if value is not None},  # type: ignore[arg-type]
    )
    # Errors are logged, requests only with --log; a line of the log never holds a text.
    logging.basicConfig(format="%(message)s", level=logging.INFO if log else logging.ERROR)
    run(models, options, note=say)
