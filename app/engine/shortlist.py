"""The argmax of the UCB without looking at every candidate: only those near the top are kept up to date.

Inside a batch leverages only fall, so a UCB from the start of the batch is an upper bound throughout. The candidates
with the highest ones are kept exact. As long as the best of them ranks before everything outside the list, it is the
argmax of all; otherwise the list grows.

UCBs are compared to nine digits, as whole multiples (`keys`) of a quantum; among equal keys the smallest number wins.
So candidates whose values differ by rounding errors alone are ties, and the same one is chosen however its value was
computed.
"""

from dataclasses import dataclass

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.ask import NO_CANDIDATES, NO_LIMIT
from app.engine.focus import OutsideMattersError
from app.engine.hallucination import Hallucination, KeptHallucination, Points
from app.engine.stability import SMALLEST, Rescues, clip_extremes
from app.engine.state import State
from app.engine.time_limit import check_time

DIGITS = 1e-9
FIRST_LENGTH = 64
"""Length of the shortlist at first; it doubles when it has to grow."""

LONGEST_RUN = 1e15
"""A run computed in closed form is cut here, far beyond any batch."""


@dataclass(frozen=True)
class Pick:
    """The candidate to choose next, as the batch so far leaves it.

    Its leverage is the sum of two parts: repeats leave the first as it is and shrink the second.
    """

    number: int
    mean: float
    fixed_leverage: float
    shrinking_leverage: float
    run: int = 1
    """How often in a row it is certain to be the argmax."""

    def leverages(self, n: int) -> FloatArray:
        """Its leverage before each of n choices in a row: fixed + v/(1 + c·v), c = 0 … n − 1."""
        v = self.shrinking_leverage
        return self.fixed_leverage + v / (1 + np.arange(n, dtype=float) * v)


class Shortlist:
    """Candidates that may be chosen next, best first in the order (key, smallest number).

    `rival` bounds the UCBs of candidates that `state` does not hold: a choice that one of them might win is refused.
    `kept` counts what is pending already.
    """

    def __init__(
        self,
        state: State,
        alpha: float,
        limit: IndexArray,
        rescues: Rescues,
        rival: float = -np.inf,
        kept: KeptHallucination | None = None,
    ) -> None:
        self._state, self._alpha, self._left = state, alpha, limit.copy()
        self._hallucination, self._kept = kept or Hallucination(state, rescues), kept
        ucb = clip_extremes(state.mean + alpha * np.sqrt(state.leverage), "ucbs clipped", rescues)
        ucb = np.where(limit > 0, ucb, -np.inf)
        self._quantum = _quantum(ucb, state.mean)
        self._outside = self._key(ucb)
        self._rival = float(self._key(np.array(rival))) + 1
        self._points = self._hallucination.points(NO_CANDIDATES)
        self._slots: dict[int, int] = {}
        self._keys = np.zeros(0)
        self._last_key, self._last_number = np.inf, -1
        self._taken: tuple[int, int] | None = None
        self._grow()

    def best(self) -> Pick | None:
        """The argmax of the UCB over all candidates that may still be chosen, or None if there is none."""
        self._process_taken()
        check_time()
        while not self._complete(slot := self._best_slot()):
            self._grow()  # at most log₂(A) times: the list doubles, and with nobody outside it is complete
        if (-np.inf if slot is None else self._keys[slot]) < self._rival:
            raise OutsideMattersError
        return None if slot is None else self._pick(slot)

    def take(self, number: int, n: int) -> None:
        """Choose a candidate n times. The leverages follow at the next `best`, if there is one."""
        self._process_taken()
        self._left[number] -= n
        self._taken = number, n

    def hallucinate(self, number: int, n: int) -> None:
        """Treat any candidate, on the list or not, as measured n times."""
        self._hallucination.take(self._point(number), n, self._points)
        self._refresh()

    def leaders(self, n: int) -> IndexArray:
        """Up to n candidates that rank first now."""
        first = np.argsort(-self._keys, kind="stable")[:n]
        return self._points.numbers[first[self._keys[first] > -np.inf]]

    def look_at(self, number: int) -> Pick:
        """Any candidate, as the batch so far leaves it."""
        return self._as_pick(self._point(number), 0)

    def _process_taken(self) -> None:
        if self._taken:
            self.hallucinate(*self._taken)
            self._taken = None

    def _point(self, number: int) -> Points:
        slot = self._slots.get(number)
        if slot is None:
            return self._hallucination.points(np.array([number]))
        return self._points.only(slot)

    def _refresh(self) -> None:
        """The keys of the list from its present leverages."""
        ucb = self._means + self._alpha * np.sqrt(self._points.leverage(self._state.settings.lam))
        keys = np.fmax(self._key(ucb), -np.inf)  # what is not a number is never chosen
        keys[self._left[self._points.numbers] <= 0] = -np.inf
        self._keys = keys

    def _key(self, ucb: FloatArray) -> FloatArray:
        return np.rint(ucb / self._quantum)

    def _complete(self, slot: int | None) -> bool:
        """Whether nothing outside can rank before the best of the list."""
        if self._last_key == -np.inf:
            return True
        if slot is None:
            return False
        key, number = self._keys[slot], self._points.numbers[slot]
        return bool(key > self._last_key or (key == self._last_key and number <= self._last_number))

    def _best_slot(self) -> int | None:
        """Where on the list the best candidate is."""
        slot, top = self._first(self._keys)
        return None if top == -np.inf else slot

    def _first(self, keys: FloatArray) -> tuple[int, float]:
        """Where the highest of the keys is, with the smallest number among equals, and that key."""
        if len(keys) == 0:
            return 0, -np.inf
        slot = int(keys.argmax())
        top = float(keys[slot])
        tied = keys == top
        if np.count_nonzero(tied) > 1:
            slots = np.flatnonzero(tied)
            slot = int(slots[np.argmin(self._points.numbers[slots])])
        return slot, top

    def _pick(self, slot: int) -> Pick:
        pick = self._as_pick(self._points, slot)
        run = min(self._run(pick, slot), int(self._left[pick.number]))
        return Pick(pick.number, pick.mean, pick.fixed_leverage, pick.shrinking_leverage, max(1, run))

    def _as_pick(self, points: Points, slot: int) -> Pick:
        """One of the points; with full hallucination repeats shrink all of its leverage."""
        number = int(points.numbers[slot])
        fixed = float(points.residual[slot]) / self._state.settings.lam
        shrinking = float(points.projected_leverage[slot])
        if self._state.settings.hallucination == "full":
            fixed, shrinking = 0.0, fixed + shrinking
        return Pick(number, float(self._state.mean[number]), fixed, shrinking)

    def _run(self, pick: Pick, slot: int) -> int:
        """How often in a row `pick` is the argmax for certain.

        Its UCB after c choices has a closed form, and the present UCBs of all others bound theirs. A run that is cut
        short is simply continued by the next pick.
        """
        needed = self._needed(pick.number, slot)
        width = ((needed - 0.5) * self._quantum - pick.mean) / self._alpha if self._alpha > 0 else -np.inf
        if width <= 0 or pick.fixed_leverage >= width**2:
            c = NO_LIMIT
        else:
            choices = 1 / (width**2 - pick.fixed_leverage) - 1 / max(pick.shrinking_leverage, 1e-300)
            c = int(min(max(0.0, choices), LONGEST_RUN))
        while c and self._key_after(pick, c) < needed:
            c //= 2
        return c + 1

    def _key_after(self, pick: Pick, c: int) -> FloatArray:
        """The key of `pick` after c more choices of it."""
        leverage = pick.fixed_leverage + pick.shrinking_leverage / (1 + c * pick.shrinking_leverage)
        return self._key(np.array(pick.mean + self._alpha * np.sqrt(leverage)))

    def _needed(self, number: int, slot: int) -> float:
        """The smallest key with which a candidate still ranks before all others."""
        keys = self._keys.copy()
        keys[slot] = -np.inf
        second, top = self._first(keys)
        rival = self._points.numbers[second] if top > -np.inf else NO_LIMIT
        inside = top if number < rival else top + 1
        outside = self._last_key if number <= self._last_number else self._last_key + 1
        return float(max(inside, outside, self._rival))

    def _grow(self) -> None:
        """Let in the best of those outside: as many as are on the list already."""
        length = max(FIRST_LENGTH, len(self._keys))
        chosen = _first_by_key(self._outside, length)
        if self._kept is not None and self._kept.lacks(chosen):
            self._kept.learn(_first_by_key(self._outside, 2 * length))  # the next parts of the batch will need them
        if len(chosen):
            self._last_key = self._outside[chosen].min()
            self._last_number = int(chosen[self._outside[chosen] == self._last_key].max())
            self._outside[chosen] = -np.inf
            self._points = self._points.joined(self._hallucination.points(chosen))
            self._slots = {number: slot for slot, number in enumerate(self._points.numbers.tolist())}
        if len(chosen) == 0 or self._outside.max(initial=-np.inf) == -np.inf:
            self._last_key = -np.inf
        self._means = self._state.mean[self._points.numbers]
        self._refresh()


def _quantum(ucb: FloatArray, mean: FloatArray) -> float:
    """DIGITS of the size of the best UCB; its mean and its width may cancel, so both count."""
    top = int(np.argmax(ucb))
    return float(max(DIGITS * (2 * abs(mean[top]) + abs(ucb[top])), SMALLEST)) if ucb[top] > -np.inf else 1.0


def _first_by_key(keys: FloatArray, n: int) -> IndexArray:
    """The n candidates with the highest finite keys, smallest numbers first among equals."""
    n = min(n, len(keys))
    nth = np.partition(keys, len(keys) - n)[len(keys) - n] if n else np.inf
    above = np.flatnonzero(keys > nth)
    tied = np.flatnonzero(keys == nth)[: n - len(above)] if nth > -np.inf else above[:0]
    return np.concatenate((above, tied)).astype(np.int64)
