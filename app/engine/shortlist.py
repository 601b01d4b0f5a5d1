"""The argmax of the UCB without looking at every candidate: only those near the top are kept up to date.

Inside a batch leverages only fall, so a UCB of the start of the batch is an upper bound throughout. The candidates with
the highest ones are kept exact; as long as the best of them stands before everything outside, it is the argmax of all.
Otherwise the list grows.

UCBs are compared to nine digits, as whole multiples (`keys`) of a quantum; equal keys go to the smallest number. So
candidates whose values differ by rounding alone are ties, and the same one is chosen however its value was computed.
"""

from dataclasses import dataclass

import numpy as np

from app.engine.arrays import Array, Numbers
from app.engine.hallucination import Hallucination, Points
from app.engine.stability import SMALLEST, Rescues
from app.engine.state import State

DIGITS = 1e-9
FIRST = 64
"""Length of the shortlist at first; it doubles when it has to grow."""

UNLIMITED = 2**62


@dataclass(frozen=True)
class Pick:
    """The candidate to choose next: its mean, residual/λ and zᵀV⁻¹z now; `run`: how often in a row it surely is."""

    number: int
    mean: float
    base: float
    spread: float
    run: int

    def leverages(self, n: int) -> Array:
        """Its leverage before each of n choices in a row: base + v/(1 + c·v), c = 0 … n − 1."""
        return self.base + self.spread / (1 + np.arange(n, dtype=float) * self.spread)


class Shortlist:
    """Candidates that may be chosen next, best first in the order (key, smallest number)."""

    def __init__(self, state: State, alpha: float, limit: Numbers, rescues: Rescues) -> None:
        self._state, self._alpha, self._left = state, alpha, limit.copy()
        self._hallucination = Hallucination(state, rescues)
        ucb = np.where(limit > 0, state.mean + alpha * np.sqrt(state.leverage), -np.inf)
        self._quantum = _quantum(ucb, state.mean)
        self._outside = self._key(ucb)
        self._points = self._hallucination.points(np.zeros(0, dtype=np.int64))
        self._keys = np.zeros(0)
        self._last_key, self._last_number = np.inf, -1
        self._taken: tuple[int, int] | None = None
        self._grow()

    def best(self) -> Pick | None:
        """The argmax of the UCB over all candidates that may still be chosen, or None when there is none."""
        self._see_taken()
        while not self._complete(place := self._place_of_best()):
            self._grow()
        return None if place is None else self._pick(place)

    def take(self, number: int, n: int) -> None:
        """Choose a candidate n times; seen by the next `best`, if there is one."""
        self._see_taken()
        self._left[number] -= n
        self._taken = number, n

    def hallucinate(self, number: int, n: int) -> None:
        """Any candidate, on the list or not, is as good as measured n times."""
        self._hallucination.take(self._point(number), n, self._points)
        self._refresh()

    def _see_taken(self) -> None:
        if self._taken:
            self.hallucinate(*self._taken)
            self._taken = None

    def likely(self, n: int) -> Numbers:
        """Up to n candidates that stand first now."""
        first = np.argsort(-self._keys, kind="stable")[:n]
        return self._points.numbers[first[self._keys[first] > -np.inf]]

    def look_at(self, number: int) -> Pick:
        """Any candidate, as the batch so far leaves it."""
        point = self._hallucination.points(np.array([number]))
        base = float(point.residual[0]) / self._state.settings.lam
        return Pick(number, float(self._state.mean[number]), base, float(point.spread[0]), 1)

    def _point(self, number: int) -> Points:
        place = np.flatnonzero(self._points.numbers == number)
        if len(place) == 0:
            return self._hallucination.points(np.array([number]))
        p = self._points
        return Points(p.numbers[place], p.z[place], p.residual[place], p.spread[place])

    def _refresh(self) -> None:
        points, state = self._points, self._state
        leverage = points.residual / state.settings.lam + points.spread
        ucb = state.mean[points.numbers] + self._alpha * np.sqrt(leverage)
        self._keys = np.where(self._left[points.numbers] > 0, self._key(ucb), -np.inf)

    def _key(self, ucb: Array) -> Array:
        return np.rint(ucb / self._quantum)

    def _complete(self, place: int | None) -> bool:
        """Whether nothing outside can stand before the best of the list."""
        if self._last_key == -np.inf:
            return True
        if place is None:
            return False
        key, number = self._keys[place], self._points.numbers[place]
        return bool(key > self._last_key or (key == self._last_key and number <= self._last_number))

    def _place_of_best(self) -> int | None:
        top = self._keys.max(initial=-np.inf)
        if top == -np.inf:
            return None
        places = np.flatnonzero(self._keys == top)
        return int(places[np.argmin(self._points.numbers[places])])

    def _pick(self, place: int) -> Pick:
        points = self._points
        number = int(points.numbers[place])
        base, spread = float(points.residual[place]) / self._state.settings.lam, float(points.spread[place])
        if self._state.settings.hallucination == "full":
            base, spread = 0.0, base + spread
        pick = Pick(number, float(self._state.mean[number]), base, spread, 1)
        run = min(self._run(pick, place), int(self._left[number]))
        return Pick(pick.number, pick.mean, pick.base, pick.spread, max(1, run))

    def _run(self, pick: Pick, place: int) -> int:
        """How often in a row `pick` is the argmax for certain: its UCB after c choices has a closed form, and the
        present UCBs of all others bound theirs. A run cut short is simply continued by the next pick."""
        needed = self._needed(pick.number, place)
        width = ((needed - 0.5) * self._quantum - pick.mean) / self._alpha if self._alpha > 0 else -np.inf
        if width <= 0 or pick.base >= width**2:
            c = UNLIMITED
        else:
            c = int(min(max(0.0, 1 / (width**2 - pick.base) - 1 / max(pick.spread, 1e-300)), 1e15))
        while c and self._key_after(pick, c) < needed:
            c //= 2
        return c + 1

    def _key_after(self, pick: Pick, c: int) -> Array:
        leverage = pick.base + pick.spread / (1 + c * pick.spread)
        return self._key(np.array(pick.mean + self._alpha * np.sqrt(leverage)))

    def _needed(self, number: int, place: int) -> float:
        """The smallest key with which a candidate still stands before all others."""
        keys = self._keys.copy()
        keys[place] = -np.inf
        top = keys.max(initial=-np.inf)
        rival = self._points.numbers[keys == top].min() if top > -np.inf else UNLIMITED
        inside = top if number < rival else top + 1
        outside = self._last_key if number <= self._last_number else self._last_key + 1
        return float(max(inside, outside))

    def _grow(self) -> None:
        """Let in the next best of those outside, twice as many as before."""
        chosen = _first_by_key(self._outside, max(FIRST, len(self._keys)))
        if len(chosen):
            self._last_key = self._outside[chosen].min()
            self._last_number = int(chosen[self._outside[chosen] == self._last_key].max())
            self._outside[chosen] = -np.inf
            self._points = _joined(self._points, self._hallucination.points(chosen))
        if self._outside.max(initial=-np.inf) == -np.inf:
            self._last_key = -np.inf
        self._refresh()


def _quantum(ucb: Array, mean: Array) -> float:
    """DIGITS of the size of the best UCB; its mean and its width may cancel, so both count."""
    top = int(np.argmax(ucb))
    return float(max(DIGITS * (2 * abs(mean[top]) + abs(ucb[top])), SMALLEST)) if ucb[top] > -np.inf else 1.0


def _first_by_key(keys: Array, n: int) -> Numbers:
    """The n candidates with the highest finite keys, smallest numbers first among equals."""
    n = min(n, len(keys))
    kth = np.partition(keys, len(keys) - n)[len(keys) - n] if n else np.inf
    above = np.flatnonzero(keys > kth)
    tied = np.flatnonzero(keys == kth)[: n - len(above)] if kth > -np.inf else above[:0]
    return np.concatenate((above, tied)).astype(np.int64)


def _joined(a: Points, b: Points) -> Points:
    return Points(
        np.concatenate((a.numbers, b.numbers)),
        np.concatenate((a.z, b.z)),
        np.concatenate((a.residual, b.residual)),
        np.concatenate((a.spread, b.spread)),
    )
