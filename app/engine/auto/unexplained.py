"""What the features do not explain of a candidate's value.

The model has a smooth part f and, beside it, the variance λ. Where a repeated measurement gives another value, λ is
noise. Where measurements have no noise, λ is as real as f: it sets a candidate apart from all others, however alike
they are. The value of a measured candidate is then known, and that of any other is f(x) plus a deviation of its own,

    value(x) = f(x) + s·e(x),   e(x) ~ N(0, E[λ | y]) independently

With few results λ is hardly known, and its most likely value is far below its mean. So the mean is taken, over the
posterior of log λ with the kernel as it is fitted, on an even grid.
"""

from dataclasses import replace

import numpy as np

from app.arrays import BoolArray, FloatArray
from app.engine.auto.evidence import evidence
from app.engine.auto.fitting import CHEAP, FittedModel
from app.engine.auto.observed import Observed, grouped
from app.engine.auto.options import AutoOptions
from app.engine.auto.predictive import StudentT, integrated
from app.engine.auto.priors import NOISE
from app.engine.auto.replication import is_noiseless, is_noisy
from app.engine.state import State

GRID = np.linspace(*NOISE.bounds, 16)
"""Of log λ; the posterior of λ is never narrower than two steps while it is integrated."""


def value_distribution(state: State, fit: FittedModel, observed: Observed, options: AutoOptions) -> StudentT:
    """The Student t of every candidate's value, after at least one measurement; `state` may have more candidates than
    `observed` knows of."""
    smooth = integrated(state, fit, observed)
    if is_noisy(observed, options):
        return smooth
    unexplained = np.where(state.counts > 0, 0.0, unexplained_variance(state.X, fit, observed))
    student = replace(smooth, variance=smooth.variance + unexplained, unexplained=unexplained)
    if not is_noiseless(observed, options):
        return student
    known = _known(state, fit, observed)
    average = state.sums / np.maximum(state.counts, 1)
    return replace(
        student,
        location=np.where(known, average, student.location),
        variance=np.where(known, 0.0, student.variance),
        drift=np.where(known, 0.0, student.drift),
        known=known,
    )


def unexplained_variance(X: FloatArray, fit: FittedModel, observed: Observed) -> float:
    """E[λ | y] in model units; the fitted λ itself where there are so many results that it is well known."""
    if observed.distinct > CHEAP:
        return fit.lam
    y = grouped(X, observed, fit.objective)
    K = fit.kernel.matrix(y.X, y.X)
    log_p = NOISE.log_density(GRID)[0] + GRID  # the density of log λ, not of λ
    for i, log_lam in enumerate(GRID.tolist()):
        at_lam = evidence(K, _no_gradient, float(np.exp(log_lam)), y)
        log_p[i] += -np.inf if at_lam is None else at_lam.log_p
    weights = np.exp(log_p - log_p.max())
    weights[[0, -1]] /= 2  # the trapezoidal rule
    return float(weights @ np.exp(GRID) / weights.sum())


def _no_gradient(_: FloatArray) -> FloatArray:
    return np.empty(0)


def _known(state: State, fit: FittedModel, observed: Observed) -> BoolArray:
    """(A,) the measured candidates, but for failures: the model reads these as better than they were."""
    known = state.counts > 0
    known[observed.numbers[fit.objective.is_clipped(observed.values)]] = False
    return known
