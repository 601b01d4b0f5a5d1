"""What is left to gain: joint draws of all candidates' values from the posterior with mean and amplitude integrated.

    value = location + s·√(ν/χ²_ν)·L ε,   L Lᵀ = cov + diag(unexplained)
    cov(x, y) = k(x, y) − z_xᵀz_y + λ z_xᵀV⁻¹z_y + drift(x)·drift(y),   0 where the value of x or of y is known

Of a long list, the candidates with the highest optimistic values are drawn, `MOST_DRAWN` of them: only they can be the
best of a draw. Randomness is addressed, so that the same results always give the same answer. What the draws promise is
corrected by what earlier promises were worth (`promises`, `gains`).
"""

from dataclasses import dataclass

import numpy as np
import scipy

from app.arrays import FloatArray, IndexArray
from app.engine import sweep
from app.engine.auto.predictive import StudentT
from app.engine.embedding import in_float64
from app.engine.settings import rng_at
from app.engine.stability import Rescues, inverse_cholesky
from app.engine.state import State

DRAWS = 512
MOST_DRAWN = 600

OPTIMISM = 3.0
"""Scales above its location at which a candidate is compared with others, to decide which are drawn."""

JITTER = 1e-10
"""Added to the covariance, as a share of its largest entry: two equal candidates have a singular one."""


@dataclass(frozen=True, eq=False)
class JointDraws:
    """Values of some candidates in every draw, in model units."""

    numbers: IndexArray
    """(p,) which candidates."""
    values: FloatArray
    """(p, DRAWS)."""


def contenders(state: State, student: StudentT, always: IndexArray, most: int = MOST_DRAWN) -> IndexArray:
    """The candidates to draw, sorted: `always` these, and those that are optimistically the best."""
    optimistic = student.location + OPTIMISM * student.scale
    optimistic[~state.available & (state.counts == 0)] = -np.inf
    numbers = np.arange(len(optimistic))
    if len(numbers) > most:
        numbers = np.argpartition(-optimistic, most)[:most]
    return np.union1d(numbers[optimistic[numbers] > -np.inf], always).astype(np.int64)


def draw_jointly(
    state: State, student: StudentT, numbers: IndexArray, seed: int, step: int, draws: int = DRAWS
) -> JointDraws:
    """Draws of these candidates' values; `step` addresses the randomness."""
    rng = rng_at(seed, "outlook", step)
    normal = rng.standard_normal((len(numbers), draws))
    degrees = student.joint_degrees
    stretch = np.sqrt(student.amplitude * degrees / rng.chisquare(degrees, draws))
    deviations = _factor(covariance(state, student, numbers)) @ normal
    deviations[student.known[numbers]] = 0.0
    return JointDraws(numbers, student.location[numbers][:, None] + deviations * stretch)


def covariance(state: State, student: StudentT, numbers: IndexArray) -> FloatArray:
    """(p, p) before the amplitude."""
    X, z = in_float64(state.X[numbers]), sweep.embedding_of(state, numbers)
    K = state.settings.kernel.matrix(X, X)
    drift = student.drift[numbers]
    cov: FloatArray = K - z.T @ z + state.settings.lam * (z.T @ state.V_inverse(z)) + np.outer(drift, drift)
    known = student.known[numbers]
    cov[known] = 0.0
    cov[:, known] = 0.0
    cov.flat[:: len(cov) + 1] += student.unexplained[numbers]
    return cov


def still_possible(state: State, student: StudentT, recommended: int, chance: float, left_out: float) -> IndexArray:
    """The fewest candidates that hold the best one but for the probability `left_out`, sorted; the recommended one
    is among them.

    `chance`, that any is better than the recommended one, is shared out among them by their own chances to be better.
    """
    own = _chances_to_be_better(state, student, recommended)
    order, total = np.argsort(own, kind="stable"), float(own.sum())
    if chance <= left_out or total <= 0:
        return np.array([recommended])
    kept = order[np.cumsum(own[order]) * (chance / total) > left_out]
    return np.union1d(kept, [recommended]).astype(np.int64)


def _chances_to_be_better(state: State, student: StudentT, recommended: int) -> FloatArray:
    """(A,) of each candidate by itself; 0 for the recommended one, and for what is neither measured nor available."""
    row = sweep.covariance_rows(state, np.array([recommended]), Rescues())[0][0] * state.settings.lam
    row += student.drift[recommended] * student.drift
    row[student.known | student.known[recommended]] = 0.0
    variance = student.variance + student.variance[recommended] - 2 * row
    scale = np.sqrt(student.amplitude * np.maximum(variance, 0.0))
    ahead = student.location - student.location[recommended]
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.where(scale > 0, scipy.special.stdtr(student.joint_degrees, ahead / scale), ahead > 0)
    chance[~state.available & (state.counts == 0)] = 0.0
    chance[recommended] = 0.0
    return np.asarray(chance, dtype=float)


def _factor(cov: FloatArray) -> FloatArray:
    """L with L Lᵀ = cov; rounding errors below zero count as zero."""
    jitter = JITTER * max(float(cov.diagonal().max(initial=0.0)), 1e-300)
    L_inv = inverse_cholesky(cov + jitter * np.eye(len(cov)), Rescues())
    factor, _ = scipy.linalg.lapack.dtrtri(L_inv, lower=1)
    return np.asarray(factor, dtype=float)
