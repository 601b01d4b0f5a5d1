"""When to send a request again, and after how long."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx

RETRIED_STATUSES = frozenset({429, 502, 503, 504})  # never 409: the server has decided


@dataclass(frozen=True)
class Retries:
    """Up to `count` more attempts.

    The pauses double from `first_pause` to `longest_pause` seconds; each is cut by up to half at random. A server's
    Retry-After is respected up to `longest_retry_after` seconds.
    """

    count: int = 5
    first_pause: float = 0.5
    longest_pause: float = 10.0
    longest_retry_after: float = 60.0

    def pauses(self) -> Iterator[float]:
        for attempt in range(self.count):
            yield min(self.longest_pause, self.first_pause * 2**attempt) * random.uniform(0.5, 1.0)  # noqa: S311

    def retry_after(self, response: httpx.Response) -> float:
        """The seconds of the answer's Retry-After, which is a number or a date; 0 if there is none."""
        return max(0.0, min(self.longest_retry_after, _seconds(response.headers.get("retry-after", ""))))


def is_permanent(error: httpx.TransportError) -> bool:
    """Whether the request itself is at fault, so that it would fail every time."""
    from httpx import LocalProtocolError, UnsupportedProtocol  # noqa: PLC0415  (see this package's docstring)

    return isinstance(error, UnsupportedProtocol | LocalProtocolError)


def _seconds(text: str) -> float:
    if text.isdigit():
        return float(text)
    from email.utils import parsedate_to_datetime  # noqa: PLC0415

    try:
        return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return 0.0
