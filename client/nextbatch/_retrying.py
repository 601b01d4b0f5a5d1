"""When to try again, and after how long."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime

import httpx

RETRIED = frozenset({429, 502, 503, 504})  # never 409: there the server has decided
_HOPELESS = (httpx.UnsupportedProtocol, httpx.LocalProtocolError)


@dataclass(frozen=True)
class Retries:
    """Up to `most` more attempts; pauses double from `first` to `longest` seconds, each cut by up to half at random."""

    most: int = 5
    first: float = 0.5
    longest: float = 10.0
    longest_asked: float = 60.0  # a server's Retry-After counts up to this

    def pauses(self) -> Iterator[float]:
        for attempt in range(self.most):
            yield min(self.longest, self.first * 2**attempt) * random.uniform(0.5, 1.0)  # noqa: S311

    def asked(self, response: httpx.Response) -> float:
        """Seconds of the answer's Retry-After, which is a number or a date; 0 without."""
        return max(0.0, min(self.longest_asked, _seconds(response.headers.get("retry-after", ""))))


def is_hopeless(error: httpx.TransportError) -> bool:
    """Whether the request itself is at fault, so that it fails every time."""
    return isinstance(error, _HOPELESS)


def _seconds(text: str) -> float:
    if text.isdigit():
        return float(text)
    try:
        return (parsedate_to_datetime(text) - datetime.now(UTC)).total_seconds()
    except (TypeError, ValueError):
        return 0.0
