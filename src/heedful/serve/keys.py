"""API keys: read from a file, kept as hashes, compared in constant time."""

from __future__ import annotations

import hashlib
import hmac
import secrets
from collections.abc import Iterable
from pathlib import Path

from heedful.errors import ConfigError


class Keys:
    """The API keys of a server, kept as hashes only."""

    def __init__(self, keys: Iterable[str]) -> None:
        self._hashes = [_hash(key) for key in keys]

    @classmethod
    def read(cls, path: Path) -> Keys:
        """Read keys from a file, one a line; empty lines and those beginning with # are skipped."""
        try:
            lines = path.read_text(encoding="utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError(
                f"the keys in {path} cannot be read: {error}; expected a text file, one key a line"
            ) from error
        keys = [key for line in lines if (key := line.strip()) and not key.startswith("#")]
        if not keys:
            raise ConfigError(f"{path} holds no key; expected one a line")
        short = next((number for number, key in enumerate(keys, 1) if len(key) < 8), None)
        if short is not None:
            raise ConfigError(
                f"key {short} of {path} can be guessed; expected 8 characters or more"
            )
        return cls(keys)

    @classmethod
    def make(cls) -> tuple[Keys, str]:
        """Make a random key, and give it too, to be shown to whoever started the server."""
        key = secrets.token_urlsafe(24)
        return cls([key]), key

    def know(self, key: str) -> bool:
        """Say whether a key is valid, in a time that does not depend on the answer."""
        wanted = _hash(key)
        found = False
        for each in self._hashes:
            found |= hmac.compare_digest(each, wanted)
        return found

    def __len__(self) -> int:
        return len(self._hashes)

    def __repr__(self) -> str:
        return f"Keys({len(self)})"


def _hash(key: str) -> bytes:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).digest()
