"""Errors a client is told, with LibreTranslate's texts and status codes where it has them."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = [
    "RequestError",
    "body_too_large",
    "busy",
    "invalid",
    "invalid_key",
    "key_needed",
    "missing",
    "slow_down",
    "too_long",
    "too_slow",
]


class RequestError(Exception):
    """A request that is refused: the status, one line that says why, and headers."""

    def __init__(self, status: int, text: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(text)
        self.status, self.text, self.headers = status, text, dict(headers or {})


def invalid(text: str) -> RequestError:
    """The request itself is wrong."""
    return RequestError(400, f"Invalid request: {text}")


def missing(name: str) -> RequestError:
    """A parameter is not there, or empty."""
    return invalid(f"missing {name} parameter")


def too_long(size: int, limit: int) -> RequestError:
    """More texts or characters than are allowed."""
    return invalid(f"request ({size}) exceeds text limit ({limit})")


def key_needed() -> RequestError:
    """The request has no API key."""
    return RequestError(400, "Please contact the server operator to get an API key")


def invalid_key() -> RequestError:
    """The API key is not one of ours."""
    return RequestError(403, "Invalid API key")


def body_too_large(limit: int) -> RequestError:
    """The body is larger than the limit."""
    return RequestError(413, f"Invalid request: body exceeds limit ({limit} bytes)")


def too_slow(seconds: float) -> RequestError:
    """The body did not come in time; the connection is closed, since its rest may still come."""
    return RequestError(
        408,
        f"Invalid request: body did not arrive within {seconds:g} seconds",
        {"Connection": "close"},
    )


def busy(seconds: int, why: str) -> RequestError:
    """The server is overloaded."""
    return RequestError(
        503, f"Slowdown: {why}, try again in {seconds} s", {"Retry-After": str(seconds)}
    )


def slow_down(limit: int) -> RequestError:
    """One client has too many requests under way."""
    return RequestError(429, f"Slowdown: {limit} requests at once", {"Retry-After": "1"})


def clip(text: str) -> str:
    """Shorten a value that a message quotes: a client may have sent a megabyte."""
    return text if len(text) <= 40 else text[:40] + "…"
