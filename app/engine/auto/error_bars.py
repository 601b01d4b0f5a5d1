"""Measurements with standard errors of their own: how much each counts, and how well a model explains them.

A value y_i with the standard error s_i scatters with variance v_i = λ + s_i²: the noise that every measurement has, and
its own. To the posterior it is a measurement of weight ω_i = λ/v_i, so that everything follows from the weights and the
weighted sums of each candidate:

    V = Σ_i ω_i z_i z_iᵀ + λI        w = Σ_i ω_i y_i z_i

For the evidence, P_a = Σ_i 1/v_i is the precision of the weighted average ȳ_a of candidate a:

    C = K + diag(1/P)       b = C⁻¹(ȳ − μ1)
    log p = −½ (ȳ − μ1)ᵀb − ½ log|C| − ½ Σ_i log v_i − ½ Σ_a log P_a − ½ Σ_i (y_i − ȳ_a)²/v_i + constant
    ∂ log p/∂ log λ = ½ λ Σ_i (α_i² − γ_i)
    α_i = (y_i − ȳ_a + b_a/P_a)/v_i       γ_i = 1/v_i − (1/P_a − C⁻¹_aa/P_a²)/v_i²

α = C_y⁻¹(y − μ1) and γ = diag C_y⁻¹, for the covariance C_y of single measurements.
"""

from dataclasses import dataclass

import numpy as np

from app.arrays import FloatArray, IndexArray


@dataclass(frozen=True, eq=False)
class SingleValues:
    """Single measurements of a fit, in model units."""

    points: IndexArray
    """(n,) the distinct candidate of each, as a row of the fit."""
    values: FloatArray
    variances: FloatArray
    """(n,) s_i²."""

    def precisions(self, lam: float, points: int) -> FloatArray:
        """P (points,)."""
        precisions: FloatArray = np.bincount(self.points, 1 / (lam + self.variances), minlength=points).astype(float)
        return precisions

    def means(self, lam: float, points: int) -> FloatArray:
        """The weighted averages ȳ (points,)."""
        weighted = np.bincount(self.points, self.values / (lam + self.variances), minlength=points)
        return np.asarray(weighted / self.precisions(lam, points))

    def log_p(self, lam: float, P: FloatArray, means: FloatArray) -> float:
        """The terms of log p beside those of C."""
        v = lam + self.variances
        within = float((((self.values - means[self.points]) ** 2) / v).sum())
        return -0.5 * (float(np.log(v).sum()) + float(np.log(P).sum()) + within)

    def by_log_noise(self, lam: float, P: FloatArray, means: FloatArray, b: FloatArray, C_inv: FloatArray) -> float:
        """∂ log p/∂ log λ."""
        v, a = lam + self.variances, self.points
        alpha = (self.values - means[a] + (b / P)[a]) / v
        gamma = 1 / v - (1 / P - C_inv.diagonal() / P**2)[a] / v**2
        return 0.5 * lam * float((alpha**2 - gamma).sum())


def weights_of(lam: float, variances: FloatArray) -> FloatArray:
    """ω (n,): how many measurements without a standard error each one counts as."""
    return np.asarray(lam / (lam + variances))
