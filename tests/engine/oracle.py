"""The paper's formulas, dense, slow and literal: what the engine is compared with. Nothing here is shared with it.

K (A, A) is the kernel matrix of all candidates. `rows` lists the candidate of every measurement, repeated ones
repeatedly, so that X_t of the paper is X[rows]; y (t,) are their values. S lists the dictionary. Leverages carry the
paper's 1/λ.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Rows = Sequence[int]
Values = Sequence[float] | Array


@dataclass(frozen=True)
class Posterior:
    """mean (A,) and cov (A, A) of all candidates."""

    mean: Array
    cov: Array

    @property
    def leverage(self) -> Array:
        """σ²(x) = cov(x, x), (A,)."""
        return np.diagonal(self.cov)


def exact_posterior(K: Array, rows: Rows, y: Values, lam: float) -> Posterior:
    """The Gaussian process in O(t³), covariance divided by λ.

    mean = k_t(x)ᵀ (K_t + λI)⁻¹ y      cov = (k(x, x') − k_t(x)ᵀ (K_t + λI)⁻¹ k_t(x')) / λ
    """
    k_t = K[list(rows)]
    inverse = np.linalg.inv(k_t[:, list(rows)] + lam * np.eye(len(rows)))
    return Posterior(k_t.T @ inverse @ np.asarray(y, dtype=float), (K - k_t.T @ inverse @ k_t) / lam)


def embedding(K: Array, S: Rows) -> Array:
    """z(x) = K_S^{+/2} k_S(x) as rows: (A, m)."""
    eigenvalues, U = np.linalg.eigh(K[np.ix_(S, S)])
    kept = eigenvalues > len(S) * np.finfo(float).eps * eigenvalues.max(initial=0)
    root = (U[:, kept] / np.sqrt(eigenvalues[kept])) @ U[:, kept].T
    Z: Array = K[:, list(S)] @ root
    return Z


def nystrom_posterior(K: Array, S: Rows, rows: Rows, y: Values, lam: float) -> Posterior:
    """Equations nyst-post-gp-mean and nyst-post-gp-cov, with V_t = Z(X_t)ᵀZ(X_t) + λI.

    mean = z(x)ᵀ V_t⁻¹ Z(X_t)ᵀ y      cov = (k(x, x') − z(x)ᵀz(x'))/λ + z(x)ᵀ V_t⁻¹ z(x')
    """
    Z = embedding(K, S)
    V = Z[list(rows)].T @ Z[list(rows)] + lam * np.eye(len(S))
    mean = Z @ np.linalg.solve(V, Z[list(rows)].T @ np.asarray(y, dtype=float))
    return Posterior(mean, (K - Z @ Z.T) / lam + Z @ np.linalg.solve(V, Z.T))


def nystrom_leverage(K: Array, S: Rows, rows: Rows, lam: float) -> Array:
    """The diagonal of nyst-post-gp-cov alone, (A,)."""
    Z = embedding(K, S)
    V = Z[list(rows)].T @ Z[list(rows)] + lam * np.eye(len(S))
    residual = np.diagonal(K) - np.sum(Z * Z, axis=1)
    leverage: Array = residual / lam + np.sum(Z * np.linalg.solve(V, Z.T).T, axis=1)
    return leverage


def projected_cov(K: Array, S: Rows, rows: Rows, lam: float) -> Array:
    """z(x)ᵀ V_t⁻¹ z(x'), (A, A): the covariance without its residual."""
    Z = embedding(K, S)
    V = Z[list(rows)].T @ Z[list(rows)] + lam * np.eye(len(S))
    return Z @ np.linalg.solve(V, Z.T)


def effective_dimension(K: Array, rows: Rows, lam: float) -> float:
    """d_eff(X_t) = Tr(K_t (K_t + λI)⁻¹)."""
    K_t = K[np.ix_(rows, rows)]
    return float(np.trace(np.linalg.solve(K_t + lam * np.eye(len(rows)), K_t)))


def log_determinant(K: Array, rows: Rows, lam: float) -> float:
    """log det(I + K_t/λ)."""
    return float(np.linalg.slogdet(np.eye(len(rows)) + K[np.ix_(rows, rows)] / lam)[1])


def beta(chosen_leverages: Sequence[float], lam: float, xi: float, delta: float, F: float) -> float:
    """Theorem 2: 2ξ √(Σ_s log(1 + 3σ̃²_fb(s−1)(x_s)) + log(1/δ)) + (1 + √2) √λ F."""
    information = sum(np.log(1 + 3 * leverage) for leverage in chosen_leverages)
    return float(2 * xi * np.sqrt(information + np.log(1 / delta)) + (1 + np.sqrt(2)) * np.sqrt(lam) * F)


def sharp_beta(K: Array, S: Rows, rows: Rows, lam: float, xi: float, delta: float, F: float) -> float:
    """ξ √(log det(I + K̃_t/λ) + Σ_x log(1 + h_x/λ) + 2 log(1/δ)) + F √(largest eigenvalue of the matrix of the bias).

    h_x = n_x (k(x, x) − ‖z(x)‖²) over the distinct x with n_x measurements, T = Σ_x h_x; the matrix of the bias is
    [[λ, √(λT)], [√(λT), λ + T]].
    """
    Z = embedding(K, S)
    Z_t = Z[list(rows)]
    unseen = [rows.count(x) * max(0.0, float(K[x, x] - Z[x] @ Z[x])) for x in set(rows) - set(S)]
    information = np.linalg.slogdet(np.eye(len(rows)) + Z_t @ Z_t.T / lam)[1] + sum(np.log(1 + np.array(unseen) / lam))
    T = float(sum(unseen))
    bias = np.linalg.eigvalsh([[lam, np.sqrt(lam * T)], [np.sqrt(lam * T), lam + T]])[-1]
    return float(xi * np.sqrt(information + 2 * np.log(1 / delta)) + F * np.sqrt(bias))


def exact_ratio(K: Array, rows: Rows, batch: Rows, lam: float) -> Array:
    """σ²_fb(x) / σ²_t(x) of the Gaussian process, (A,)."""
    before = exact_posterior(K, rows, np.zeros(len(rows)), lam).leverage
    joined = [*rows, *batch]
    ratio: Array = before / exact_posterior(K, joined, np.zeros(len(joined)), lam).leverage
    return ratio


def projected_ratio(K: Array, S: Rows, rows: Rows, batch: Rows, lam: float) -> Array:
    """σ̃²_fb(x) / σ̃²_t(x) with the dictionary frozen: batch members enter V through z, (A,)."""
    return nystrom_leverage(K, S, rows, lam) / nystrom_leverage(K, S, [*rows, *batch], lam)


def unprojected_ratio(K: Array, S: Rows, rows: Rows, batch: Rows, lam: float) -> Array:
    """σ̃²_fb(x) / φᵀ(Ã + BᵀB)⁻¹φ with whole batch members: σ̃²_t = c_xx − c_xB (I + c_BB)⁻¹ c_Bx for c = cov_fb, (A,)."""
    c = nystrom_posterior(K, S, rows, np.zeros(len(rows)), lam).cov
    c_B = c[list(batch)]
    after = c - c_B.T @ np.linalg.solve(np.eye(len(batch)) + c_B[:, list(batch)], c_B)
    return np.diagonal(c) / np.diagonal(after)


def global_bound(fb_leverage: Array, batch: Rows) -> float:
    """Lemma 1: 1 + Σ_s σ̃²_fb(x_s)."""
    return 1.0 + float(sum(fb_leverage[x] for x in batch))


def local_bound(K: Array, S: Rows, rows: Rows, batch: Rows, lam: float) -> Array:
    """Lemma 3 for both operators: 1 + max(Σ_s cov_fb(x, x_s)², Σ_s (z(x)ᵀV⁻¹z(x_s))²) / σ̃²_fb(x), (A,)."""
    cov = nystrom_posterior(K, S, rows, np.zeros(len(rows)), lam).cov
    inner = projected_cov(K, S, rows, lam)
    sums = np.maximum(np.sum(cov[:, list(batch)] ** 2, axis=1), np.sum(inner[:, list(batch)] ** 2, axis=1))
    bound: Array = 1 + sums / np.diagonal(cov)
    return bound


def product_bound(K: Array, S: Rows, rows: Rows, batch: Rows, lam: float) -> float:
    """GP-BUCB's proposition 1: Π_s (1 + σ²_{s−1}(x_s))."""
    bound = 1.0
    for s, x in enumerate(batch):
        bound *= 1 + nystrom_leverage(K, S, [*rows, *batch[:s]], lam)[x]
    return bound


def summed_inclusion(leverage: float, q_bar: float, times: int) -> float:
    """What the authors' code draws with: min(1, times·p)."""
    return min(1.0, times * min(1.0, q_bar * leverage))


def inclusion(leverage: float, q_bar: float, times: int) -> float:
    """Probability that at least one of `times` measurements is drawn: 1 − (1 − p)^times, p = min(1, q̄·σ̃²)."""
    return float(1 - (1 - min(1.0, q_bar * leverage)) ** times)
