"""Long lists in queries, a part at a time."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

T = TypeVar("T")

MOST = 500  # in one IN (…): below every database's limit


def in_parts(items: Sequence[T]) -> Iterator[Sequence[T]]:
    """The items, as many at a time as one query takes."""
    return (items[start : start + MOST] for start in range(0, len(items), MOST))
