"""Every option of a server, with its default."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

from heedful.errors import ConfigError
from heedful.serve.keys import Keys


@dataclass(frozen=True)
class ServeOptions:
    """The options of a server; by default only this machine can reach it."""

    host: str = "127.0.0.1"
    """The address to listen on; 0.0.0.0 is every one."""
    port: int = 5000
    """LibreTranslate's own port, so that its clients find it."""
    prefix: str = ""
    """Path a reverse proxy puts before ours, such as /translator; it may remove it or not."""
    cors: tuple[str, ...] = ()
    """Origins whose pages may use this server; "*" is all."""
    keys: Keys | None = None
    """The keys that are valid; without any, everybody may use the server."""

    own: Mapping[str, Any] = field(default_factory=dict)
    """Options of the tasks that are served, such as the beam of translations."""
    engine: str = "auto"
    """What computes; auto is CTranslate2 for models it can run."""
    compute: str = "float32"
    """Precision: int8 is faster on CTranslate2, but changes a few words."""
    threads: int = 0
    """CPU threads; 0 takes all."""

    char_limit: int = 20_000
    """Characters of all inputs of a request together; what is no text counts as its JSON."""
    batch_limit: int = 512
    """Inputs of a request."""
    alternatives_limit: int = 8
    """Other translations a request may ask for."""
    body_limit: int = 1 << 20
    """Bytes of a request: room for `char_limit` characters however they are escaped."""
    file_limit: int = 10 << 20
    """Bytes of a request with a file."""
    file_char_limit: int = 500_000
    """Characters of text in a file."""
    explain_limit: int = 1_000
    """Characters of a text to trace: a trace grows with the square of its length."""

    timeout: float = 30.0
    """Seconds a request may take once it has been read."""
    file_timeout: float = 600.0
    """Seconds a file may take."""
    head_timeout: float = 10.0
    """Seconds a client has to send the head of a request."""
    body_timeout: float = 30.0
    """Seconds a client has to send the body of a request."""
    keep_alive: float = 5.0
    """Seconds an idle connection is kept."""
    read_timeout: float = 30.0
    """Seconds in which a client must read some of an answer."""
    connections: int = 512
    """Connections at once."""
    header_limit: int = 16 << 10
    """Bytes of the head of a request."""

    queue: int = 65_536
    """Pieces (estimated) that may wait for each model; above that, requests are refused at once."""
    client_limit: int = 0
    """Requests of one address under way at once; 0 is any number."""
    round_pieces: int = 4_096
    """Pieces computed together: enough to fill the cores, few enough not to be long."""
    lanes: int = 2
    """Rounds under way at once for each model, so that the cores never wait for one to end."""
    wait: float = 0.002
    """Seconds of quiet after which a round begins."""

    files_at_once: int = 4
    """Files read and translated at once."""
    files_kept: int = 64
    """Translated files kept for downloading."""
    files_bytes: int = 64 << 20
    """Bytes of them together."""
    files_age: float = 1_800.0
    """Seconds they are kept."""
    traces_at_once: int = 8
    """Trace requests that may be under way; they are computed one by one."""
    access_log: bool = False
    """Log a line for each request: method, endpoint, status and time, never a text."""

    def __post_init__(self) -> None:
        """Check the options, before a model is loaded."""
        if not 0 <= self.port <= 65_535:
            raise ConfigError(f"port {self.port} is not a port; expected 0 to 65535")
        for one in fields(self):
            value = getattr(self, one.name)
            if not isinstance(value, int | float) or one.name in ("port", "access_log"):
                continue
            if one.name in ("client_limit", "alternatives_limit", "threads"):
                if value < 0:
                    raise ConfigError(f"{one.name} = {value} is negative; expected 0 or more")
            elif not value > 0:
                raise ConfigError(f"{one.name} = {value} is not possible; expected > 0")
        if self.prefix and not re.fullmatch(r"(/[A-Za-z0-9_~-]+)+", self.prefix):
            raise ConfigError(f"prefix {self.prefix!r} is no path; expected such as /translator")
        for origin in self.cors:
            if origin != "*" and not origin.startswith(("http://", "https://")):
                raise ConfigError(
                    f"origin {origin!r} is none; expected such as https://example.org, or *"
                )
            if origin.endswith("/"):
                raise ConfigError(f"origin {origin!r} ends with /; leave that out")
