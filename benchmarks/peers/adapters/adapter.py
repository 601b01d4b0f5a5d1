"""What a peer is given and what is wanted of it."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Given:
    """A list of candidates: columns[c] has values[c][i] for candidate i, numbers or texts."""

    columns: tuple[str, ...]
    values: tuple[list[Any], ...]
    noisy: bool
    seed: int

    @classmethod
    def of(cls, message: dict[str, Any]) -> Self:
        values = tuple(_whole(column) for column in message["values"])
        return cls(tuple(message["columns"]), values, message["noisy"], message["seed"])

    @property
    def size(self) -> int:
        return len(self.values[0])

    def features(self) -> Array:
        """(A, d) in [0, 1]: numbers scaled over all candidates, a column of 0 and 1 for every text."""
        return self._encoded(self.values)

    def encoded(self, points: Sequence[dict[str, Any]]) -> Array:
        """Points that may lie between the candidates, scaled in the same way."""
        return self._encoded([[point[name] for point in points] for name in self.columns])

    def candidate(self, row: int) -> dict[str, float | str]:
        return {name: column[row] for name, column in zip(self.columns, self.values, strict=True)}

    def _encoded(self, values: Sequence[list[Any]]) -> Array:
        pairs = zip(self.values, values, strict=True)
        return np.column_stack([part for column, cells in pairs for part in _scaled(column, cells)])


def is_text(column: list[Any]) -> bool:
    return isinstance(column[0], str)


def is_whole(column: list[Any]) -> bool:
    return isinstance(column[0], int)


def _whole(column: list[Any]) -> list[Any]:
    """Whole numbers as such."""
    if is_text(column) or not all(float(cell).is_integer() for cell in column):
        return column
    return [int(cell) for cell in column]


def _scaled(column: list[Any], cells: list[Any]) -> list[Array]:
    """Cells on the scale that a whole column has."""
    if is_text(column):
        return [np.array([cell == level for cell in cells], dtype=float) for level in sorted(set(column))]
    return [(np.array(cells, dtype=float) - min(column)) / (np.ptp(column) or 1.0)]


class Adapter:
    """A study under way; larger values are better."""

    def __init__(self, given: Given) -> None:
        self.given = given
        self.rows: list[int] = []
        self.values: list[float] = []

    def tell(self, rows: Sequence[int], values: Sequence[float]) -> None:
        """These candidates were measured."""
        self.rows += rows
        self.values += values

    def ask(self, q: int) -> list[int]:
        """The next q candidates."""
        raise NotImplementedError

    def recommend(self) -> int:
        """The candidate to use in the end: that of the best value, unless the peer has a better word."""
        return self.rows[int(np.argmax(self.values))]

    def choices(self) -> NDArray[np.int64]:
        """What may be measured next: everything if measurements are noisy, else what was not measured yet."""
        return np.arange(self.given.size) if self.given.noisy else self.unused()

    def unused(self) -> NDArray[np.int64]:
        return np.setdiff1d(np.arange(self.given.size), self.rows)
