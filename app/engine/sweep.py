"""Sweeps over all candidates: the only module that reads or writes the embedding Z (m, A).

Everything of size A·m happens here. Every other module asks, and handles m × m matrices, vectors over the candidates
(A,) and the columns of a few candidates; `drift` alone also holds some rows of covariances (b, A). Each verb runs on
every shard of the embedding with the same small arguments, and each shard fills its own part of the vectors.

| verb                           | arguments, beside the state                | result                             |
|--------------------------------|--------------------------------------------|------------------------------------|
| kernel_rows(S, X)              | S (m,), X (n, d)                           | k_S(x), (m, n)                     |
| prior_variance(X)              | X (n, d)                                   | k(x, x), (n,)                      |
| embedding_of(numbers)          | numbers (n,)                               | their z, (m, n)                    |
| combination(a)                 | a (m,)                                     | aᵀz(x) for all x, (A,)             |
| moments(S, L_inv)              | S (m,), L_inv (m, m)                       | G (m, m) and w (m,)                |
| refresh(L_inv)                 | L_inv (m, m)                               | state: Z and all vectors anew      |
| addition(D)                    | D (n,)                                     | `Addition`: what makes rows for D  |
| moments_with(added, G, w)      | G (m, m), w (m,)                           | G and w grown by the members added |
| update(J, E, added, H, theta)  | J (j,), E (j, m), H and theta of the new V | state: Z grown, all vectors anew   |
| downdate(U, lost, Y, mix)      | U, Y (m, r), lost (r, m), mix (r, r)       | state: Z rotated, without r rows   |
| append(X)                      | X (n, d)                                   | state: n more candidates           |
| covariance_rows(numbers, V_inv)| numbers (b,), V_inv (m, m)                 | cov_fb(x, j), two (b, A) arrays    |
| leverages_given(numbers, S, …) | numbers (n,), S (s,), weight (s,), λ       | leverages, (n,)                    |
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.linalg import blas

from app.arrays import FloatArray, IndexArray
from app.engine.embedding import each_shard
from app.engine.stability import Rescues, clip_extremes, independent, inverse_cholesky, not_negative
from app.engine.state import State
from app.engine.time_limit import check_time

BLOCK = 2**19
"""Numbers in one block of a result. A block fits into the cache, and no sweep needs a second array as large as Z."""


def kernel_rows(state: State, S: IndexArray, X: FloatArray, rescues: Rescues) -> FloatArray:
    """k_S(x) for every row x of X: (m, n)."""
    return clip_extremes(state.settings.kernel.matrix(state.X[S], X), "kernel values clipped", rescues)


def prior_variance(state: State, X: FloatArray, rescues: Rescues) -> FloatArray:
    """k(x, x) for every row x of X: (n,)."""
    return clip_extremes(state.settings.kernel.diagonal(X), "kernel values clipped", rescues)


def embedding_of(state: State, numbers: IndexArray | int) -> FloatArray:
    """z of some candidates: (m, n); (m,) for a single number."""
    return state.embedding.columns(numbers)


def combination(state: State, a: FloatArray) -> FloatArray:
    """aᵀz(x) for all candidates x: (A,)."""
    return np.concatenate([a @ shard.array for shard in state.embedding.shards])


def moments(state: State, S: IndexArray, L_inv: FloatArray, rescues: Rescues) -> tuple[FloatArray, FloatArray]:
    """G = Σ_i counts_i z_i z_iᵀ and w = Σ_i sums_i z_i for z = L⁻¹ k_S, from the measured candidates."""
    G, w = np.zeros((len(S), len(S))), np.zeros(len(S))
    measured = state.measured
    for block in _blocks(len(measured), len(S)):
        i = measured[block]
        Z_i = _triangular_product(L_inv, kernel_rows(state, S, state.X[i], rescues))
        G += (Z_i * state.precision[i]) @ Z_i.T
        w += Z_i @ state.sums[i]
    return G, w


def refresh(state: State, L_inv: FloatArray, rescues: Rescues) -> State:
    """z = L⁻¹ k_S, mean, residual and projected leverage of every candidate from S, H and w of `state`, O(A·m²)."""
    S, H, theta = state.S, state.H, state.V_inverse(state.w)
    embedding, Z = state.embedding.cleared().reserve(len(S))
    mean, residual, projected = (np.empty(len(state.X)) for _ in range(3))

    def fill(shard: int, span: slice, rescues: Rescues) -> None:
        for block, own in _blocks_of(span, len(S)):
            X = state.X[own]
            Z_block = _triangular_product(L_inv, kernel_rows(state, S, X, rescues))
            Z[shard][:, block] = Z_block
            mean[own] = theta @ Z_block
            residual[own] = not_negative(prior_variance(state, X, rescues) - (Z_block**2).sum(axis=0))
            projected[own] = _square_sums(_triangular_product(H, Z_block))

    each_shard(embedding, fill, rescues)
    mean = clip_extremes(mean, "means clipped", rescues)
    return state.replace(embedding=embedding, mean=mean, residual=residual, projected_leverage=projected)


@dataclass(frozen=True)
class Addition:
    """Candidates D that enter the dictionary, and their rows of the embedding: z_D(x) = T (k_D(x) − Z_Dᵀ z(x))."""

    D: IndexArray
    K_D: FloatArray
    """(|D|, A) of all candidates."""
    Z_D: FloatArray
    """(m, |D|)."""
    T: FloatArray
    """(|D|, |D|), T⁻¹ T⁻ᵀ = K_DD − Z_Dᵀ Z_D."""

    def rows(self, which: IndexArray | slice, projected: FloatArray) -> FloatArray:
        """z_D (|D|, n) of some candidates, from their projections Z_Dᵀ z (|D|, n)."""
        return self.T @ (self.K_D[:, which] - projected)


def addition(state: State, D: IndexArray, rescues: Rescues) -> Addition:
    """What D adds to the dictionary; members that depend on the others are left out."""
    pieces: dict[int, FloatArray] = {}

    def fetch(shard: int, span: slice, rescues: Rescues) -> None:
        pieces[shard] = kernel_rows(state, D, state.X[span], rescues)

    each_shard(state.embedding, fetch, rescues)
    K_D = pieces[0] if len(pieces) == 1 else np.hstack([pieces[shard] for shard in sorted(pieces)])
    Z_D = embedding_of(state, D)
    K_DD = K_D[:, D]
    kept, T = independent(K_DD - Z_D.T @ Z_D, K_DD.diagonal(), rescues)
    return Addition(D[kept], K_D[kept], Z_D[:, kept], T)


def moments_with(state: State, added: Addition, G: FloatArray, w: FloatArray) -> tuple[FloatArray, FloatArray]:
    """G and w grown by the rows of the new members, from the measured candidates."""
    if len(added.D) == 0:
        return G, w
    m, measured = len(state.S), state.measured
    size = m + len(added.D)
    grown, sums = np.zeros((size, size)), np.zeros(size)
    for block in _blocks(len(measured), size):
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
    state: State, J: IndexArray, E: FloatArray, added: Addition, H: FloatArray, theta: FloatArray, rescues: Rescues
) -> State:
    """One pass over Z for measurements of J and new members: rows, means, residuals and projected leverages, O(A·m).

    E (|J|, m) shrinks the projected leverages; H and theta = V⁻¹w belong to the new dictionary. Everything that meets
    Z is one product with the stacked rows [E; Z_Dᵀ; H_D; theta].
    """
    m, j, d = len(state.S), len(E), len(added.D)
    stacked = np.vstack((E, added.Z_D.T, H[m:, :m], theta[None, :m]))
    embedding, Z_new = state.embedding.reserve(d)
    mean, residual, projected = np.empty(len(state.X)), state.residual.copy(), state.projected_leverage.copy()

    def fill(shard: int, span: slice, _rescues: Rescues) -> None:
        Z = state.embedding.shards[shard].array
        for block, own in _blocks_of(span, len(stacked)):
            product = stacked @ Z[:, block]
            projected[own] -= _square_sums(product[:j])
            mean[own] = product[-1]
            if d:
                z_D = added.rows(own, product[j : j + d])
                Z_new[shard][:, block] = z_D
                mean[own] += theta[m:] @ z_D
                projected[own] += _square_sums(product[j + d : -1] + H[m:, m:] @ z_D)
                residual[own] -= _square_sums(z_D)

    each_shard(state.embedding, fill, rescues)
    not_negative(projected)
    # Those of J fall by orders of magnitude: computed afresh they keep all their digits.
    projected[J] = _square_sums(H @ embedding.columns(J))
    mean = clip_extremes(mean, "means clipped", rescues)
    return state.replace(embedding=embedding, mean=mean, residual=not_negative(residual), projected_leverage=projected)


def downdate(state: State, U: FloatArray, lost: FloatArray, Y: FloatArray, mix: FloatArray) -> State:
    """Z without the r directions U (m, r): rotated by I − Y mix Yᵀ, which turns U into the last r rows, now cut off.

    `lost` (r, m) carries the projected leverage of U. The means are left to the update that follows.
    """
    m, r = U.shape
    stay = m - r
    embedding, Z = state.embedding.cleared().reserve(stay)
    residual, projected = state.residual.copy(), state.projected_leverage.copy()
    stacked, reflect = np.vstack((U.T, lost, Y.T)), -Y[:stay] @ mix

    def fill(shard: int, span: slice, _rescues: Rescues) -> None:
        Z_old, Z_new = state.embedding.shards[shard].array, Z[shard]
        for block, own in _blocks_of(span, m):
            Z_block = Z_old[:, block]
            along, carried, reflected = np.split(stacked @ Z_block, 3)
            residual[own] += _square_sums(along)
            projected[own] -= _square_sums(carried)
            np.matmul(reflect, reflected, out=Z_new[:, block])
            Z_new[:, block] += Z_block[:stay]

    each_shard(state.embedding, fill, Rescues())
    return state.replace(embedding=embedding, residual=residual, projected_leverage=not_negative(projected))


def append(state: State, X: FloatArray, rescues: Rescues) -> State:
    """More candidates behind the existing ones: z(x) = (Z_Sᵀ)⁻¹ k_S(x), because K_SS = Z_Sᵀ Z_S."""
    K_S = kernel_rows(state, state.S, X, rescues)
    Z_extra = np.asarray(np.linalg.solve(embedding_of(state, state.S).T, K_S) if len(state.S) else K_S, dtype=float)
    mean = clip_extremes(state.V_inverse(state.w) @ Z_extra, "means clipped", rescues)
    residual = not_negative(prior_variance(state, X, rescues) - (Z_extra**2).sum(axis=0))
    projected = ((state.H @ Z_extra) ** 2).sum(axis=0)
    return state.replace(
        X=np.concatenate((state.X, X)),
        embedding=state.embedding.extended(Z_extra, state.settings.shard),
        mean=np.concatenate((state.mean, mean)),
        residual=np.concatenate((state.residual, residual)),
        projected_leverage=np.concatenate((state.projected_leverage, projected)),
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
    full, projected = np.empty((b, len(state.X))), np.empty((b, len(state.X)))

    def fill(shard: int, span: slice, rescues: Rescues) -> None:
        Z = state.embedding.shards[shard].array
        for block, own in _blocks_of(span, len(stacked)):
            product = stacked @ Z[:, block]
            full[:, own] = product[:b]
            projected[:, own] = product[:b] if V_inv is None else product[-b:]
            if len(unseen):
                K = kernel_rows(state, numbers[unseen], state.X[own], rescues)
                full[unseen, own] += (K - product[b : b + len(unseen)]) / state.settings.lam

    each_shard(state.embedding, fill, rescues)
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
    for block in _blocks(len(numbers), len(S)):
        X = state.X[numbers[block]]
        Z = _triangular_product(L_inv, kernel_rows(state, S[kept], X, rescues))
        residual = not_negative(prior_variance(state, X, rescues) - (Z**2).sum(axis=0))
        leverage[block] = residual / lam + _square_sums(_triangular_product(H, Z))
    return leverage


def _blocks(size: int, rows: int) -> Iterator[slice]:
    """0 … size in consecutive slices, each with about BLOCK numbers in `rows` rows."""
    step = max(256, BLOCK // max(rows, 1))
    for start in range(0, size, step):
        check_time()
        yield slice(start, min(start + step, size))


def _blocks_of(span: slice, rows: int) -> Iterator[tuple[slice, slice]]:
    """The blocks of a shard: where each is in the shard, and which candidates it holds."""
    for block in _blocks(span.stop - span.start, rows):
        yield block, slice(span.start + block.start, span.start + block.stop)


def _square_sums(rows: FloatArray) -> FloatArray:
    """Σ_r rows_rx² for every column x: (r, n) to (n,); overwrites `rows`."""
    np.square(rows, out=rows)
    total: FloatArray = rows.sum(axis=0)
    return total


def _triangular_product(L: FloatArray, B: FloatArray) -> FloatArray:
    """L B for a lower triangular L (m, m) and B (m, n), at half the cost of a full product; overwrites B."""
    if B.size == 0:
        return B
    product: FloatArray = blas.dtrmm(1.0, L.T, B.T, side=1, lower=0, overwrite_b=1).T
    return product
