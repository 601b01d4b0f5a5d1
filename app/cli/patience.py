"""A start that finds the database busy waits: one that gave up would have to be repeated by hand."""

from collections.abc import Callable
from time import monotonic, sleep
from typing import TypeVar

import structlog

from app.domain.errors import DatabaseBusy

T = TypeVar("T")

SECONDS = 120.0  # counted from the first refusal; the database itself waits a while before each
PAUSE = 0.2


def patiently(step: Callable[[], T]) -> T:
    """Do it; if others keep the database busy, again and again for two minutes, and then say so."""
    until: float | None = None
    while True:
        try:
            return step()
        except DatabaseBusy:
            until = until or monotonic() + SECONDS
            left = until - monotonic()
            if left <= 0:
                raise
            structlog.get_logger().warning("the database is busy; the start waits", seconds_left=round(left))
            sleep(PAUSE)
