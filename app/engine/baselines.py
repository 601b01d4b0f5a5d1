"""Baselines behind the interface that all algorithms share: `choose(state, ask) -> Selection`.

They have no rule that could end a batch, so a batch has `min_size` picks, and nothing is guaranteed about it.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine import sweep
from app.engine.ask import Ask, Ended, Selection
from app.engine.batch import choice_limits
from app.engine.settings import rng_at
from app.engine.state import State
from app.engine.time_limit import check_time

EPSILON = 0.1
LARGEST_FEATURE = 1e75
"""Features are clipped here before they are squared."""

PickOne = Callable[[BoolArray], tuple[int, float]]
"""Picks one of the allowed candidates, and says for which value."""


def fixed_size(state: State, ask: Ask, pick_one: PickOne) -> Selection:
    """`min_size` picks, one after the other."""
    left = choice_limits(state, ask)
    picks: list[int] = []
    values: list[float] = []
    while len(picks) < ask.min_size and left.any():
        check_time()
        number, value = pick_one(left > 0)
        left[number] -= 1
        picks.append(number)
        values.append(value)
    ended: Ended = "size" if len(picks) == ask.min_size else "exhausted"
    return Selection(np.array(picks, dtype=np.int64), ended, np.array(values))


def _rng(state: State, ask: Ask, algorithm: str) -> "np.random.Generator":
    """The generator of a batch, or of one part of it."""
    purpose = f"{algorithm} {ask.chosen_before}" if ask.chosen_before else algorithm
    return rng_at(state.settings.seed, purpose, ask.batch_number)


def highest(values: FloatArray, allowed: BoolArray) -> tuple[int, float]:
    """The allowed candidate of the highest value, the smallest number among equals."""
    number = int(np.argmax(np.where(allowed, values, -np.inf)))
    return number, float(values[number])


def any_of(allowed: BoolArray, rng: "np.random.Generator") -> tuple[int, float]:
    """One of the allowed candidates at random; no value speaks for it."""
    return int(rng.choice(np.flatnonzero(allowed))), 0.0


def uniform(state: State, ask: Ask) -> Selection:
    """Every allowed candidate with the same probability, measured before or not: what all others have to beat."""
    rng = _rng(state, ask, "uniform")
    return fixed_size(state, ask, lambda allowed: any_of(allowed, rng))


def epsilon_greedy(state: State, ask: Ask) -> Selection:
    """With probability EPSILON, and while nothing is known, a uniform choice; else the argmax of the mean."""
    rng = _rng(state, ask, "epsilon-greedy")
    nothing_known = not np.any(state.counts)

    def pick_one(allowed: BoolArray) -> tuple[int, float]:
        if nothing_known or rng.random() < EPSILON:
            return any_of(allowed, rng)
        return highest(state.mean, allowed)

    return fixed_size(state, ask, pick_one)


def thompson(state: State, ask: Ask) -> Selection:
    """Thompson sampling (Kandasamy and others, 2018): every pick is the argmax of a fresh sample of f.

    Samples differ by themselves, so pending measurements need no special care: that makes it asynchronous.
    """
    rng = _rng(state, ask, "thompson")
    residual_root = np.sqrt(state.residual)
    return fixed_size(state, ask, lambda allowed: highest(posterior_sample(state, residual_root, rng), allowed))


def posterior_sample(state: State, residual_root: FloatArray, rng: "np.random.Generator") -> FloatArray:
    """One function from the posterior at all candidates, (A,); `residual_root` is √residual.

        f(x) = mean(x) + √λ · z(x)ᵀ Hᵀ g + √residual(x) · e(x)        g (m,), e (A,) standard normal, V⁻¹ = HᵀH

    Its variance is λ·leverage(x), and all that the dictionary sees is sampled jointly. What it does not see (the
    residual) is independent from candidate to candidate, because a joint sample would cost O(A³).
    """
    g, e = rng.standard_normal(len(state.S)), rng.standard_normal(len(residual_root))
    seen = sweep.combination(state, state.H.T @ g)
    f: FloatArray = state.mean + np.sqrt(state.settings.lam) * seen + residual_root * e
    return f


@dataclass(frozen=True)
class Evolution:
    """Regularised evolution (Real and others, 2019) over a finite list of candidates.

    The population is the latest measured candidates: the oldest die, however good they are. The best of a random
    tournament is the parent. Mutation replaces one coordinate of the parent by that of a random candidate and snaps
    the result to the nearest candidate (columns divided by their deviation) that has not been measured. On a full grid
    this changes exactly one coordinate; elsewhere it moves to a near neighbour in a random direction.
    """

    population: int = 20
    tournament: int = 5
    """Both are small, because laboratories measure tens of candidates; the authors had 100 and 25."""

    def __call__(self, state: State, ask: Ask) -> Selection:
        """Uniform choices until the population is complete, then children."""
        rng = _rng(state, ask, "evolution")
        living = latest_measured(state, self.population)
        fresh = (state.counts == 0) & (state.pending == 0)
        scaled = _scaled(state.X)

        def pick_one(allowed: BoolArray) -> tuple[int, float]:
            preferred = allowed & fresh if (allowed & fresh).any() else allowed
            if len(living) < self.population:
                number, value = any_of(preferred, rng)
            else:
                parent = self._parent(state, living, rng)
                number, value = _child(scaled, parent, preferred, rng), _mean_value(state, parent)
            fresh[number] = False
            return number, value

        return fixed_size(state, ask, pick_one)

    def _parent(self, state: State, living: IndexArray, rng: "np.random.Generator") -> int:
        """The best of `tournament` random ones; the smallest number among equals."""
        drawn = rng.choice(living, size=min(self.tournament, len(living)), replace=False)
        return max(map(int, drawn), key=lambda number: (_mean_value(state, number), -number))


def latest_measured(state: State, size: int) -> IndexArray:
    """The `size` latest measured candidates, youngest first; equal ages by number."""
    measured = state.measured
    return measured[np.argsort(-state.latest[measured], kind="stable")][:size]


def _mean_value(state: State, number: int) -> float:
    """The mean of a candidate's measurements."""
    return float(state.sums[number] / state.counts[number])


def _child(scaled: FloatArray, parent: int, allowed: BoolArray, rng: "np.random.Generator") -> int:
    """The allowed candidate nearest to the parent with one coordinate changed."""
    target, column = scaled[parent].copy(), rng.integers(scaled.shape[1])
    target[column] = scaled[rng.integers(len(scaled)), column]
    numbers = np.flatnonzero(allowed)
    others = numbers[numbers != parent]
    if len(others) == 0:
        return parent
    return int(others[np.argmin(((scaled[others] - target) ** 2).sum(axis=1))])


def _scaled(X: FloatArray) -> FloatArray:
    """Columns divided by their deviation, (A, d)."""
    clipped = np.clip(X, -LARGEST_FEATURE, LARGEST_FEATURE)
    deviation = clipped.std(axis=0)
    scaled: FloatArray = clipped / np.where(deviation > 0, deviation, 1)
    return scaled
