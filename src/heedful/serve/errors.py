"""Errors a client is told, with LibreTranslate's texts and status codes where it has them."""

from __future__ import annotations

from collections.abc import Mapping


class RequestError(Exception):
    """A request that is refused: the status, one line that says why, and headers."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, dict(headers or {})


def invalid(text: str) -> RequestError:
    """The request itself is wrong."""
    return RequestError(400, f"Invalid request: {text}")


def too_long(size: int, limit: int) -> RequestError:
    """More inputs or characters than are allowed."""
    return invalid(f"request ({size}) exceeds text limit ({limit})")


def busy(seconds: int, why: str) -> RequestError:
    """The server is overloaded."""
    return RequestError(
        503, f"Slowdown: {why}, try again in {seconds} s", {"Retry-After": str(seconds)}
    )


def clip(text: str) -> str:
    """Shorten a value that a message quotes: a client may have sent a megabyte."""
    return text if len(text) <= 40 else text[:40] + "…"
