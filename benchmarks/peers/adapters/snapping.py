"""For peers that know ranges and levels but no list: each point they propose is moved to the nearest candidate."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from benchmarks.peers.adapters.adapter import Adapter, Given


class Snapping(Adapter):
    def __init__(self, given: Given) -> None:
        super().__init__(given)
        self._X = given.features()

    def nearest(self, points: Sequence[dict[str, Any]]) -> list[int]:
        """A candidate for each point, no candidate twice; in the scaled features, with a column for every text."""
        rows: list[int] = []
        for point in self.given.encoded(points):
            left = np.setdiff1d(self.choices(), rows)
            rows.append(int(left[np.argmin(np.sum((self._X[left] - point) ** 2, axis=1))]))
        return rows
