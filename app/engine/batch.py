"""One batch (Algorithm 1): choose the argmax of the UCB, shrink the leverages as if it were measured, and so on.

    ucb(x) = mean_fb(x) + alpha·√leverage_t(x)

Mean and dictionary are frozen. The candidate that breaks the rule is the last; the sizes asked for outrank the rule.
"""

import numpy as np

from app.engine.arrays import Array, Numbers
from app.engine.ask import Ask, Batch, Ended
from app.engine.confidence import alpha as theory_alpha
from app.engine.covariances import Likely, nobody
from app.engine.exact import ExactRule
from app.engine.local import LocalRule
from app.engine.rules import GlobalRule, ProductRule, Rule, SequentialRule
from app.engine.shortlist import UNLIMITED, Pick, Shortlist
from app.engine.stability import Rescues
from app.engine.state import State


@np.errstate(all="ignore")
def choose(state: State, ask: Ask | None = None) -> Batch:
    """The next batch; pending candidates count as its first members."""
    ask, rescues = ask or Ask(), Rescues()
    alpha = theory_alpha(state) if ask.alpha is None else ask.alpha
    growing = _Growing(state, alpha, ask, rescues)
    growing.begin_with_pending()
    ended = growing.grow()
    picks, ucb = growing.result()
    return Batch(picks, ended, ucb, growing.ratio_bound, growing.guaranteed, alpha, dict(rescues))


def may_choose(state: State, ask: Ask) -> Numbers:
    """(A,) how often each candidate may be chosen in a batch: 0 for those switched off."""
    limit = np.full(len(state.X), UNLIMITED) if ask.limit is None else np.asarray(ask.limit, dtype=np.int64)
    return np.where(state.available, limit, 0)


def rule_of(state: State, rescues: Rescues, likely: Likely = nobody) -> Rule:
    """The rule named in the settings, at the start of a batch."""
    match state.settings.rule:
        case "global":
            return GlobalRule(state)
        case "local":
            return LocalRule(state, rescues, likely)
        case "exact":
            return ExactRule(state, rescues, likely)
        case "product":
            return ProductRule(state)
        case "sequential":
            return SequentialRule(state)


class _Growing:
    """The batch under construction, a run of equal choices at a time."""

    def __init__(self, state: State, alpha: float, ask: Ask, rescues: Rescues) -> None:
        self._state, self._alpha, self._ask = state, alpha, ask
        self._shortlist = Shortlist(state, alpha, may_choose(state, ask), rescues)
        self._rule = rule_of(state, rescues, self._shortlist.likely)
        self._picks: list[Numbers] = []
        self._ucb: list[Array] = []
        self._size = 0
        self._broken = False
        self.ratio_bound = 1.0

    @property
    def guaranteed(self) -> bool:
        return self._rule.holds(self.ratio_bound)

    def begin_with_pending(self) -> None:
        for number in np.flatnonzero(self._state.pending):
            n = int(self._state.pending[number])
            pick = self._shortlist.look_at(int(number))
            self._broken |= self._rule.room(pick, n) < n
            self._rule.add(pick, n)
            self._shortlist.hallucinate(pick.number, n)

    def grow(self) -> Ended:
        while self._size < self._ask.max_size:
            if self._broken and self._size >= self._ask.min_size:
                return "rule"
            pick = self._shortlist.best()
            if pick is None:
                return "exhausted"
            n = self._length(pick)
            self.ratio_bound = self._rule.bound_if(pick, n - 1)
            self._take(pick, n)
        return "rule" if self._broken else "size"

    def result(self) -> tuple[Numbers, Array]:
        if not self._picks:
            return np.zeros(0, dtype=np.int64), np.zeros(0)
        return np.concatenate(self._picks), np.concatenate(self._ucb)

    def _length(self, pick: Pick) -> int:
        """How often in a row: the one that breaks the rule included; once it is broken, only up to min_size."""
        n = min(pick.run, self._ask.max_size - self._size)
        if not self._broken:
            room = self._rule.room(pick, n)
            self._broken = room < n
            return min(n, room + 1)
        return min(n, self._ask.min_size - self._size)

    def _take(self, pick: Pick, n: int) -> None:
        self._rule.add(pick, n)
        self._shortlist.take(pick.number, n)
        self._picks.append(np.full(n, pick.number, dtype=np.int64))
        self._ucb.append(pick.mean + self._alpha * np.sqrt(pick.leverages(n)))
        self._size += n
