"""Sweeps over all candidates: the only module that reads or writes the embedding Z (m, A).

Everything of size A·m happens here. Every other module asks, and handles m × m matrices, vectors over the candidates
(A,) and the columns of a few candidates; `drift` alone also holds some rows of covariances (b, A). Each verb runs on
every shard of the embedding with the same small arguments, and each shard fills its own part of the vectors:
`shard_sweeps` has what a shard computes.

| verb                           | arguments, beside the state                | result                             |
|--------------------------------|--------------------------------------------|------------------------------------|
| kernel_rows(S, X)              | S (m,), X (n, d)                           | k_S(x), (m, n)                     |
| prior_variance(X)              | X (n, d)                                   | k(x, x), (n,)                      |
| embedding_of(numbers, first)   | numbers (n,)                               | their z, (m, n), or its last rows  |
| combination(a)                 | a (m,)                                     | aᵀz(x) for all x, (A,)             |
| moments(S, L_inv)              | S (m,), L_inv (m, m)                       | G (m, m) and w (m,)                |
| refresh(L_inv)                 | L_inv (m, m)                               | state: Z and all vectors anew      |
| addition(D)                    | D (n,)                                     | `Addition`: what makes rows for D  |
| moments_with(added, G, w)      | G (m, m), w (m,)                           | G and w grown by the members added |
| update(J, E, added, H, theta)  | J (j,), E (j, m), H and theta of the new V | state: Z grown, all vectors anew   |
| downdate(U, lost, Y, mix)      | U, Y (m, r), lost (r, m), mix (r, r)       | state: Z rotated, without r rows   |
| append(X)                      | X (n, d)                                   | state: n more candidates           |
| part(numbers)                  | numbers (n,)                               | state: these candidates alone      |
| covariance_rows(numbers, V_inv)| numbers (b,), V_inv (m, m)                 | cov_fb(x, j), two (b, A) arrays    |
| leverages_given(numbers, S, …) | numbers (n,), S (s,), weight (s,), λ       | leverages, (n,)                    |
"""

from dataclasses import dataclass

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.blocks import blocks
from app.engine.embedding import Embedding, ShardSweep, each_shard, in_float64
from app.engine.remote_shards import RemoteShard, embedding_over
from app.engine.shard_sweeps import (
    Combination,
    Covariances,
    Downdate,
    Refresh,
    Update,
    kernel_diagonal,
    kernel_rows_of,
    kernel_values,
    square_sums,
    triangular_product,
)
from app.engine.stability import Rescues, clip_extremes, independent, inverse_cholesky, not_negative
from app.engine.state import State


def kernel_rows(state: State, S: IndexArray, X: FloatArray, rescues: Rescues) -> FloatArray:
    """k_S(x) for every row x of X: (m, n)."""
    return kernel_values(state.settings.kernel, state.X[S], X, rescues)


def prior_variance(state: State, X: FloatArray, rescues: Rescues) -> FloatArray:
    """k(x, x) for every row x of X: (n,)."""
    return kernel_diagonal(state.settings.kernel, X, rescues)


def embedding_of(state: State, numbers: IndexArray | int, first: int = 0) -> FloatArray:
    """z of some candidates: (m, n); (m,) for a single number. With `first`, the rows from there on."""
    return state.embedding.columns(numbers, first)


def combination(state: State, a: FloatArray) -> FloatArray:
    """aᵀz(x) for all candidates x: (A,)."""
    combined = np.empty(len(state.X))
    _swept(state, Combination(a), Rescues(), combined=combined)
    return combined


def moments(state: State, S: IndexArray, L_inv: FloatArray, rescues: Rescues) -> tuple[FloatArray, FloatArray]:
    """G = Σ_i counts_i z_i z_iᵀ and w = Σ_i sums_i z_i for z = L⁻¹ k_S, from the measured candidates."""
    G, w = np.zeros((len(S), len(S))), np.zeros(len(S))
    measured = state.measured
    for block in blocks(len(measured), len(S)):
        i = measured[block]
        Z_i = triangular_product(L_inv, kernel_rows(state, S, state.X[i], rescues))
        G += (Z_i * state.precision[i]) @ Z_i.T
        w += Z_i @ state.sums[i]
    return G, w


def refresh(state: State, L_inv: FloatArray, rescues: Rescues) -> State:
    """z = L⁻¹ k_S, mean, residual and projected leverage of every candidate from S, H and w of `state`, O(A·m²)."""
    kernel, X_S, theta = state.settings.kernel, in_float64(state.X[state.S]), state.V_inverse(state.w)
    mean, residual, projected = (np.empty(len(state.X)) for _ in range(3))
    sweep = Refresh(kernel, X_S, L_inv, state.H, theta)
    embedding = _swept(state, sweep, rescues, mean=mean, residual=residual, projected=projected)
    mean = clip_extremes(mean, "means clipped", rescues)
    return state.replace(embedding=embedding, mean=mean, residual=residual, projected_leverage=projected)


@dataclass(frozen=True)
class Addition:
    """Candidates D that enter the dictionary, and their rows of the embedding: z_D(x) = T (k_D(x) − Z_Dᵀ z(x))."""

    D: IndexArray
    K_D: FloatArray
    """(|D|, n) of the candidates `numbers`."""
    Z_D: FloatArray
    """(m, |D|)."""
    T: FloatArray
    """(|D|, |D|), T⁻¹ T⁻ᵀ = K_DD − Z_Dᵀ Z_D."""
    numbers: IndexArray | None = None
    """Ascending; None for all candidates."""

    def rows(self, which: IndexArray, projected: FloatArray) -> FloatArray:
        """z_D (|D|, n) of some of these candidates, from their projections Z_Dᵀ z (|D|, n)."""
        places = which if self.numbers is None else np.searchsorted(self.numbers, which)
        return self.T @ (self.K_D[:, places] - projected)


def addition(state: State, D: IndexArray, rescues: Rescues) -> Addition:
    """What D adds to the dictionary; members that depend on the others are left out."""
    if len(D) == 0:
        return Addition(D, np.zeros((0, len(state.X))), np.zeros((len(state.S), 0)), np.zeros((0, 0)))
    numbers = None if state.embedding.is_here else np.union1d(D, state.measured)
    K_D, Z_D = _kernel_rows_of_list(state, D, numbers, rescues), embedding_of(state, D)
    K_DD = K_D[:, D if numbers is None else np.searchsorted(numbers, D)]
    kept, T = independent(K_DD - Z_D.T @ Z_D, K_DD.diagonal(), rescues)
    return Addition(D[kept], K_D[kept], Z_D[:, kept], T, numbers)


def _kernel_rows_of_list(state: State, D: IndexArray, numbers: IndexArray | None, rescues: Rescues) -> FloatArray:
    """k_D(x) of some candidates, by default of all, as every shard computes them."""
    kernel, X_D, embedding = state.settings.kernel, in_float64(state.X[D]), state.embedding
    pieces: dict[int, FloatArray] = {}

    def fetch(number: int, span: slice, rescues: Rescues) -> None:
        shard = embedding.shards[number]
        if numbers is not None and isinstance(shard, RemoteShard):
            own = numbers[(numbers >= span.start) & (numbers < span.stop)] - span.start
            pieces[number] = shard.kernel_columns(kernel, X_D, own, rescues)
        else:
            pieces[number] = kernel_rows_of(kernel, X_D, state.X[span], rescues)

    each_shard(embedding, fetch, rescues)
    return pieces[0] if len(pieces) == 1 else np.hstack([pieces[number] for number in sorted(pieces)])


def moments_with(state: State, added: Addition, G: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """G and w grown by the rows of the new members, from the measured candidates."""
    if len(added.D) == 0:
        return G, w
    m, measured = len(state.S), state.measured
    size = m + len(added.D)
    grown, sums = np.zeros((size, size)), np.zeros(size)
    for block in blocks(len(measured), size):
        i = measured[block]
        Z_i = embedding_of(state, i)
        z_D = added.rows(i, added.Z_D.T @ Z_i)
        weighted = z_D * state.precision[i]
        grown[m:, :m] += weighted @ Z_i.T
        grown[m:, m:] += weighted @ z_D.T
        sums[m:] += z_D @ state.sums[i]
    grown[:m, :m], grown[:m, m:], sums[:m] = G, grown[m:, :m].T, w
    return grown, sums


def update(
    state: State,
    J: IndexArray,
    E: FloatArray,
    added: Addition,
    H: FloatArray,
    theta: FloatArray,
    rescues: Rescues,
) -> State:
    """One pass over Z for measurements of J and new members: rows, means, residuals and projected leverages, O(A·m).

    E (|J|, m) shrinks the projected leverages; H and theta = V⁻¹w belong to the new dictionary. Everything that meets
    Z is one product with the stacked rows [E; Z_Dᵀ; H_D; theta].
    """
    m = len(state.S)
    sweep = Update(
        kernel=state.settings.kernel,
        X_D=in_float64(state.X[added.D]),
        T=added.T,
        stacked=np.vstack((E, added.Z_D.T, H[m:, :m], theta[None, :m])),
        H_DD=H[m:, m:],
        theta_new=theta[m:],
    )
    known = {"K_D": added.K_D} if added.numbers is None else {}
    mean, residual, projected = np.empty(len(state.X)), state.residual.copy(), state.projected_leverage.copy()
    embedding = _swept(state, sweep, rescues, mean=mean, residual=residual, projected=projected, **known)
    not_negative(projected)
    # Those of J fall by orders of magnitude: computed afresh they keep all their digits.
    projected[J] = square_sums(H @ embedding.columns(J))
    mean = clip_extremes(mean, "means clipped", rescues)
    return state.replace(embedding=embedding, mean=mean, residual=not_negative(residual), projected_leverage=projected)


def downdate(state: State, U: FloatArray, lost: FloatArray, Y: FloatArray, mix: FloatArray) -> State:
    """Z without the r directions U (m, r): rotated by I − Y mix Yᵀ, which turns U into the last r rows, now cut off.

    `lost` (r, m) carries the projected leverage of U. The means are left to the update that follows.
    """
    stay = len(U) - U.shape[1]
    residual, projected = state.residual.copy(), state.projected_leverage.copy()
    sweep = Downdate(np.vstack((U.T, lost, Y.T)), -Y[:stay] @ mix)
    embedding = _swept(state, sweep, Rescues(), residual=residual, projected=projected)
    return state.replace(embedding=embedding, residual=residual, projected_leverage=not_negative(projected))


def append(state: State, X: FloatArray, rescues: Rescues) -> State:
    """More candidates behind the existing ones: z(x) = (Z_Sᵀ)⁻¹ k_S(x), because K_SS = Z_Sᵀ Z_S."""
    K_S = kernel_rows(state, state.S, X, rescues)
    Z_extra = np.asarray(np.linalg.solve(embedding_of(state, state.S).T, K_S) if len(state.S) else K_S, dtype=float)
    mean = clip_extremes(state.V_inverse(state.w) @ Z_extra, "means clipped", rescues)
    residual = not_negative(prior_variance(state, X, rescues) - (Z_extra**2).sum(axis=0))
    projected = ((state.H @ Z_extra) ** 2).sum(axis=0)
    embedding, settings = state.embedding, state.settings
    longer = np.concatenate((state.X, X.astype(state.X.dtype)))
    behind = embedding_over(longer[embedding.starts[-1] :], settings.shard, settings.precision, here=embedding.is_here)
    return state.replace(
        X=longer,
        embedding=embedding.extended(Z_extra, behind),
        mean=np.concatenate((state.mean, mean)),
        residual=np.concatenate((state.residual, residual)),
        projected_leverage=np.concatenate((state.projected_leverage, projected)),
    )


def part(state: State, numbers: IndexArray) -> State:
    """The state of some candidates in ascending order, all members among them, numbered from 0."""
    vectors = ("X", "counts", "sums", "pending", "available", "latest", "mean", "residual", "projected_leverage")
    return state.replace(
        **{name: getattr(state, name)[numbers] for name in vectors},
        S=np.searchsorted(numbers, state.S),
        embedding=state.embedding.selected(numbers),
    )


def covariance_rows(
    state: State, numbers: IndexArray, rescues: Rescues, V_inv: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """cov_fb(x, j) = (k(x, j) − z(x)ᵀz_j)/λ + z(x)ᵀV⁻¹z_j for a few j and all x, and its last term: (b, A) each.

    `V_inv` replaces V⁻¹ in the second result alone. For members the first term is 0, and is not computed.
    """
    b, z_j = len(numbers), embedding_of(state, numbers)
    unseen = np.flatnonzero(~np.isin(numbers, state.S))
    coefficients = [state.V_inverse(z_j).T, z_j.T[unseen]]
    if V_inv is not None:
        coefficients.append((V_inv @ z_j).T)
    stacked = np.concatenate(coefficients)
    sweep = Covariances(
        state.settings.kernel, in_float64(state.X[numbers[unseen]]), unseen, stacked, state.settings.lam
    )
    full, projected = np.empty((b, len(state.X))), np.empty((b, len(state.X)))
    _swept(state, sweep, rescues, full=full, projected=projected)
    return full, projected


def leverages_given(
    state: State, numbers: IndexArray, S: IndexArray, weight: FloatArray, lam: float, rescues: Rescues
) -> FloatArray:
    """Leverages at λ of some candidates if each member s of S stands for weight_s measurements: (n,).

    By the formulas of the posterior, with V = Σ_s weight_s z_s z_sᵀ + λI. (k(x, x) − k_Sᵀ(K_SS + λ/weight)⁻¹k_S)/λ is
    the same number, but cancels to nothing where λ is as small as a rounding error of k.
    """
    K_SS = kernel_rows(state, S, state.X[S], rescues)
    kept, L_inv = independent(K_SS, K_SS.diagonal(), Rescues())
    Z_S = L_inv @ K_SS[kept]
    H = inverse_cholesky((Z_S * weight) @ Z_S.T + lam * np.eye(len(kept)), rescues)
    leverage = np.empty(len(numbers))
    for block in blocks(len(numbers), len(S)):
        X = state.X[numbers[block]]
        Z = triangular_product(L_inv, kernel_rows(state, S[kept], X, rescues))
        residual = not_negative(prior_variance(state, X, rescues) - (Z**2).sum(axis=0))
        leverage[block] = residual / lam + square_sums(triangular_product(H, Z))
    return leverage


def _swept(state: State, sweep: ShardSweep, rescues: Rescues, **vectors: FloatArray) -> Embedding:
    """Run a sweep on every shard, each of which fills its own part of the vectors; the embedding from now on."""
    embedding, shards = state.embedding, list(state.embedding.shards)

    def run(number: int, span: slice, rescues: Rescues) -> None:
        own = {name: vector[..., span] for name, vector in vectors.items()}
        shards[number] = shards[number].sweep(sweep, state.X[span], own, rescues)

    each_shard(embedding, run, rescues)
    return Embedding(shards)
