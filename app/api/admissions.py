"""Keys that were admitted a moment ago, so that a busy key is not looked up for each of its requests.

An actor admitted from here is `remembered`, and each of its transactions first asks whether the key still stands
(`app/services/transactions.py`). So a revoked key does and learns nothing more, although its requests may be read.
"""

from hashlib import sha256
from time import monotonic

from app.domain.access import Key

SECONDS = 1.0
MOST = 10_000


class Admissions:
    """The keys of this process that were found in the database in the last second, by the hash of their plaintext."""

    def __init__(self) -> None:
        self._admitted: dict[bytes, tuple[Key, float]] = {}

    def find(self, plaintext_key: str) -> Key | None:
        key, until = self._admitted.get(_digest(plaintext_key), (None, 0.0))
        return key if monotonic() < until else None

    def remember(self, plaintext_key: str, key: Key) -> None:
        if len(self._admitted) >= MOST:
            self._admitted.clear()
        self._admitted[_digest(plaintext_key)] = key, monotonic() + SECONDS


def _digest(plaintext_key: str) -> bytes:
    return sha256(plaintext_key.encode(errors="surrogateescape")).digest()
