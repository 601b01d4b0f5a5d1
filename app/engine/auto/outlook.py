"""What is left to gain: joint draws of all candidates' values from the posterior with mean and amplitude integrated.

    f = location + s·√(ν/χ²_ν)·L ε,   L Lᵀ = cov,   cov(x, y) = k(x, y) − z_xᵀz_y + λ z_xᵀV⁻¹z_y + drift(x)·drift(y)

Of a long list, the candidates with the highest optimistic values are drawn, `MOST_DRAWN` of them: only they can be the
best of a draw. Randomness is addressed, so that the same results always give the same answer.
"""

from dataclasses import dataclass

import numpy as np
from scipy.linalg import lapack
from scipy.special import stdtr

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine import sweep
from app.engine.auto.predictive import StudentT
from app.engine.settings import rng_at
from app.engine.stability import Rescues, inverse_cholesky
from app.engine.state import State

DRAWS = 512
MOST_DRAWN = 600

OPTIMISM = 3.0
"""Scales above its location at which a candidate is compared with others, to decide which are drawn."""

JITTER = 1e-10
"""Added to the covariance, as a share of its largest entry: two equal candidates have a singular one."""

ELIMINATED = 0.01
"""A candidate whose chance to be better than the recommended one is below this no longer counts."""


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
    stretch = np.sqrt(student.amplitude * student.degrees / rng.chisquare(student.degrees, draws))
    deviations = _factor(covariance(state, student, numbers)) @ normal
    return JointDraws(numbers, student.location[numbers][:, None] + deviations * stretch)


def covariance(state: State, student: StudentT, numbers: IndexArray) -> FloatArray:
    """(p, p) before the amplitude."""
    X, z = state.X[numbers], sweep.embedding_of(state, numbers)
    K = state.settings.kernel.matrix(X, X)
    drift = student.drift[numbers]
    cov: FloatArray = K - z.T @ z + state.settings.lam * (z.T @ state.V_inverse(z)) + np.outer(drift, drift)
    return cov


def still_possible(state: State, student: StudentT, recommended: int) -> int:
    """How many candidates are better than the recommended one with a chance of at least ELIMINATED; it counts, too."""
    one = np.array([recommended])
    row = sweep.covariance_rows(state, one, Rescues())[0][0] * state.settings.lam
    row += student.drift[recommended] * student.drift
    variance = student.variance + student.variance[recommended] - 2 * row
    scale = np.sqrt(student.amplitude * np.maximum(variance, 0.0))
    ahead = student.location - student.location[recommended]
    with np.errstate(divide="ignore", invalid="ignore"):
        chance = np.where(scale > 0, stdtr(student.degrees, ahead / scale), ahead > 0)
    eligible = state.available | (state.counts > 0)
    eligible[recommended] = False
    return 1 + int(np.count_nonzero(chance[eligible] >= ELIMINATED))


def gains_over(values: FloatArray, rows: BoolArray | IndexArray, recommended: int) -> FloatArray:
    """(DRAWS,) by how much the best of these rows exceeds the recommended row; 0 where it does not."""
    with np.errstate(over="ignore"):
        ahead = values[rows].max(axis=0, initial=-np.inf) - values[recommended]
    gains: FloatArray = np.clip(ahead, 0.0, np.finfo(float).max)
    return gains


def expected_up_to(upper: float, gains: FloatArray) -> float:
    """The mean of the gains, none of which counts for more than `upper`.

    The mean itself need not exist: where skew was taken out by a logarithm, a gain is the exponential of a Student t.
    """
    return min(upper, float((np.minimum(gains, upper) / len(gains)).sum()))  # divided first: a sum could overflow


def _factor(cov: FloatArray) -> FloatArray:
    """L with L Lᵀ = cov; rounding errors below zero count as zero."""
    jitter = JITTER * max(float(cov.diagonal().max(initial=0.0)), 1e-300)
    L_inv = inverse_cholesky(cov + jitter * np.eye(len(cov)), Rescues())
    factor, _ = lapack.dtrtri(L_inv, lower=1)
    return np.asarray(factor, dtype=float)
