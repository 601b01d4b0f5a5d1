"""The next state from the last one in one sweep over Z: new measurements and new dictionary members together.

Measured candidates J with multiplicities n (the embedding stays):

    a = V⁻¹ Z_J,  E = inv(chol(diag(1/n) + Z_Jᵀ a)) aᵀ          spread(x) −= ‖E z(x)‖²        (Woodbury)

New members D (the old rows of Z stay):

    R(x) = k_D(x) − Z_Dᵀ z(x),  R_DD = T⁻¹ T⁻ᵀ,  z_D(x) = T R(x)      residual(x) −= ‖z_D(x)‖²
    chol(V) grows by rows, so its inverse H does too:                 spread(x)   += ‖H_D [z(x); z_D(x)]‖²

Everything that meets Z is one product with the stacked rows [E; Z_Dᵀ; H_D; V⁻¹w]: O(A·m) per change.
"""

from dataclasses import dataclass

import numpy as np

from app.engine.arrays import Array, Numbers, blocks, square_sums
from app.engine.embedding import columns
from app.engine.stability import Rescues, cut, independent, inverse_cholesky, not_negative
from app.engine.state import State


@dataclass(frozen=True)
class Measurements:
    """Distinct candidates, how often each was measured, and the sum of its values."""

    numbers: Numbers
    repeats: Numbers
    sums: Array


@dataclass(frozen=True)
class _Added:
    """New members D and what makes their rows of the embedding: z_D(x) = T (k_D(x) − Z_Dᵀ z(x))."""

    D: Numbers
    K_D: Array
    """(|D|, A) of all candidates."""
    Z_D: Array
    """(m, |D|)"""
    T: Array
    """(|D|, |D|)"""

    def embed(self, which: Numbers | slice, projected: Array) -> Array:
        """z_D (|D|, n) of some candidates, `projected` (|D|, n) being their Z_Dᵀ z."""
        return self.T @ (self.K_D[:, which] - projected)


def counted(state: State, new: Measurements) -> State:
    """The new measurements in counts and sums; the posterior is still the old one."""
    counts, sums, J = state.counts.copy(), state.sums.copy(), new.numbers
    counts[J] += new.repeats
    sums[J] += new.sums
    return state.but(counts=counts, sums=sums)


def update(state: State, new: Measurements, D: Numbers, rescues: Rescues) -> State:
    """Take in measurements and let candidates D into the dictionary; `state` has the new counts and sums already."""
    J, Z_J = new.numbers, state.Z[:, new.numbers]
    E = _shrinkage(state, Z_J, new.repeats, rescues)
    added = _independent_members(state, D, rescues)
    G, w = _grown(state, added, state.G + (Z_J * new.repeats) @ Z_J.T, state.w + Z_J @ new.sums)
    H = inverse_cholesky(G + state.settings.lam * np.eye(len(w)), rescues)
    swept = _sweep(state, E, added, H, H.T @ (H @ w), rescues)
    # Theirs fall by orders of magnitude: computed afresh they keep all their digits.
    swept.spread[J] = square_sums(H @ swept.Z[:, J])
    return swept.but(S=np.concatenate((state.S, added.D)), G=G, H=H, w=w, updates=state.updates + 1)


def _shrinkage(state: State, Z_J: Array, repeats: Numbers, rescues: Rescues) -> Array:
    """E (|J|, m)."""
    a = state.H.T @ (state.H @ Z_J)
    return inverse_cholesky(np.diag(1 / repeats) + Z_J.T @ a, rescues) @ a.T


def _independent_members(state: State, D: Numbers, rescues: Rescues) -> _Added:
    K_D, Z_D = columns(state, D, state.X, rescues), state.Z[:, D]
    K_DD = K_D[:, D]
    kept, T = independent(K_DD - Z_D.T @ Z_D, K_DD.diagonal(), rescues)
    return _Added(D[kept], K_D[kept], Z_D[:, kept], T)


def _grown(state: State, added: _Added, G: Array, w: Array) -> tuple[Array, Array]:
    """G and w with the rows of the new members, from the measured candidates alone."""
    if len(added.D) == 0:
        return G, w
    m, measured = len(state.S), state.measured
    both = m + len(added.D)
    grown, sums = np.zeros((both, both)), np.zeros(both)
    for block in blocks(len(measured), both):
        i = measured[block]
        Z_i = state.Z[:, i]
        z_D = added.embed(i, added.Z_D.T @ Z_i)
        weighted = z_D * state.counts[i]
        grown[m:, :m] += weighted @ Z_i.T
        grown[m:, m:] += weighted @ z_D.T
        sums[m:] += z_D @ state.sums[i]
    grown[:m, :m], grown[:m, m:], sums[:m] = G, grown[m:, :m].T, w
    return grown, sums


def _sweep(state: State, E: Array, added: _Added, H: Array, theta: Array, rescues: Rescues) -> State:
    """The one pass over Z: new rows, residuals, spreads and means of all candidates."""
    m, d = len(state.S), len(added.D)
    stacked = np.vstack((E, added.Z_D.T, H[m:, :m], theta[None, :m]))
    j = len(E)
    rows, Z_new = state.rows.reserve(d)
    mean, residual, spread = np.empty(len(state.X)), state.residual.copy(), state.spread.copy()
    for block in blocks(len(state.X), len(stacked)):
        swept = stacked @ state.Z[:, block]
        spread[block] -= square_sums(swept[:j])
        mean[block] = swept[-1]
        if d:
            projected, schur = swept[j : j + d], swept[j + d : -1]
            z_D = added.embed(block, projected)
            Z_new[:, block] = z_D
            mean[block] += theta[m:] @ z_D
            spread[block] += square_sums(schur + H[m:, m:] @ z_D)
            residual[block] -= square_sums(z_D)
    mean = cut(mean, "means cut", rescues)
    return state.but(rows=rows, mean=mean, residual=not_negative(residual), spread=not_negative(spread))
