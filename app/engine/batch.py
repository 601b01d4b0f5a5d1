"""One batch (Algorithm 1): choose the argmax of the UCB, shrink the leverages as if it had been measured, repeat.

    ucb(x) = mean_fb(x) + alpha·√leverage_t(x)

Mean and dictionary are frozen. The candidate that breaks the rule is the last; the sizes asked for take precedence over
the rule.

The uncertainty design is a first batch that needs no feedback at all (paper, section 4; Desautels et al. 2014): the
greedy argmax of the leverage. Once no leverage exceeds 1/P, every later batch has at least P(C̃ − 1)/3 picks.
"""

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.ask import NO_CANDIDATES, NO_LIMIT, Ask, Ended, Selection
from app.engine.confidence import alpha as theory_alpha
from app.engine.confidence import covers
from app.engine.rules import GlobalRule, ProductRule, Rule, rule_of
from app.engine.shortlist import Pick, Shortlist
from app.engine.stability import Rescues
from app.engine.state import State


@np.errstate(all="ignore")
def choose(state: State, ask: Ask | None = None) -> Selection:
    """The next batch; pending candidates count as its first picks."""
    ask, rescues = ask or Ask(), Rescues()
    alpha = theory_alpha(state) if ask.alpha is None else ask.alpha
    batch = _GrowingBatch(state, alpha, ask, rescues)
    batch.add_pending()
    ended = batch.grow()
    picks, ucb = batch.picks_and_ucb()
    guaranteed = batch.keeps_to_the_rule and covers(state, alpha)
    return Selection(picks, ended, ucb, batch.ratio_bound, guaranteed, alpha, dict(rescues))


@np.errstate(all="ignore")
def design(state: State, ask: Ask, parallelism: float = np.inf) -> Selection:
    """Candidates of highest leverage, one after the other, until none exceeds 1/parallelism or max_size is reached.

    `ucb` of the selection is √leverage, for which each was chosen. No choice rests on a confidence bound, so nothing is
    guaranteed; `ratio_bound` is the smaller of the global and the product rule's.
    """
    rescues = Rescues()
    blind = state.replace(mean=np.zeros(len(state.X)), settings=state.settings.replace(hallucination="full"))
    shortlist = Shortlist(blind, 1.0, choice_limits(state, ask), rescues)
    drift = _DesignDrift(blind)
    for number in np.flatnonzero(state.pending):
        drift.add(shortlist.look_at(int(number)), int(state.pending[number]))
        shortlist.hallucinate(int(number), int(state.pending[number]))
    picks: list[int] = []
    widths: list[float] = []
    ended: Ended = "size"
    ratio_bound = drift.bound
    while len(picks) < ask.max_size:
        pick = shortlist.best()
        if pick is None:
            ended = "exhausted"
            break
        leverage = float(pick.leverages(1)[0])
        if leverage <= 1 / parallelism and len(picks) >= ask.min_size:
            ended = "rule"
            break
        picks.append(pick.number)
        widths.append(leverage**0.5)
        ratio_bound = drift.bound
        drift.add(pick, 1)
        shortlist.take(pick.number, 1)
    numbers = np.array(picks, dtype=np.int64)
    return Selection(numbers, ended, np.array(widths), ratio_bound, alpha=1.0, degraded=dict(rescues))


def choice_limits(state: State, ask: Ask) -> IndexArray:
    """(A,) how often each candidate may be chosen in a batch: 0 for those that are not available."""
    limit = np.full(len(state.X), NO_LIMIT) if ask.limit is None else np.asarray(ask.limit, dtype=np.int64)
    return np.where(state.available, limit, 0)


class _DesignDrift:
    """How far a design's leverages have fallen at most: Lemma 1 and Proposition 1 both hold, so the smaller counts."""

    def __init__(self, state: State) -> None:
        self._rules: tuple[Rule, ...] = (GlobalRule(state), ProductRule(state))
        self.bound = 1.0

    def add(self, pick: Pick, n: int) -> None:
        self.bound = min(rule.bound_if(pick, n) for rule in self._rules)
        for rule in self._rules:
            rule.add(pick, n)


class _GrowingBatch:
    """A batch under construction, one run of equal choices at a time."""

    def __init__(self, state: State, alpha: float, ask: Ask, rescues: Rescues) -> None:
        self._state, self._alpha, self._ask = state, alpha, ask
        self._shortlist = Shortlist(state, alpha, choice_limits(state, ask), rescues)
        self._rule = rule_of(state, rescues, self._shortlist.leaders)
        self._picks: list[IndexArray] = []
        self._ucb: list[FloatArray] = []
        self._size = 0
        self._broken = False
        self.ratio_bound = 1.0

    @property
    def keeps_to_the_rule(self) -> bool:
        """Whether every choice was made under a bound of at most the threshold."""
        return self._rule.holds(self.ratio_bound)

    def add_pending(self) -> None:
        """Count what others are measuring, without picking it."""
        for number in np.flatnonzero(self._state.pending):
            n = int(self._state.pending[number])
            pick = self._shortlist.look_at(int(number))
            self._broken |= self._rule.remaining(pick, n) < n
            self._rule.add(pick, n)
            self._shortlist.hallucinate(pick.number, n)

    def grow(self) -> Ended:
        """Pick until the batch must end; why it ended."""
        while self._size < self._ask.max_size:
            if self._broken and self._size >= self._ask.min_size:
                return "rule"
            pick = self._shortlist.best()
            if pick is None:
                return "exhausted"
            n = self._run_length(pick)
            self.ratio_bound = self._rule.bound_if(pick, n - 1)
            self._take(pick, n)
        return "rule" if self._broken else "size"

    def picks_and_ucb(self) -> tuple[IndexArray, FloatArray]:
        """What was picked, and the value for which each was."""
        if not self._picks:
            return NO_CANDIDATES, np.zeros(0)
        return np.concatenate(self._picks), np.concatenate(self._ucb)

    def _run_length(self, pick: Pick) -> int:
        """How often in a row to pick it: up to and including the choice that breaks the rule, then up to min_size."""
        n = min(pick.run, self._ask.max_size - self._size)
        if self._broken:
            return min(n, self._ask.min_size - self._size)
        remaining = self._rule.remaining(pick, n)
        self._broken = remaining < n
        return min(n, remaining + 1)

    def _take(self, pick: Pick, n: int) -> None:
        self._rule.add(pick, n)
        self._shortlist.take(pick.number, n)
        self._picks.append(np.full(n, pick.number, dtype=np.int64))
        self._ucb.append(pick.mean + self._alpha * np.sqrt(pick.leverages(n)))
        self._size += n
