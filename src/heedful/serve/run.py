"""Runs a server until it is told to stop; requests accepted by then are answered."""

from __future__ import annotations

import logging
import signal
import socket
import sys
import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from heedful.errors import ConfigError
from heedful.serve.api import Model
from heedful.serve.app import build_app
from heedful.serve.connections import connection_class
from heedful.serve.options import ServeOptions

if TYPE_CHECKING:
    import uvicorn

Note = Callable[[str], object]

BACKLOG = 2048
"""Connections that may wait to be accepted."""
SWITCH = 0.001
"""Seconds a thread may hold the interpreter lock: less makes answers under load quicker."""


def serve(
    models: Sequence[Model | Path],
    options: ServeOptions | None = None,
    note: Note = print,
) -> None:
    """Serve models until SIGTERM or Ctrl-C; requests accepted by then are answered."""
    options = options or ServeOptions()
    if threading.current_thread() is threading.main_thread():
        # uvicorn raises the signal again when it is done; this handler makes the exit code 0.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
    listener = listen(options)  # first: a taken port is told before the models are loaded
    try:
        app = build_app(models, options, note=note)
        sys.setswitchinterval(SWITCH)
        server = make_server(app, options)
        for one in (model for api in app.state.apis for model in api.models):
            note(f"{one.name}: {one.about or one.task}")
        listener.listen(BACKLOG)  # before the note, whose reader may connect at once
        note(f"serving on {_address(listener, options)}; Ctrl-C ends it")
        server.run(sockets=[listener])
    finally:
        listener.close()


def make_server(app: Any, options: ServeOptions) -> uvicorn.Server:
    """Put the application behind uvicorn, without its logs, which hold what users send."""
    import uvicorn

    logging.getLogger("uvicorn.error").setLevel(logging.CRITICAL)
    return uvicorn.Server(
        uvicorn.Config(
            app,
            http=connection_class(options),
            ws="none",
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            timeout_keep_alive=options.keep_alive,  # type: ignore[arg-type]  # any number will do
            timeout_graceful_shutdown=int(max(options.timeout, options.file_timeout)) + 5,
            h11_max_incomplete_event_size=options.header_limit,
            backlog=BACKLOG,
        )
    )


def listen(options: ServeOptions) -> socket.socket:
    """Take the address and the port."""
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            options.host, options.port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE
        )[0]
        found = socket.socket(family, kind, protocol)
    except OSError as error:
        raise ConfigError(
            f"host {options.host!r} is no address of this machine: {error.strerror or error}; "
            f"expected such as 127.0.0.1 or 0.0.0.0"
        ) from error
    try:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
    except OSError as error:
        found.close()
        raise ConfigError(
            f"cannot listen on {options.host} port {options.port}: {error.strerror or error}; "
            f"choose another --host or --port"
        ) from error
    found.set_inheritable(False)
    return found


def _address(listener: socket.socket, options: ServeOptions) -> str:
    port = listener.getsockname()[1]
    host = f"[{options.host}]" if ":" in options.host else options.host
    return f"http://{host}:{port}{options.prefix}/"
