"""Members that leave the dictionary: a rotation of Z that costs O(A·m) per member, instead of O(A·m²) from scratch.

The z of the members that stay span all but r directions U (m, r) of the embedding. A block reflector turns U into the
last r axes, which are then cut off:

    W = U·O with its last block W_b symmetric positive semidefinite (O from the singular vectors of U's last block)
    Y = W + [0; I],   P = I − Y (I + W_b)⁻¹ Yᵀ  is orthogonal and  P W = −[0; I]

Without U the residual grows and the spread falls by the part that U carried:

    residual(x) += ‖Uᵀz‖²,   spread(x) −= ‖inv(chol(Uᵀ V⁻¹ U)) Uᵀ V⁻¹ z‖²
"""

import numpy as np
from scipy import linalg

from app.engine.arrays import Array, Flags, blocks, square_sums
from app.engine.rows import Rows
from app.engine.stability import Rescues, inverse_cholesky, not_negative
from app.engine.state import State


def remove(state: State, leaving: Flags, rescues: Rescues) -> State:
    """The state without the members marked in `leaving` (m,); its `mean` is left for the sweep that follows."""
    r = int(leaving.sum())
    if r == 0:
        return state
    m, stay = len(state.S), len(state.S) - r
    U = np.asarray(linalg.qr(state.Z[:, state.S[~leaving]])[0][:, stay:], dtype=float)
    lost = inverse_cholesky(U.T @ _solve(state, U), rescues) @ _solve(state, U).T
    Y, mix = _reflector(U)
    rotate = np.eye(m) - Y @ mix @ Y.T
    rows, Z = Rows.empty(len(state.X)).reserve(stay)
    residual, spread = state.residual.copy(), state.spread.copy()
    for block in blocks(len(state.X), m):
        Z_block = state.Z[:, block]
        along, carried, reflected = np.split(np.vstack((U.T, lost, Y.T)) @ Z_block, 3)
        residual[block] += square_sums(along)
        spread[block] -= square_sums(carried)
        np.matmul(-Y[:stay] @ mix, reflected, out=Z[:, block])
        Z[:, block] += Z_block[:stay]
    G = (rotate @ state.G @ rotate.T)[:stay, :stay]
    H = inverse_cholesky(G + state.settings.lam * np.eye(stay), rescues)
    return state.but(
        S=state.S[~leaving],
        rows=rows,
        G=G,
        H=H,
        w=(rotate @ state.w)[:stay],
        residual=residual,
        spread=not_negative(spread),
    )


def _solve(state: State, B: Array) -> Array:
    """V⁻¹ B."""
    solved: Array = state.H.T @ (state.H @ B)
    return solved


def _reflector(U: Array) -> tuple[Array, Array]:
    """Y (m, r) and (I + W_b)⁻¹ (r, r)."""
    r = U.shape[1]
    left, _, right = linalg.svd(U[-r:])
    Y = U @ (right.T @ left.T)
    mix = linalg.inv(np.eye(r) + Y[-r:])
    Y[-r:] += np.eye(r)
    return Y, mix
