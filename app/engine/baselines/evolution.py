"""Regularised evolution (Real and others, 2019) over a finite list of candidates.

The population are the latest measured candidates: the oldest die, however good. The best of a random tournament is the
parent. Mutation: one coordinate of the parent is replaced by that of a random candidate, and the result is snapped to
the nearest candidate (columns divided by their deviation) that has not been measured. On a full grid this changes
exactly one coordinate; elsewhere it moves to a near neighbour in a random direction.
"""

from dataclasses import dataclass

import numpy as np

from app.engine.arrays import Array, Flags, Numbers
from app.engine.ask import Ask, Batch
from app.engine.baselines.fixed import fixed_size
from app.engine.baselines.uniform import any_of
from app.engine.randomness import rng_at
from app.engine.state import State


@dataclass(frozen=True)
class Evolution:
    """Small numbers, for laboratories measure tens of candidates; the authors had 100 and 25."""

    population: int = 20
    tournament: int = 5

    def __call__(self, state: State, ask: Ask) -> Batch:
        """Uniform choices until the population is complete, then children."""
        rng = rng_at(state.settings.seed, "evolution", ask.number)
        living = population(state, self.population)
        fresh = (state.counts == 0) & (state.pending == 0)
        scaled = _scaled(state.X)

        def pick(allowed: Flags) -> tuple[int, float]:
            wanted = _preferably(allowed, fresh)
            if len(living) < self.population:
                number, value = any_of(wanted, rng)
            else:
                parent = self._parent(state, living, rng)
                number, value = _child(scaled, parent, wanted, rng), _value(state, parent)
            fresh[number] = False
            return number, value

        return fixed_size(state, ask, pick)

    def _parent(self, state: State, living: Numbers, rng: np.random.Generator) -> int:
        """The best of `tournament` random members."""
        drawn = rng.choice(living, size=min(self.tournament, len(living)), replace=False)
        return max(map(int, drawn), key=lambda number: (_value(state, number), -number))


def population(state: State, size: int) -> Numbers:
    """The `size` latest measured candidates, youngest first; equal ages by number."""
    measured = state.measured
    return measured[np.argsort(-state.latest[measured], kind="stable")][:size]


def _value(state: State, number: int) -> float:
    """The mean of its measurements."""
    return float(state.sums[number] / state.counts[number])


def _child(scaled: Array, parent: int, allowed: Flags, rng: np.random.Generator) -> int:
    """The allowed candidate nearest to the parent with one coordinate changed."""
    target, column = scaled[parent].copy(), rng.integers(scaled.shape[1])
    target[column] = scaled[rng.integers(len(scaled)), column]
    numbers = np.flatnonzero(allowed)
    others = numbers[numbers != parent]
    if len(others) == 0:
        return parent
    return int(others[np.argmin(((scaled[others] - target) ** 2).sum(axis=1))])


def _preferably(allowed: Flags, fresh: Flags) -> Flags:
    """The allowed that are fresh, if there are any; else all allowed."""
    both = allowed & fresh
    return both if both.any() else allowed


def _scaled(X: Array) -> Array:
    """Columns divided by their deviation, (A, d); features too large to be squared are cut."""
    bounded = np.clip(X, -1e75, 1e75)
    deviation = bounded.std(axis=0)
    scaled: Array = bounded / np.where(deviation > 0, deviation, 1)
    return scaled
