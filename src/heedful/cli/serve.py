"""`serve`: models over HTTP."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from heedful.cli.show import say
from heedful.settings import Table
from heedful.tasks.options import Option


class Serve(Table):
    """Serve models: a page for people, an API for programs; of translations LibreTranslate's."""

    models: tuple[Path, ...] = Option(..., argument=True)
    """Model folders, of one task or several; a translation is one direction."""
    host: str | None = None
    """Address to listen on; 0.0.0.0 lets other machines in."""
    port: int | None = None
    """Port to listen on; 0 takes a free one."""
    prefix: str | None = None
    """Path a reverse proxy puts before ours, such as /translator."""
    cors: tuple[str, ...] = ()
    """Origin whose pages may use this server; * is all; can be repeated."""
    api_key_file: Path | None = None
    """File of the keys that are let in, one a line."""
    require_key: bool = False
    """Make up a key, tell it, and let in no one else."""
    engine: str = "auto"
    """auto, torch or ctranslate2; auto takes CTranslate2 where it can."""
    compute: str = "float32"
    """float32, or int8: faster on CTranslate2, a few words change."""
    threads: int = Option(0, ge=0)
    """CPU threads; 0 takes all."""
    char_limit: int | None = None
    """Characters of a request, all its inputs together."""
    batch_limit: int | None = None
    """Inputs of a request."""
    body_limit: int | None = None
    """Bytes of a request."""
    file_limit: int | None = None
    """Bytes of a request with a file."""
    timeout: float | None = None
    """Seconds a request may take."""
    queue: int | None = None
    """Pieces that may wait for a model; then 503 is answered."""
    client_limit: int | None = None
    """Requests of one address at once; then 429 is answered; 0 is any."""
    connections: int | None = None
    """Connections at once."""
    log: bool = False
    """Tell each request: endpoint, status, time; no text."""


def serve(options: Any) -> None:
    """Run a server."""
    import logging
    from dataclasses import fields

    from heedful.errors import ConfigError
    from heedful.serve.keys import Keys
    from heedful.serve.options import ServeOptions
    from heedful.serve.run import serve as run

    keys = None
    if options.api_key_file is not None and options.require_key:
        raise ConfigError("--api-key-file and --require-key: give one; a file's keys are required")
    if options.api_key_file is not None:
        keys = Keys.read(options.api_key_file)
    elif options.require_key:
        keys, key = Keys.make()
        say(f"the key is {key}")
    given = options.model_dump(
        exclude={"models", "api_key_file", "require_key", "log"}, exclude_none=True
    )
    own = {
        name: given.pop(name) for name in given.keys() - {one.name for one in fields(ServeOptions)}
    }
    if "prefix" in given:
        given["prefix"] = given["prefix"].rstrip("/")
    # Errors are logged, requests only with --log; a line of the log never holds a text.
    level = logging.INFO if options.log else logging.ERROR
    logging.basicConfig(format="%(message)s", level=level)
    run(options.models, ServeOptions(keys=keys, own=own, access_log=options.log, **given), note=say)
