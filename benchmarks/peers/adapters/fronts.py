"""Peers that look for a front: what they are told are rows of values, one per objective; larger is better.

A measurement that failed has no values. A peer without a model of failures learns nothing from it, but does not propose
the candidate again.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from benchmarks.peers.adapters.adapter import Given

Row = Sequence[float] | None


class FrontAdapter:
    """A study of several objectives under way."""

    def __init__(self, given: Given, objectives: int) -> None:
        self.given, self.objectives = given, objectives
        self.tried: list[int] = []
        self.rows: list[int] = []
        self.values: list[Sequence[float]] = []

    def tell(self, rows: Sequence[int], values: Sequence[Row]) -> None:
        """These candidates were measured; None: without a value."""
        self.tried += rows
        done = [(row, measured) for row, measured in zip(rows, values, strict=True) if measured is not None]
        self.rows += [row for row, _ in done]
        self.values += [measured for _, measured in done]

    def ask(self, q: int) -> list[int]:
        """The next q candidates."""
        raise NotImplementedError

    def choices(self) -> NDArray[np.int64]:
        """What was not tried yet."""
        return np.setdiff1d(np.arange(self.given.size), self.tried)
