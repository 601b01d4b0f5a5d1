"""What a candidate's value will be, with honest doubt: the mean and the amplitude of f are not known, so they are
integrated out, and what is left is a Student t.

    y = μ + s·(f + noise),   p(μ) ∝ 1,   s² ~ InverseGamma(p₀/2, p₀/2),   C = K + diag(λ/c) over n distinct candidates
    h(x) = 1 − k(x)ᵀC⁻¹1     b = 1ᵀC⁻¹1     δ = 1ᵀC⁻¹ȳ/b     Q = ȳᵀC⁻¹ȳ − b δ² + SS/λ
    f(x) ~ t with N − 1 + p₀ degrees of freedom, location m(x) + h(x) δ, scale² s²(v(x) + h(x)²/b),
    s² = (Q + p₀)/(N − 1 + p₀)

for N measurements, SS their sum of squares around the averages ȳ, and m, v the posterior mean and variance for μ = 0.
Everything follows from the engine's state: C⁻¹u for u on the measured candidates is c(u − m_u)/λ, with m_u the
posterior mean that the averages u would give.

What the features do not explain is added by `unexplained`. The list also has candidates unlike all measured ones. An
interval of `Predictive` therefore has heavier tails, learnt on tables of real measurements
(docs/benchmarks/calibration.md).
"""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy

from app.arrays import BoolArray, FloatArray
from app.engine import sweep
from app.engine.auto.error_bars import weights_of
from app.engine.auto.fitting import FittedModel
from app.engine.auto.observed import Observed, error_variances
from app.engine.state import State

PRIOR_WEIGHT = 2.0
"""p₀: the prior of the amplitude counts as this many measurements of amplitude 1, the one that the fit assumes."""

HEAVY_TAILS = 4.0
"""Degrees of freedom of an interval, at most: some candidates are unlike all measured ones."""

JOINT_TAILS = 12.0
"""Degrees of freedom of a statement about all candidates together, at most: the amplitude is not the same everywhere,
so it is never known better than from this many results."""

ONE_SIGMA = 0.6826894921370859
"""The share of a normal distribution within one standard deviation."""

SMALLEST = 1e-300


@dataclass(frozen=True, eq=False)
class StudentT:
    """The posterior with mean and amplitude integrated, in model units."""

    location: FloatArray
    """(A,)."""
    variance: FloatArray
    """(A,) scale² before the amplitude: v + h²/b, and what the features do not explain."""
    drift: FloatArray
    """(A,) h/√b: what the unknown mean adds to the covariance of two candidates is the product of their drifts."""
    amplitude: float
    """s², the estimate that multiplies `variance`."""
    degrees: float
    unexplained: FloatArray
    """(A,) the part of `variance` that belongs to each candidate alone."""
    known: BoolArray
    """(A,) candidates whose value is known: `location` is that value."""

    @property
    def joint_degrees(self) -> float:
        """Degrees of freedom of draws of several candidates together."""
        return min(self.degrees, JOINT_TAILS)

    @property
    def scale(self) -> FloatArray:
        """(A,)."""
        return np.sqrt(self.amplitude * self.variance)


def integrated(state: State, fit: FittedModel, observed: Observed) -> StudentT:
    """The Student t of the smooth part f of every candidate, after at least one measurement."""
    lam, measured = state.settings.lam, state.measured
    c = state.precision[measured].astype(float)
    h = 1 - sweep.combination(state, state.V_inverse(sweep.embedding_of(state, measured) @ c))
    average = state.sums[measured] / c
    b = max(float(c @ h[measured]) / lam, SMALLEST)
    a = c * (average - state.mean[measured]) / lam
    delta = float(a.sum()) / b
    values = fit.objective.to_model(observed.values)
    weighted = values if observed.errors is None else values * weights_of(lam, error_variances(observed, fit.objective))
    within = max(0.0, float(weighted @ values) - float(c @ average**2))
    Q = max(0.0, float(average @ a) - b * delta**2 + within / lam)
    degrees = observed.size - 1 + PRIOR_WEIGHT
    return StudentT(
        location=state.mean + delta * h,
        variance=np.maximum(state.variance, 0.0) + h * h / b,
        drift=h / np.sqrt(b),
        amplitude=(Q + PRIOR_WEIGHT) / degrees,
        degrees=degrees,
        unexplained=np.zeros(len(h)),
        known=np.zeros(len(h), dtype=bool),
    )


@dataclass(frozen=True, eq=False)
class Predictive:
    """Calibrated intervals of every candidate, in model units."""

    student: StudentT

    @property
    def location(self) -> FloatArray:
        """(A,) the middle of every interval."""
        return self.student.location

    @cached_property
    def std(self) -> FloatArray:
        """(A,) half the width of the interval that covers as much as one standard deviation of a normal does."""
        return self.half_width(ONE_SIGMA)

    def half_width(self, share: float) -> FloatArray:
        """(A,) half the width of the central interval that holds the value with this probability."""
        degrees = min(HEAVY_TAILS, self.student.degrees)
        return float(scipy.special.stdtrit(degrees, 0.5 + share / 2)) * self.student.scale
