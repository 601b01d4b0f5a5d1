"""Ours as a library: auto mode's engine in the worker's process, without a server."""

import numpy as np

from app.engine.auto import FeatureColumn, Observed
from benchmarks.labs.policies import Auto
from benchmarks.labs.protocol import Protocol
from benchmarks.labs.tables import Table
from benchmarks.peers.adapters.adapter import Adapter, Given, is_text


class Library(Adapter):
    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self._auto = Auto(_table(given), Protocol(noisy=given.noisy), given.seed)

    def ask(self, q: int) -> list[int]:
        return [int(row) for row in self._auto.ask(self._observed(), q)]

    def recommend(self) -> int:
        return self._auto.recommend(self._observed())

    def _observed(self) -> Observed:
        return Observed.of(self.given.size, self.rows, self.values)


def _table(given: Given) -> Table:
    """The list without its values."""
    columns, numbers, codes = [], [], []
    for name, cells in zip(given.columns, given.values, strict=True):
        levels = tuple(sorted(set(cells))) if is_text(cells) else ()
        columns.append(FeatureColumn(name, "text" if levels else "number", levels))
        if levels:
            codes.append([levels.index(cell) for cell in cells])
        else:
            numbers.append(cells)
    A = given.size
    features = np.array(numbers, dtype=float).reshape(-1, A).T, np.array(codes, dtype=np.int32).reshape(-1, A).T
    return Table("given", tuple(columns), *features, np.zeros(A), "maximize")


def start(given: Given, variant: str) -> Adapter:  # noqa: ARG001
    return Library(given)
