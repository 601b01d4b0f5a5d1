"""One batch for several posteriors: choose the best score, shrink every posterior as if it had been measured, repeat.

Every posterior has its own rule; the first that breaks ends the batch. A pick costs one sweep over the list for each
posterior:

    c_t(x, j) = c_fb(x, j) − Σ_s a_s(x) a_s(j)      a_t = c_t(·, j)·√(n/(1 + n·c_t(j, j)))      leverage −= a_t²

with the full covariances c_fb where hallucination is full, and the projected ones of Algorithm 1 where it is not.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine import sweep
from app.engine.ask import Ask, Ended, Selection
from app.engine.batch import choice_limits
from app.engine.confidence import alpha as theory_alpha
from app.engine.confidence import covers
from app.engine.rules import Rule, counts_by_number, rule_of
from app.engine.several.aims import Aims, weighed
from app.engine.several.scalarising import hypervolume_score, sphere_weights
from app.engine.shortlist import DIGITS, Pick
from app.engine.stability import SMALLEST, Rescues, not_negative
from app.engine.state import State
from app.engine.time_limit import check_time

MOST_HELD = 2**26
"""Numbers of covariance rows held for one posterior; later picks forget the oldest beyond that."""


SHORTEST_LIST = 4_096
"""Shorter lists are always looked at as a whole."""

LENGTHS = (64, 512)
"""How many candidates are near for each pick, at first and then."""


MOST_DIRECTIONS = 16
"""Of the directions of a batch, over which what a candidate promises is averaged."""


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
    if ask.memory is None and len(gate.X) >= SHORTEST_LIST and _only_falls(posteriors, aims, ask):
        for length in LENGTHS:
            batch = _choose_near(posteriors, aims, gate, ask, length)
            if batch is not None:
                return batch
    return _choose_from_all(posteriors, aims, gate, ask)


def _only_falls(posteriors: Sequence[QuantityPosterior], aims: Aims, ask: Ask) -> bool:
    """Whether every score can only fall while the batch grows, and nothing but the choice depends on the others."""
    stated = all(posterior.alpha is not None for posterior in posteriors)
    return stated and ask.effort is None and not aims.prefers and not aims.optimistic


def _choose_near(
    posteriors: Sequence[QuantityPosterior], aims: Aims, gate: State, ask: Ask, length: int
) -> Selection | None:
    """The same batch from the candidates near the top alone; None if another one might have won a pick.

    Widths only shrink, so a score from the start of the batch is an upper bound of later ones. Near are, for the
    direction of each pick, the `length` candidates with the highest bounds; `others` bounds all that are not.
    """
    means = [posterior.state.mean for posterior in posteriors]
    feasible = aims.chance(means, [np.sqrt(posterior.state.variance) for posterior in posteriors])
    y = aims.scaled(means, [posterior.factor * np.sqrt(posterior.state.leverage) for posterior in posteriors])
    closed = choice_limits(gate, ask) <= 0
    near, others = [np.flatnonzero(gate.pending)], []
    for w in _directions(gate, aims, ask):
        bounds = weighed(hypervolume_score(y, w), feasible)
        bounds[closed] = -np.inf
        top = np.argpartition(bounds, -length - 1)[-length - 1 :]
        near.append(top)
        others.append(float(bounds[top].min()))
    numbers = np.unique(np.concatenate([*near, *(posterior.state.S for posterior in posteriors)]))
    parts = [QuantityPosterior(sweep.part(known.state, numbers), known.alpha) for known in posteriors]
    success = None if aims.success is None else aims.success[numbers]
    limit = None if ask.limit is None else np.asarray(ask.limit)[numbers]
    batch = _choose_from_all(
        parts, replace(aims, success=success), sweep.part(gate, numbers), replace(ask, limit=limit)
    )
    certain = batch.ucb - DIGITS * np.abs(batch.ucb) > np.array(others[: len(batch.ucb)])
    return replace(batch, picks=numbers[batch.picks]) if len(batch.picks) == ask.max_size and certain.all() else None


@np.errstate(all="ignore")
def promises_of(posteriors: Sequence[QuantityPosterior], aims: Aims, gate: State, ask: Ask) -> FloatArray:
    """(A,) the score of each candidate before the batch, averaged over the directions of its first picks."""
    means = [posterior.state.mean for posterior in posteriors]
    feasible = aims.chance(means, [np.sqrt(posterior.state.variance) for posterior in posteriors])
    widths = [posterior.factor * np.sqrt(posterior.state.leverage) for posterior in posteriors]
    directions = _directions(gate, aims, ask)[:MOST_DIRECTIONS]
    return np.asarray(np.mean([aims.score(means, widths, feasible, w) for w in directions], axis=0))


def _directions(gate: State, aims: Aims, ask: Ask) -> FloatArray:
    """(max_size, K) the direction of each pick."""
    count = ask.chosen_before + ask.max_size
    return sphere_weights(gate.settings.seed, ask.batch_number, count, len(aims.aims))[ask.chosen_before :]


def _choose_from_all(posteriors: Sequence[QuantityPosterior], aims: Aims, gate: State, ask: Ask) -> Selection:
    rescues = Rescues()
    growing = [_growing(posterior, gate, ask, rescues) for posterior in posteriors]
    means = [posterior.state.mean for posterior in posteriors]
    stds = [np.sqrt(posterior.state.variance) for posterior in posteriors]
    feasible = aims.chance(means, stds)
    left = choice_limits(gate, ask)
    picks: list[int] = []
    scores: list[float] = []
    ended: Ended = "size"
    weights = _directions(gate, aims, ask)
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


def _growing(posterior: QuantityPosterior, gate: State, ask: Ask, rescues: Rescues) -> "_Growing":
    """A posterior at the start of a batch, or of a part of it: everything pending counts."""
    if ask.memory is None or ask.max_size > 1 or not counts_by_number(posterior.state):
        growing = _Growing(posterior, rescues)
        for number in np.flatnonzero(gate.pending).tolist():
            growing.take(number, int(gate.pending[number]))
        return growing
    kept = ask.memory.recall(
        (posterior.state.residual,), lambda: _Growing(posterior, rescues), lambda known: known.allows(gate.pending)
    )
    kept.begin_part(gate.pending, rescues)
    return kept


class _Growing:
    """One posterior while the batch grows."""

    def __init__(self, posterior: QuantityPosterior, rescues: Rescues) -> None:
        state = posterior.state
        self._state, self._rescues, self.alpha = state, rescues, posterior.factor
        self._rule: Rule = rule_of(state, rescues)
        self._counted = np.zeros(len(state.X), dtype=np.int64)
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

    def allows(self, pending: IndexArray) -> bool:
        """Whether everything that counts is still pending."""
        return bool((pending >= self._counted).all())

    def begin_part(self, pending: IndexArray, rescues: Rescues) -> None:
        """The next part of the same batch: the rule begins anew, and the leverages follow what is new."""
        self._rescues, self._rule = rescues, rule_of(self._state, rescues)
        numbers, more = np.flatnonzero(pending), pending - self._counted
        self.is_broken = self._rule.count(numbers, pending[numbers])
        self.bound = self._rule.bound_if(Pick(0, 0.0, 0.0, 0.0), 0)
        for number in np.flatnonzero(more).tolist():
            self._shrink(number, int(more[number]))

    def take(self, number: int, n: int) -> None:
        """As if the candidate had been measured n times."""
        pick = Pick(number, float(self._state.mean[number]), float(self._fixed[number]), float(self._shrinking[number]))
        self.is_broken |= self._rule.remaining(pick, n) < n
        self._rule.add(pick, n)
        self.bound = self._rule.bound_if(pick, 0)
        self._shrink(number, n)

    def _shrink(self, number: int, n: int) -> None:
        self._counted[number] += n
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
