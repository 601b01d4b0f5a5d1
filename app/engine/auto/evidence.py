"""The logarithm of the marginal likelihood, with its gradient: how well a kernel and a noise level explain the
measurements.

Repeats enter through distinct points i with counts c_i and means ȳ_i, SS being the sum of squares around these means:

    C = K + diag(λ/c)      μ = 1ᵀC⁻¹ȳ / 1ᵀC⁻¹1  (GLS)      a = C⁻¹(ȳ − μ1)
    log p = −½ (ȳ − μ1)ᵀa − ½ log|C| − ½ Σ_i (c_i − 1) log λ − SS/(2λ) + constant
    ∂ log p = Σ_ij W_ij ∂C_ij,  W = ½(aaᵀ − C⁻¹)

μ is at its optimum, so that it adds nothing to the gradient.
"""

from dataclasses import dataclass
from typing import Self

import numpy as np
from scipy.linalg import lapack

from app.engine.arrays import Array
from app.engine.auto.forms import PullBack

NUGGET = 1e-8
"""Added to the diagonal always: a candidate measured a million times, twice in the list, is still told apart from
rounding."""

UNLIKELY = -1e25
"""log p where C is not positive definite."""


@dataclass(frozen=True, eq=False)
class Grouped:
    """Measurements in model units by distinct candidate."""

    X: Array
    """(n, d)."""
    counts: Array
    means: Array
    within: float
    """SS."""

    @classmethod
    def of(cls, X: Array, counts: Array, sums: Array, squares: Array) -> Self:
        """From the sums of values and of squared values of each row of X."""
        means = sums / counts
        within = float(np.maximum(squares - counts * means**2, 0.0).sum())
        return cls(np.ascontiguousarray(X), counts, means, within)


@dataclass(frozen=True, eq=False)
class Evidence:
    """log p and what it was made of."""

    log_p: float
    mu: float
    a: Array
    C_inv: Array
    gradient: Array
    """In (theta, log λ)."""


def evidence(K: Array, pull: PullBack, lam: float, y: Grouped) -> Evidence | None:
    """The evidence for K (n, n) and λ; None where C is not positive definite."""
    C = K.copy()
    C.flat[:: len(C) + 1] += lam / y.counts + NUGGET
    L, failed = lapack.dpotrf(C, lower=1, clean=1)
    if failed:
        return None
    C_inv, _ = lapack.dpotri(L, lower=1)  # its lower triangle, zeros above
    C_inv = C_inv + C_inv.T
    C_inv.flat[:: len(C) + 1] /= 2
    weights = C_inv.sum(axis=1)
    mu = float(weights @ y.means / weights.sum())
    a = C_inv @ (y.means - mu)
    extra = float(y.counts.sum()) - len(y.counts)
    log_p = -0.5 * float((y.means - mu) @ a) - float(np.log(L.diagonal()).sum())
    log_p -= 0.5 * (extra * np.log(lam) + y.within / lam)
    W = 0.5 * (np.outer(a, a) - C_inv)
    by_noise = float(W.diagonal() @ (lam / y.counts)) - 0.5 * (extra - y.within / lam)
    return Evidence(float(log_p), mu, a, C_inv, np.append(pull(W), by_noise))
