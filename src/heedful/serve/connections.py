"""Connections with deadlines and limits, which uvicorn's protocol does not have.

    the head of a request    must come within `head_timeout`, from the first byte or the connection
    its body                 has a deadline of its own, in `parameters.py`
    after an early answer    at most `UNREAD` bytes of a body that is not read are taken
    the answer               must be read, `READ_AT_LEAST` bytes in each `read_timeout`
    connections              above `connections` get 503; above twice as many are closed

When the server stops, an idle connection stays open for `LINGER` seconds: a request that was sent
before the client could know is still answered.
"""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.flow_control import CLOSE_HEADER
from uvicorn.protocols.http.h11_impl import H11Protocol

from heedful.serve.options import ServeOptions

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

READ_AT_LEAST = 64 << 10
UNREAD = 1 << 20
LINGER = 1.0
"""Seconds an idle connection may still bring a request when the server stops."""


class Connection(H11Protocol):
    """A connection with deadlines."""

    options: ServeOptions
    _clock: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None
    _stopping = False
    _extra = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the deadline of the first head, or refuse one connection too many."""
        super().connection_made(transport)
        if len(self.connections) > 2 * self.options.connections:
            transport.abort()
            return
        if len(self.connections) > self.options.connections:
            self.app = _no_room
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the deadlines."""
        for clock in (self._clock, self._taking):
            if clock is not None:
                clock.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Pass data on, and start or stop the deadline of a head."""
        finished = self.cycle is not None and self.cycle.response_complete
        if finished:
            self._extra += len(data)
            if self._extra > UNREAD:  # the rest of a body that was refused
                self.transport.abort()
                return
        super().data_received(data)
        self._watch_head()
        if self._stopping:
            self._last_request()

    def on_response_complete(self) -> None:
        """Allow the next request."""
        self._extra = 0
        super().on_response_complete()

    def _watch_head(self) -> None:
        busy = self.cycle is not None and not self.cycle.response_complete
        if self._clock is not None and busy:
            self._clock.cancel()
            self._clock = None
        elif self._clock is None and not busy and not self.transport.is_closing():
            self._clock = self.loop.call_later(self.options.head_timeout, self._give_up)

    def _give_up(self) -> None:
        self._clock = None
        if self.cycle is None or self.cycle.response_complete:
            self.transport.abort()

    def send_400_response(self, msg: str) -> None:
        """Refuse what is not HTTP, as JSON like every other error."""
        body = json.dumps({"error": msg}).encode()
        if not self.transport.is_closing() and (
            self.cycle is None or self.cycle.response_complete or not self.cycle.response_started
        ):
            self.transport.write(
                b"HTTP/1.1 400 Bad Request\r\ncontent-type: application/json\r\n"
                b"connection: close\r\ncontent-length: %d\r\n\r\n" % len(body) + body
            )
        self.transport.close()

    def pause_writing(self) -> None:
        """Start the deadline for reading, since the client reads slower than we write."""
        super().pause_writing()
        self._watch_taking()

    def resume_writing(self) -> None:
        """Stop that deadline."""
        super().resume_writing()
        if self._taking is not None:
            self._taking.cancel()
            self._taking = None

    def _watch_taking(self) -> None:
        left = self.transport.get_write_buffer_size()
        self._taking = self.loop.call_later(self.options.read_timeout, self._see_taken, left)

    def _see_taken(self, before: int) -> None:
        self._taking = None
        if self.transport.get_write_buffer_size() > before - READ_AT_LEAST:
            self.transport.abort()
        else:
            self._watch_taking()

    def timeout_keep_alive_handler(self) -> None:
        """Close an idle connection; abort it if its last answer is never read."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(self.options.read_timeout, self.transport.abort)

    def shutdown(self) -> None:
        """Answer what was sent before the stop, then close."""
        self._stopping = True
        if self.cycle is None or self.cycle.response_complete:
            self.loop.call_later(LINGER, self._close_idle)
        else:
            self._last_request()

    def _last_request(self) -> None:
        """Make the answer say `connection: close`."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
            if CLOSE_HEADER not in self.scope["headers"]:  # uvicorn then sends it too
                self.scope["headers"] = [*self.scope["headers"], CLOSE_HEADER]

    def _close_idle(self) -> None:
        if self.cycle is None or self.cycle.response_complete:
            self.transport.close()


async def _no_room(scope: Scope, receive: Receive, send: Send) -> None:
    body = json.dumps({"error": "Slowdown: too many connections, try again in 1 s"}).encode()
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
        (b"retry-after", b"1"),
        CLOSE_HEADER,
    ]
    await send({"type": "http.response.start", "status": 503, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def connection_class(options: ServeOptions) -> type[Any]:
    """Make the protocol class with these deadlines, as uvicorn wants it."""
    return type("Connection", (Connection,), {"options": options})
