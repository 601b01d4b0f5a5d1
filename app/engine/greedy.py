"""A dictionary chosen for the prediction: the measured candidates of which the others leave the most unseen.

What a dictionary S does not see of the measurements is T = Σ_i counts_i residual_i, the trace of K − K̃. It is what the
confidence bounds pay for S, and what S loses of the exact posterior. The greedy choice is the member with the largest
counts·residual, then the largest given that one, and so on: a pivoted Cholesky factorisation of K over the measured
candidates, stopped after m columns. It needs no values and no random numbers, and costs O(n·m²) for n candidates.

Members are chosen in groups, so that the large work is a matrix product: of the candidates that rank first, GROUP are
chosen one after the other, each given those before it, and then the residuals of all candidates follow at once.
"""

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine import sweep
from app.engine.settings import rng_at
from app.engine.stability import RANK_TOLERANCE, Rescues, not_negative
from app.engine.state import State
from app.engine.time_limit import check_time

GROUP = 16
RANKED = 4 * GROUP
"""Candidates among which a group is chosen."""

POOL = 20
LEAST_POOL = 2_000
"""Of more than LEAST_POOL measured candidates and POOL for each member, so many are looked at, chosen at random."""

ROOM = 0.75
"""A dictionary that has become full is chosen anew with this share of its members, so that there is room to grow."""


def members_for(state: State, most: int, rescues: Rescues) -> IndexArray:
    """At most `most` of the measured candidates, in the order in which they were chosen."""
    pool = _pool(state, most)
    if len(pool) <= most:
        return pool
    residual = sweep.prior_variance(state, state.X[pool], rescues).copy()
    least = RANK_TOLERANCE * residual
    rows = np.empty((most, len(pool)))
    chosen: list[int] = []
    while len(chosen) < most:
        check_time()
        weight = np.where(residual > least, residual * state.counts[pool], 0.0)
        ranked = np.argsort(-weight, kind="stable")[:RANKED]
        ranked = ranked[weight[ranked] > 0]
        if len(ranked) == 0:
            break
        K = sweep.kernel_rows(state, pool[ranked], state.X[pool[ranked]], rescues)
        above = rows[: len(chosen)]
        unseen = K - above[:, ranked].T @ above[:, ranked]
        group, L_inv = _group(unseen, state.counts[pool[ranked]], least[ranked], min(GROUP, most - len(chosen)))
        numbers = ranked[group]
        K = sweep.kernel_rows(state, pool[numbers], state.X[pool], rescues)
        fresh = rows[len(chosen) : len(chosen) + len(group)]
        fresh[:] = L_inv @ (K - above[:, numbers].T @ above)
        residual -= (fresh**2).sum(axis=0)
        chosen.extend(numbers.tolist())
        residual[chosen] = 0.0
    return pool[chosen]


def members_with(state: State, new: IndexArray, rescues: Rescues) -> IndexArray:
    """The members after new measurements: all so far and the new ones; if those are too many, a choice made anew."""
    grown = np.union1d(state.S, new)
    most = state.settings.members
    return grown if len(grown) <= most else members_for(state, max(1, int(ROOM * most)), rescues)


def _pool(state: State, most: int) -> IndexArray:
    """The measured candidates that are looked at."""
    measured = state.measured
    size = max(LEAST_POOL, POOL * most)
    if len(measured) <= size:
        return measured
    rng = rng_at(state.settings.seed, "greedy pool", state.step)
    return np.sort(rng.choice(measured, size, replace=False))


def _group(unseen: FloatArray, counts: IndexArray, least: FloatArray, most: int) -> tuple[IndexArray, FloatArray]:
    """Positions of up to `most` candidates, chosen one after the other from `unseen` (n, n), and inv(L) with
    unseen[group][:, group] = L Lᵀ."""
    left, chosen = unseen.copy(), [0]
    while True:
        pivot = chosen[-1]
        left -= np.outer(left[:, pivot], left[pivot] / left[pivot, pivot])
        residual = not_negative(left.diagonal().copy())
        residual[chosen] = 0.0
        best = int(np.argmax(np.where(residual > least, residual * counts, 0.0)))
        if len(chosen) == most or residual[best] <= least[best]:
            break
        chosen.append(best)
    group = np.array(chosen)
    return group, np.linalg.inv(np.linalg.cholesky(unseen[np.ix_(group, group)]))
