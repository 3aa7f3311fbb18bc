"""Connections with deadlines: uvicorn's protocol lets a client take for ever.

    the head of a request    must come within `head_timeout`, from the first byte or the connection
    its body                 has a deadline of its own, in `parameters.py`
    after an answer          no more than a megabyte of a body nobody reads is let in
    the answer               must be taken, `READ_AT_LEAST` bytes in each `read_timeout`
    too many connections     get 503 at once; twice too many are cut off

When the server stops, an idle connection is closed only after a moment: a request may be on its
way, and everything that was sent before we said goodbye is answered.
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

__all__ = ["Connection", "connection_class"]

READ_AT_LEAST = 64 << 10
UNREAD = 1 << 20
LINGER = 1.0
"""Seconds an idle connection may still bring a request when the server stops."""


class Connection(H11Protocol):
    """A connection that does not wait for ever."""

    options: ServeOptions
    _clock: asyncio.TimerHandle | None = None
    _taking: asyncio.TimerHandle | None = None
    _stopping = False
    _extra = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin, with a deadline for the first head."""
        super().connection_made(transport)
        if len(self.connections) > 2 * self.options.connections:
            transport.abort()
            return
        if len(self.connections) > self.options.connections:
            self.app = _no_room
        self._watch_head()

    def connection_lost(self, exc: Exception | None) -> None:
        """End, and all deadlines with it."""
        for clock in (self._clock, self._taking):
            if clock is not None:
                clock.cancel()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Take what came, and see whether a head is still to come."""
        finished = self.cycle is not None and self.cycle.response_complete
        if finished:
            self._extra += len(data)
            if self._extra > UNREAD:  # a body that was refused goes on and on
                self.transport.abort()
                return
        super().data_received(data)
        self._watch_head()
        if self._stopping:
            self._last_request()

    def on_response_complete(self) -> None:
        """An answer is written: the next request may come."""
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
        """Refuse what is not HTTP, as JSON like every other refusal."""
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
        """More is written than the client takes: watch that it takes some."""
        super().pause_writing()
        self._watch_taking()

    def resume_writing(self) -> None:
        """The client has caught up."""
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
        """Close an idle connection, and cut it off if its last answer is never taken."""
        super().timeout_keep_alive_handler()
        self.loop.call_later(self.options.read_timeout, self.transport.abort)

    def shutdown(self) -> None:
        """Answer what has been sent, then close."""
        self._stopping = True
        if self.cycle is None or self.cycle.response_complete:
            self.loop.call_later(LINGER, self._close_idle)
        else:
            self._last_request()

    def _last_request(self) -> None:
        """Say in the answer that it is the last on this connection."""
        if self.cycle is not None and not self.cycle.response_complete:
            self.cycle.keep_alive = False
            if CLOSE_HEADER not in self.scope["headers"]:  # uvicorn answers this in kind
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
    """Make the kind of connection that has these deadlines."""
    return type("Connection", (Connection,), {"options": options})
