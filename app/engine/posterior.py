"""The posterior (paper eq. nyst-post-gp): from scratch, updated, and downdated. m × m work; `sweep` does the rest.

    K_SS = L Lᵀ,  z(x) = L⁻¹ k_S(x),  G = Σ_i counts_i z_i z_iᵀ,  V = G + λI
    mean(x) = zᵀ V⁻¹ Σ_i sums_i z_i        leverage(x) = (k(x, x) − zᵀz)/λ + zᵀ V⁻¹ z

From scratch this costs O(A·m²) and is the reference with which every incremental step must agree. Those cost O(A·m).

Measured candidates J with multiplicities n (the embedding stays):

    a = V⁻¹ Z_J,  E = inv(chol(diag(1/n) + Z_Jᵀ a)) aᵀ          projected_leverage(x) −= ‖E z(x)‖²        (Woodbury)

New members D (the old rows of Z stay):

    R(x) = k_D(x) − Z_Dᵀ z(x),  R_DD = T⁻¹ T⁻ᵀ,  z_D(x) = T R(x)      residual(x) −= ‖z_D(x)‖²
    chol(V) grows by rows, and so does its inverse H:      projected_leverage(x) += ‖H_D [z(x); z_D(x)]‖²

Members that leave: the z of the members that stay span all but r directions U (m, r) of the embedding. A block
reflector turns U into the last r axes, which are then cut off:

    W = U·O with its last block W_b symmetric positive semidefinite (O from the singular vectors of U's last block)
    Y = W + [0; I],   P = I − Y (I + W_b)⁻¹ Yᵀ  is orthogonal and  P W = −[0; I]

Without U the residual grows and the projected leverage falls by the part that U carried:

    residual(x) += ‖Uᵀz‖²,   projected_leverage(x) −= ‖inv(chol(Uᵀ V⁻¹ U)) Uᵀ V⁻¹ z‖²
"""

from dataclasses import dataclass

import numpy as np
import scipy

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine import sweep
from app.engine.stability import Rescues, independent, inverse_cholesky, not_negative
from app.engine.state import State

PROBE_RUNS = 4
RUN = 8
STRIDE = 7919
"""`has_drifted` looks at a few runs of eight candidates: neighbours share a cache line of Z, so that a run costs little
more than one candidate. They move on by STRIDE from one update to the next."""

MEMBERS_APART = 16
"""One member in 16 serves to compare Z with the kernel, another one after every update."""

DRIFT_TOLERANCE = 1e-6
"""Leverages may drift by this share of themselves before everything is computed from scratch."""

ROUNDINGS = 128
"""Of k(x, x)/λ, in the precision of Z: two computations from scratch may differ by so many."""


@dataclass(frozen=True)
class Measurements:
    """Distinct candidates, how often each was measured, and the sum of its values."""

    numbers: IndexArray
    repeats: IndexArray
    sums: FloatArray


def with_counts(state: State, new: Measurements) -> State:
    """The new measurements in counts and sums; the posterior is still the old one."""
    counts, sums, J = state.counts.copy(), state.sums.copy(), new.numbers
    counts[J] += new.repeats
    sums[J] += new.sums
    return state.replace(counts=counts, sums=sums)


def from_scratch(state: State, S: IndexArray, rescues: Rescues) -> State:
    """The same measurements seen through the dictionary S; members that depend on the others are left out."""
    K_SS = sweep.kernel_rows(state, S, state.X[S], rescues)
    kept, L_inv = independent(K_SS, K_SS.diagonal(), rescues)
    S = S[kept]
    G, w = sweep.moments(state, S, L_inv, rescues)
    state = state.replace(S=S, G=G, H=_inverse_factor(state, G, rescues), w=w, updates=0)
    return sweep.refresh(state, L_inv, rescues)


def update(state: State, new: Measurements, D: IndexArray, rescues: Rescues) -> State:
    """Take in measurements and let candidates D into the dictionary; `state` has the new counts and sums already."""
    J, Z_J = new.numbers, sweep.embedding_of(state, new.numbers)
    E = shrinkage(state, Z_J, new.repeats, rescues)
    added = sweep.addition(state, D, rescues)
    G, w = sweep.moments_with(state, added, state.G + (Z_J * new.repeats) @ Z_J.T, state.w + Z_J @ new.sums)
    H = _inverse_factor(state, G, rescues)
    swept = sweep.update(state, J, E, added, H, H.T @ (H @ w), rescues)
    return swept.replace(S=np.concatenate((state.S, added.D)), G=G, H=H, w=w, updates=state.updates + 1)


def downdate(state: State, leaving: BoolArray, rescues: Rescues) -> State:
    """The state without the members marked in `leaving` (m,); its means are left to the update that follows."""
    r = int(leaving.sum())
    if r == 0:
        return state
    m, stay = len(state.S), len(state.S) - r
    Z_stay = sweep.embedding_of(state, state.S[~leaving])
    U = np.asarray(scipy.linalg.qr(Z_stay)[0][:, stay:], dtype=float)
    V_inv_U = state.V_inverse(U)
    lost = inverse_cholesky(U.T @ V_inv_U, rescues) @ V_inv_U.T
    Y, mix = _reflector(U)
    rotate = np.eye(m) - Y @ mix @ Y.T
    G = (rotate @ state.G @ rotate.T)[:stay, :stay]
    H = _inverse_factor(state, G, rescues)
    swept = sweep.downdate(state, U, lost, Y, mix)
    return swept.replace(S=state.S[~leaving], G=G, H=H, w=(rotate @ state.w)[:stay])


def has_drifted(state: State) -> bool:
    """Whether updates have moved a leverage by more than DRIFT_TOLERANCE of it and the rounding errors of k(x, x)/λ.

    PROBE_RUNS·RUN candidates are computed anew from Z and H, others after every update. The error of Z itself, at some
    of the members, counts as what it does to the leverage.
    """
    A, lam, rescues = len(state.X), state.settings.lam, Rescues()  # what is clipped here was counted before
    starts = np.arange(PROBE_RUNS) * A // PROBE_RUNS + state.updates * STRIDE
    probes = ((starts[:, None] + np.arange(min(RUN, A))) % A).ravel()
    z, k = sweep.embedding_of(state, probes), sweep.prior_variance(state, state.X[probes], rescues)
    members = state.S[state.updates % MEMBERS_APART :: MEMBERS_APART]
    K_S = sweep.kernel_rows(state, members, state.X[probes], rescues)
    wrong = np.abs(sweep.embedding_of(state, members).T @ z - K_S).max(axis=0, initial=0.0)
    fresh = not_negative(k - (z**2).sum(axis=0)) / lam + ((state.H @ z) ** 2).sum(axis=0)
    kept = state.residual[probes] / lam + state.projected_leverage[probes]
    error = np.abs(kept - fresh) + wrong / lam
    rounding = ROUNDINGS * state.rounding
    return bool((error > DRIFT_TOLERANCE * fresh + rounding * k / lam).any())


def _inverse_factor(state: State, G: FloatArray, rescues: Rescues) -> FloatArray:
    """H = inv(chol(G + λI))."""
    V = G.copy()
    V.flat[:: len(G) + 1] += state.settings.lam
    return inverse_cholesky(V, rescues)


def shrinkage(state: State, Z_J: FloatArray, repeats: IndexArray, rescues: Rescues) -> FloatArray:
    """E (|J|, m): measurements of candidates with embeddings Z_J (m, |J|) shrink leverages by ‖E z(x)‖²."""
    a = state.V_inverse(Z_J)
    return inverse_cholesky(np.diag(1 / repeats) + Z_J.T @ a, rescues) @ a.T


def _reflector(U: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Y (m, r) and (I + W_b)⁻¹ (r, r)."""
    r = U.shape[1]
    left, _, right = scipy.linalg.svd(U[-r:])
    Y = U @ (right.T @ left.T)
    mix = scipy.linalg.inv(np.eye(r) + Y[-r:])
    Y[-r:] += np.eye(r)
    return Y, mix
