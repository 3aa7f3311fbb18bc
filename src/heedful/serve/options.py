"""Everything about a server that can be chosen, with its only default."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from heedful.errors import ConfigError
from heedful.serve.keys import Keys

if TYPE_CHECKING:
    from heedful.interchange.ctranslate2 import Compute
    from heedful.translator import Choice

__all__ = ["ENDPOINTS", "ServeOptions"]

ENDPOINTS = (
    *("/translate", "/detect", "/languages", "/translate_file", "/download_file/{name}"),
    *("/frontend/settings", "/suggest", "/health", "/explain", "/metrics", "/openapi.json"),
    *("/page/{name}", "/favicon.ico", "/"),
)
"""Every path there is; a prefix must not begin like one of them."""


@dataclass(frozen=True)
class ServeOptions:
    """What a server allows and how it works; nobody but this machine can reach it by default."""

    host: str = "127.0.0.1"
    """The address to listen on; 0.0.0.0 is every one."""
    port: int = 5000
    """LibreTranslate's own port, so that its clients find it."""
    prefix: str = ""
    """Path a reverse proxy puts before ours, such as /translator; it may take it off or not."""
    cors: tuple[str, ...] = ()
    """Origins whose pages may use this server; "*" is all."""
    keys: Keys | None = None
    """Who may use it; everybody where there are none."""

    beam: int | None = None
    """Hypotheses kept; the model's own number if not given."""
    engine: Choice = "auto"
    """What computes: CTranslate2 where it can."""
    compute: Compute = "float32"
    """Or int8: faster on CTranslate2, a few words change."""
    threads: int = 0
    """CPU threads; 0 takes all."""

    char_limit: int = 20_000
    """Characters of all texts of a request together."""
    batch_limit: int = 512
    """Texts of a request."""
    alternatives_limit: int = 8
    """Other translations a request may ask for."""
    body_limit: int = 1 << 20
    """Bytes of a request: room for `char_limit` characters however they are escaped."""
    file_limit: int = 10 << 20
    """Bytes of a request with a file."""
    file_char_limit: int = 500_000
    """Characters of text in a file."""
    explain_limit: int = 1_000
    """Characters of a text to look inside: a trace grows with the square of its length."""

    timeout: float = 30.0
    """Seconds a request may take once it has been read."""
    file_timeout: float = 600.0
    """Seconds a file may take."""
    head_timeout: float = 10.0
    """Seconds a client has to send the head of a request."""
    body_timeout: float = 30.0
    """Seconds it has to send the rest."""
    keep_alive: float = 5.0
    """Seconds an idle connection is kept."""
    read_timeout: float = 30.0
    """Seconds in which a client must take some of an answer that waits for it."""
    connections: int = 512
    """Connections at once."""
    header_limit: int = 16 << 10
    """Bytes of the head of a request."""

    queue: int = 65_536
    """Pieces (estimated) that may wait for each model; what comes then is refused at once."""
    client_limit: int = 0
    """Requests of one address under way at once; 0 is any number."""
    round_pieces: int = 4_096
    """Pieces translated together: enough to fill the cores, few enough not to be long."""
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
    """Requests to look inside that may be under way; they are computed one by one."""
    access_log: bool = False
    """Log a line for each request: method, endpoint, status and time, never a text."""

    def __post_init__(self) -> None:
        """Refuse what could not work, before a model is loaded."""
        if not 0 <= self.port <= 65_535:
            raise ConfigError(f"port {self.port} is not a port; expected 0 to 65535")
        for name in _POSITIVE:
            if not getattr(self, name) > 0:
                raise ConfigError(f"{name} = {getattr(self, name)} is not possible; expected > 0")
        for name in ("client_limit", "alternatives_limit", "threads"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name} = {getattr(self, name)} is negative; expected 0 or more")
        self._check_prefix()
        for origin in self.cors:
            if origin != "*" and not origin.startswith(("http://", "https://")):
                raise ConfigError(
                    f"origin {origin!r} is none; expected such as https://example.org, or *"
                )
            if origin.endswith("/"):
                raise ConfigError(f"origin {origin!r} ends with /; leave that out")

    def _check_prefix(self) -> None:
        if not self.prefix:
            return
        if not re.fullmatch(r"(/[A-Za-z0-9_~-]+)+", self.prefix):
            raise ConfigError(f"prefix {self.prefix!r} is no path; expected such as /translator")
        if any(path.split("/")[1] == self.prefix.split("/")[1] for path in ENDPOINTS):
            raise ConfigError(
                f"prefix {self.prefix!r} begins with the name of an endpoint; choose another"
            )


_POSITIVE = (
    *("char_limit", "batch_limit", "body_limit", "file_limit", "file_char_limit", "explain_limit"),
    *("connections", "header_limit", "queue", "round_pieces", "lanes", "files_at_once"),
    *("files_kept", "files_bytes", "traces_at_once", "timeout", "file_timeout", "head_timeout"),
    *("body_timeout", "keep_alive", "read_timeout", "wait", "files_age"),
)
