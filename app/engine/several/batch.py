"""One batch for several posteriors: choose the best score, shrink every posterior as if it had been measured, repeat.

Every posterior has its own rule; the first that breaks ends the batch. A pick costs one sweep over the list for each
posterior:

    c_t(x, j) = c_fb(x, j) − Σ_s a_s(x) a_s(j)      a_t = c_t(·, j)·√(n/(1 + n·c_t(j, j)))      leverage −= a_t²

with the full covariances c_fb where hallucination is full, and the projected ones of Algorithm 1 where it is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from app.arrays import BoolArray, FloatArray
from app.engine import sweep
from app.engine.ask import Ask, Ended, Selection
from app.engine.batch import choice_limits
from app.engine.confidence import alpha as theory_alpha
from app.engine.confidence import covers
from app.engine.rules import Rule, rule_of
from app.engine.several.aims import Aims
from app.engine.several.scalarising import sphere_weights
from app.engine.shortlist import DIGITS, Pick
from app.engine.stability import SMALLEST, Rescues, not_negative
from app.engine.state import State
from app.engine.time_limit import check_time

MOST_HELD = 2**26
"""Numbers of covariance rows held for one posterior; later picks forget the oldest beyond that."""


@dataclass(frozen=True, eq=False)
class QuantityPosterior:
    """What is known of one quantity, and the multiplier of √leverage; None: the theory's."""

    state: State
    alpha: float | None = None

    @property
    def factor(self) -> float:
        return theory_alpha(self.state) if self.alpha is None else self.alpha


@np.errstate(all="ignore")
def choose_for(posteriors: Sequence[QuantityPosterior], aims: Aims, gate: State, ask: Ask) -> Selection:
    """The next batch. `gate` says what may be chosen and what is pending, for all posteriors alike.

    With `ask.effort`, each pick is the one whose score exceeds that of everything measured by most per effort.
    """
    rescues = Rescues()
    growing = [_Growing(posterior, rescues) for posterior in posteriors]
    means = [posterior.state.mean for posterior in posteriors]
    stds = [np.sqrt(posterior.state.variance) for posterior in posteriors]
    feasible = aims.chance(means, stds)
    left = choice_limits(gate, ask)
    for number in np.flatnonzero(gate.pending):
        for posterior in growing:
            posterior.take(int(number), int(gate.pending[number]))
    picks: list[int] = []
    scores: list[float] = []
    ended: Ended = "size"
    count = ask.chosen_before + ask.max_size
    weights = sphere_weights(gate.settings.seed, ask.batch_number, count, len(aims.aims))[ask.chosen_before :]
    ratio_bound = max(posterior.bound for posterior in growing)
    no_width = [np.zeros(len(left)) for _ in means]
    while len(picks) < ask.max_size:
        if any(posterior.is_broken for posterior in growing) and len(picks) >= ask.min_size:
            ended = "rule"
            break
        check_time()
        score = aims.score(means, [posterior.width for posterior in growing], feasible, weights[len(picks)])
        ranked = score
        if ask.effort is not None:
            reached = aims.score(means, no_width, feasible, weights[len(picks)])[gate.counts > 0]
            ranked = per_effort(score, reached.max(initial=-np.inf), left > 0, ask.effort)
        best = _best(np.where(left > 0, ranked, -np.inf))
        if best is None:
            ended = "exhausted"
            break
        ratio_bound = max(posterior.bound for posterior in growing)
        picks.append(best)
        scores.append(float(score[best]))
        left[best] -= 1
        for posterior in growing:
            posterior.take(best, 1)
    if ended == "size" and any(posterior.is_broken for posterior in growing):
        ended = "rule"
    guaranteed = (
        ask.effort is None and aims.optimistic and all(posterior.guarantees(ratio_bound) for posterior in growing)
    )
    numbers = np.array(picks, dtype=np.int64)
    alpha = growing[0].alpha
    return Selection(numbers, ended, np.array(scores), ratio_bound, guaranteed, alpha, dict(rescues))


def per_effort(score: FloatArray, reached: float, open_ones: BoolArray, effort: FloatArray) -> FloatArray:
    """(A,) how far each score exceeds what is reached, per effort; the scores themselves if no open one exceeds it."""
    gain = np.maximum(score - reached, 0.0) if np.isfinite(reached) else score - score.min()
    return gain / effort if (gain[open_ones] > 0).any() else score


def _best(score: FloatArray) -> int | None:
    """The smallest number among those whose scores are equal to nine digits: rounding errors decide nothing."""
    top = np.fmax.reduce(score)
    if not np.isfinite(top):
        return None
    quantum = max(DIGITS * abs(float(top)), SMALLEST)
    return int(np.flatnonzero(score >= top - quantum)[0])


class _Growing:
    """One posterior while the batch grows."""

    def __init__(self, posterior: QuantityPosterior, rescues: Rescues) -> None:
        state = posterior.state
        self._state, self._rescues, self.alpha = state, rescues, posterior.factor
        self._rule: Rule = rule_of(state, rescues)
        self._full = state.settings.hallucination == "full"
        unseen = state.residual / state.settings.lam
        self._fixed = np.zeros(len(unseen)) if self._full else unseen
        self._shrinking = state.projected_leverage + unseen if self._full else state.projected_leverage.copy()
        self._rows: list[FloatArray] = []
        self.is_broken = False
        self.bound = 1.0

    @property
    def width(self) -> FloatArray:
        """(A,) alpha·√leverage."""
        return np.asarray(self.alpha * np.sqrt(self._fixed + self._shrinking))

    def guarantees(self, bound: float) -> bool:
        return self._rule.holds(bound) and covers(self._state, self.alpha)

    def take(self, number: int, n: int) -> None:
        """As if the candidate had been measured n times."""
        pick = Pick(number, float(self._state.mean[number]), float(self._fixed[number]), float(self._shrinking[number]))
        self.is_broken |= self._rule.remaining(pick, n) < n
        self._rule.add(pick, n)
        self.bound = self._rule.bound_if(pick, 0)
        self._shrink(number, n)

    def _shrink(self, number: int, n: int) -> None:
        full, projected = sweep.covariance_rows(self._state, np.array([number]), self._rescues)
        covariance = (full if self._full else projected)[0]
        for row in self._rows:
            covariance -= row * row[number]
        own = max(0.0, float(covariance[number]))
        covariance *= np.sqrt(n / (1 + n * own))
        self._shrinking -= covariance**2
        not_negative(self._shrinking)
        self._rows.append(covariance)
        if len(self._rows) * len(covariance) > MOST_HELD:
            del self._rows[0]
