"""The logarithm of the marginal likelihood, with its gradient: how well a kernel and a noise level explain the
measurements.

Repeats enter through distinct points i with counts c_i and means ȳ_i; SS is the sum of squares around these means:

    C = K + diag(λ/c)      μ = 1ᵀC⁻¹ȳ / 1ᵀC⁻¹1  (GLS)      a = C⁻¹(ȳ − μ1)
    log p = −½ (ȳ − μ1)ᵀa − ½ log|C| − ½ Σ_i (c_i − 1) log λ − SS/(2λ) + constant
    ∂ log p = Σ_ij W_ij ∂C_ij,  W = ½(aaᵀ − C⁻¹)

μ is at its optimum, so it adds nothing to the gradient. Measurements with standard errors of their own have other
averages and other noise (`error_bars`).
"""

from dataclasses import dataclass

import numpy as np
import scipy

from app.arrays import FloatArray
from app.engine.auto.kernel_forms import PullBack
from app.engine.auto.observed import Grouped

NUGGET = 1e-8
"""Always added to the diagonal: two equal rows, each measured a million times, still give an invertible C."""


@dataclass(frozen=True, eq=False)
class Evidence:
    """log p and its ingredients."""

    log_p: float
    mu: float
    a: FloatArray
    C_inv: FloatArray
    gradient: FloatArray
    """In (theta, log λ)."""


def evidence(K: FloatArray, pull_back: PullBack, lam: float, y: Grouped) -> Evidence | None:
    """The evidence for K (n, n) and λ; None where C is not positive definite."""
    C, means = K.copy(), y.means_at(lam)
    C.flat[:: len(C) + 1] += y.noise_of_means(lam) + NUGGET
    L, failed = scipy.linalg.lapack.dpotrf(C, lower=1, clean=1)
    if failed:
        return None
    C_inv, _ = scipy.linalg.lapack.dpotri(L, lower=1)  # its lower triangle, with zeros above
    C_inv = C_inv + C_inv.T
    C_inv.flat[:: len(C) + 1] /= 2
    weights = C_inv.sum(axis=1)
    mu = float(weights @ means / weights.sum())
    a = C_inv @ (means - mu)
    log_p = -0.5 * float((means - mu) @ a) - float(np.log(L.diagonal()).sum())
    W = 0.5 * (np.outer(a, a) - C_inv)
    if y.singles is not None:
        P = 1 / y.noise_of_means(lam)
        log_p += y.singles.log_p(lam, P, means)
        by_noise = y.singles.by_log_noise(lam, P, means, a, C_inv)
    else:
        extra = float(y.counts.sum()) - len(y.counts)
        log_p -= 0.5 * (extra * np.log(lam) + y.within / lam)
        by_noise = float(W.diagonal() @ (lam / y.counts)) - 0.5 * (extra - y.within / lam)
    return Evidence(float(log_p), mu, a, C_inv, np.append(pull_back(W), by_noise))
