"""One batch (Algorithm 1): choose the argmax of the UCB, shrink the leverages as if it had been measured, repeat.

    ucb(x) = mean_fb(x) + alpha·√leverage_t(x)

Mean and dictionary are frozen. The candidate that breaks the rule is the last; the sizes asked for take precedence over
the rule.

The uncertainty design is a first batch that needs no feedback at all (paper, section 4; Desautels et al. 2014): the
greedy argmax of the leverage. Once no leverage exceeds 1/P, every later batch has at least P(C̃ − 1)/3 picks.
"""

from dataclasses import replace

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.ask import NO_CANDIDATES, NO_LIMIT, Ask, Ended, Selection
from app.engine.confidence import alpha as theory_alpha
from app.engine.confidence import covers
from app.engine.focus import OutsideMattersError, near_batch
from app.engine.hallucination import KeptHallucination
from app.engine.rules import GlobalRule, ProductRule, Rule, counts_by_number, rule_of
from app.engine.shortlist import Pick, Shortlist
from app.engine.stability import LARGEST, Rescues
from app.engine.state import State


@np.errstate(all="ignore")
def choose(state: State, ask: Ask | None = None) -> Selection:
    """The next batch; pending candidates count as its first picks."""
    ask = ask or Ask()
    alpha = theory_alpha(state) if ask.alpha is None else ask.alpha
    near = near_batch(state)
    if state.focus is not None and near is not None:
        numbers = state.focus.numbers
        own = ask if ask.limit is None else replace(ask, limit=ask.limit[numbers])
        try:
            chosen = _choose(near, own, alpha, state.focus.highest_outside(alpha), state)
        except OutsideMattersError:
            return _choose(state.whole, ask, alpha)
        return replace(chosen, picks=numbers[chosen.picks], guaranteed=chosen.guaranteed and covers(state, alpha))
    return _choose(state.whole, ask, alpha)


def _choose(state: State, ask: Ask, alpha: float, rival: float = -np.inf, whole: State | None = None) -> Selection:
    """The next batch of these candidates; `rival` bounds the UCBs of all others, which are in `whole`."""
    rescues = Rescues()
    kept = _kept_posterior(state, ask, rescues)
    batch = _GrowingBatch(state, alpha, ask, rescues, rival, whole, kept)
    batch.add_pending()
    ended = batch.grow()
    picks, ucb = batch.picks_and_ucb()
    guaranteed = batch.keeps_to_the_rule and covers(state, alpha)
    return Selection(picks, ended, ucb, batch.ratio_bound, guaranteed, alpha, dict(rescues))


def _kept_posterior(state: State, ask: Ask, rescues: Rescues) -> KeptHallucination | None:
    """What earlier parts of this batch left, with everything that is pending by now; None if nothing is kept."""
    if ask.memory is None or ask.max_size > 1 or not counts_by_number(state):
        return None
    kept = ask.memory.recall(
        (state.residual,), lambda: KeptHallucination(state, rescues), lambda known: known.allows(state.pending)
    )
    kept.count(state.pending, rescues)
    return kept


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

    def __init__(
        self,
        state: State,
        alpha: float,
        ask: Ask,
        rescues: Rescues,
        rival: float,
        whole: State | None,
        kept: KeptHallucination | None,
    ) -> None:
        self._state, self._alpha, self._ask, self._is_kept = state, alpha, ask, kept is not None
        self._shortlist = Shortlist(state, alpha, choice_limits(state, ask), rescues, rival, kept)
        self._rule = rule_of(state, rescues, self._shortlist.leaders, whole)
        self._picks: list[int] = []
        self._repeats: list[int] = []
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
        pending = np.flatnonzero(self._state.pending)
        if self._is_kept:
            self._broken = self._rule.count(pending, self._state.pending[pending])
            return
        for number in pending:
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
            self.ratio_bound = self._rule.known_bound(pick, n - 1)
            self._take(pick, n)
        return "rule" if self._broken else "size"

    def picks_and_ucb(self) -> tuple[IndexArray, FloatArray]:
        """What was picked, and the value for which each was."""
        if not self._picks:
            return NO_CANDIDATES, np.zeros(0)
        return np.repeat(np.array(self._picks, dtype=np.int64), self._repeats), np.concatenate(self._ucb)

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
        self._picks.append(pick.number)
        self._repeats.append(n)
        self._ucb.append(np.minimum(pick.mean + self._alpha * np.sqrt(pick.leverages(n)), LARGEST))
        self._size += n
