"""The posterior from scratch (paper eq. nyst-post-gp): the reference every incremental update must agree with.

    K_SS = L Lᵀ,  z(x) = L⁻¹ k_S(x),  G = Σ_i counts_i z_i z_iᵀ,  V = G + λI
    mean(x) = zᵀ V⁻¹ Σ_i sums_i z_i        leverage(x) = (k(x, x) − zᵀz)/λ + zᵀ V⁻¹ z

Costs O(A·m²): one product with L⁻¹, one with H = inv(chol(V)), block by block of candidates.
"""

import numpy as np

from app.engine.arrays import Array, Numbers, blocks, square_sums, triangular_product
from app.engine.rows import Rows
from app.engine.stability import Rescues, cut, independent, inverse_cholesky, not_negative
from app.engine.state import State


def columns(state: State, S: Numbers, X: Array, rescues: Rescues) -> Array:
    """k_S(x) for every row x of X: (m, n)."""
    return cut(state.settings.kernel.matrix(state.X[S], X), "kernel values cut", rescues)


def prior(state: State, X: Array, rescues: Rescues) -> Array:
    """k(x, x): (n,)."""
    return cut(state.settings.kernel.diagonal(X), "kernel values cut", rescues)


def from_scratch(state: State, S: Numbers, rescues: Rescues) -> State:
    """The same measurements seen through the dictionary S (dependent members left out)."""
    K_SS = columns(state, S, state.X[S], rescues)
    kept, L_inv = independent(K_SS, K_SS.diagonal(), rescues)
    S = S[kept]
    G, w = _moments(state, S, L_inv, rescues)
    H = inverse_cholesky(G + state.settings.lam * np.eye(len(S)), rescues)
    theta = H.T @ (H @ w)
    rows, Z = Rows.empty(len(state.X)).reserve(len(S))
    mean, residual, spread = (np.empty(len(state.X)) for _ in range(3))
    for block in blocks(len(state.X), len(S)):
        X = state.X[block]
        Z_block = triangular_product(L_inv, columns(state, S, X, rescues))
        Z[:, block] = Z_block
        mean[block] = theta @ Z_block
        residual[block] = not_negative(prior(state, X, rescues) - (Z_block**2).sum(axis=0))
        spread[block] = square_sums(triangular_product(H, Z_block))
    mean = cut(mean, "means cut", rescues)
    return state.but(S=S, rows=rows, G=G, H=H, w=w, mean=mean, residual=residual, spread=spread, updates=0)


def information_bound(state: State) -> float:
    """A bound on log det(I + K/λ) that needs no history: log det(V/λ) + Σ_i counts_i residual_i / λ.

    K = K̃ + (K − K̃) with K̃ = ZᵀZ of the measurements, both positive semidefinite, so
    log det(I + K/λ) ≤ log det(I + K̃/λ) + tr(K − K̃)/λ.
    """
    lam = state.settings.lam
    projected = -2 * np.log(state.H.diagonal()).sum() - len(state.S) * np.log(lam)
    return max(0.0, float(projected + state.counts @ state.residual / lam))


def _moments(state: State, S: Numbers, L_inv: Array, rescues: Rescues) -> tuple[Array, Array]:
    """G (m, m) and w (m,) from the measured candidates alone."""
    G, w = np.zeros((len(S), len(S))), np.zeros(len(S))
    measured = state.measured
    for block in blocks(len(measured), len(S)):
        i = measured[block]
        Z_i = triangular_product(L_inv, columns(state, S, state.X[i], rescues))
        G += (Z_i * state.counts[i]) @ Z_i.T
        w += Z_i @ state.sums[i]
    return G, w
