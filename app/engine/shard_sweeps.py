"""What is computed over the candidates of one shard, in this process or in another one: see `sweep` for the formulas.

Each sweep is plain data, the same for every shard. It reads the features X (n, d) and the rows Z (m, n) of the shard in
blocks, and fills the shard's own part of the vectors.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import scipy

from app.arrays import FloatArray, IndexArray
from app.engine.embedding import Rows, Vectors, in_float64
from app.engine.kernels import Kernel
from app.engine.stability import Rescues, clip_extremes, not_negative
from app.engine.time_limit import check_time

BLOCK = 2**19
"""Numbers in one block of a result. A block fits into the cache, and no sweep needs a second array as large as Z."""


@dataclass(frozen=True)
class Combination:
    """combined = aᵀz(x)."""

    reads: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ("combined",)

    a: FloatArray

    def run(self, _X: FloatArray, rows: Rows, vectors: Vectors, _rescues: Rescues) -> Rows:
        if rows.dtype == "float64":
            vectors["combined"][:] = self.a @ rows.array
            return rows
        for block in blocks(rows.shape[1], len(self.a)):
            vectors["combined"][block] = self.a @ in_float64(rows.array[:, block])
        return rows


@dataclass(frozen=True)
class Refresh:
    """z = L⁻¹ k_S, mean, residual and projected leverage, from scratch."""

    reads: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ("mean", "residual", "projected")

    kernel: Kernel
    X_S: FloatArray
    L_inv: FloatArray
    H: FloatArray
    theta: FloatArray

    def run(self, X: FloatArray, rows: Rows, vectors: Vectors, rescues: Rescues) -> Rows:
        m, (_, width) = len(self.X_S), rows.shape
        fresh, Z = Rows.empty(width, rows.dtype).reserve(m)
        for block in blocks(width, m):
            Z_block = triangular_product(self.L_inv, kernel_values(self.kernel, self.X_S, X[block], rescues))
            Z[:, block] = Z_block
            vectors["mean"][block] = self.theta @ Z_block
            seen = np.einsum("mn,mn->n", Z_block, Z_block)
            vectors["residual"][block] = not_negative(kernel_diagonal(self.kernel, X[block], rescues) - seen)
            vectors["projected"][block] = square_sums(triangular_product(self.H, Z_block))
        return fresh


@dataclass(frozen=True)
class Update:
    """Measurements and new members D: rows z_D, mean, residual and projected leverage.

    `stacked` holds the rows [E; Z_Dᵀ; H_D; theta] that meet Z; `H_DD` and `theta_new` belong to the new rows.
    """

    reads: ClassVar[tuple[str, ...]] = ("residual", "projected")
    writes: ClassVar[tuple[str, ...]] = ("mean", "residual", "projected")

    kernel: Kernel
    X_D: FloatArray
    T: FloatArray
    stacked: FloatArray
    H_DD: FloatArray
    theta_new: FloatArray
    block_size: int

    def run(self, X: FloatArray, rows: Rows, vectors: Vectors, _rescues: Rescues) -> Rows:
        d = len(self.X_D)
        j = len(self.stacked) - 2 * d - 1
        grown, Z_new = rows.reserve(d)
        mean, residual, projected = vectors["mean"], vectors["residual"], vectors["projected"]
        K_D = vectors["K_D"] if "K_D" in vectors else self._kernel_rows(X, rows.dtype)
        for block in blocks(rows.shape[1], len(self.stacked), self.block_size):
            product = self.stacked @ in_float64(rows.array[:, block])
            projected[block] -= square_sums(product[:j])
            mean[block] = product[-1]
            if d:
                z_D = self.T @ (K_D[:, block] - product[j : j + d])
                Z_new[:, block] = z_D
                mean[block] += self.theta_new @ z_D
                projected[block] += square_sums(product[j + d : -1] + self.H_DD @ z_D)
                residual[block] -= square_sums(z_D)
        return grown

    def _kernel_rows(self, X: FloatArray, dtype: str) -> FloatArray:
        """k_D(x), once more, in a process that was asked only for some of them; its rescues are counted already."""
        return kernel_rows_of(self.kernel, self.X_D, X, dtype, Rescues())


@dataclass(frozen=True)
class Downdate:
    """Rows rotated by I − Y mix Yᵀ and cut off; residual and projected leverage without the directions that leave."""

    reads: ClassVar[tuple[str, ...]] = ("residual", "projected")
    writes: ClassVar[tuple[str, ...]] = ("residual", "projected")

    stacked: FloatArray
    """[Uᵀ; lost; Yᵀ]."""
    reflect: FloatArray

    def run(self, _X: FloatArray, rows: Rows, vectors: Vectors, _rescues: Rescues) -> Rows:
        stay, (m, width) = len(self.reflect), rows.shape
        turned, Z_new = Rows.empty(width, rows.dtype).reserve(stay)
        for block in blocks(width, m):
            Z_block = in_float64(rows.array[:, block])
            along, carried, reflected = np.split(self.stacked @ Z_block, 3)
            vectors["residual"][block] += square_sums(along)
            vectors["projected"][block] -= square_sums(carried)
            rotated = self.reflect @ reflected
            rotated += Z_block[:stay]
            Z_new[:, block] = rotated
        return turned


@dataclass(frozen=True)
class Covariances:
    """cov_fb(x, j) for b candidates j, and its part within the dictionary, (b, n) each."""

    reads: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ("full", "projected")

    kernel: Kernel
    X_unseen: FloatArray
    unseen: IndexArray
    """Which of the b candidates are no members: X_unseen are their features."""
    stacked: FloatArray
    lam: float

    def run(self, X: FloatArray, rows: Rows, vectors: Vectors, rescues: Rescues) -> Rows:
        full, projected, unseen = vectors["full"], vectors["projected"], self.unseen
        b = len(full)
        other = len(self.stacked) > b + len(unseen)
        for block in blocks(rows.shape[1], len(self.stacked)):
            product = self.stacked @ in_float64(rows.array[:, block])
            full[:, block] = product[:b]
            projected[:, block] = product[-b:] if other else product[:b]
            if len(unseen):
                K = kernel_values(self.kernel, self.X_unseen, X[block], rescues)
                full[unseen, block] += (K - product[b : b + len(unseen)]) / self.lam
        return rows


def kernel_values(kernel: Kernel, X_S: FloatArray, X: FloatArray, rescues: Rescues) -> FloatArray:
    """k(s, x) for rows s of X_S and x of X: (m, n)."""
    return clip_extremes(kernel.matrix(in_float64(X_S), in_float64(X)), "kernel values clipped", rescues)


def kernel_diagonal(kernel: Kernel, X: FloatArray, rescues: Rescues) -> FloatArray:
    """k(x, x) for every row x of X: (n,)."""
    return clip_extremes(kernel.diagonal(in_float64(X)), "kernel values clipped", rescues)


def kernel_rows_of(kernel: Kernel, X_D: FloatArray, X: FloatArray, dtype: str, rescues: Rescues) -> FloatArray:
    """k_D(x) of all candidates of a shard, (|D|, n); in blocks where the features must be converted."""
    if dtype == "float64":
        return kernel_values(kernel, X_D, X, rescues)
    rows = np.empty((len(X_D), len(X)))
    for block in blocks(len(X), X.shape[1]):
        rows[:, block] = kernel_values(kernel, X_D, X[block], rescues)
    return rows


def blocks(size: int, rows: int, block_size: int = BLOCK) -> Iterator[slice]:
    """0 … size in consecutive slices, each with about `block_size` numbers in `rows` rows."""
    step = max(256, block_size // max(rows, 1))
    for start in range(0, size, step):
        check_time()
        yield slice(start, min(start + step, size))


def square_sums(rows: FloatArray) -> FloatArray:
    """Σ_r rows_rx² for every column x: (r, n) to (n,); overwrites `rows`."""
    np.square(rows, out=rows)
    total: FloatArray = rows.sum(axis=0)
    return total


def triangular_product(L: FloatArray, B: FloatArray) -> FloatArray:
    """L B for a lower triangular L (m, m) and B (m, n), at half the cost of a full product; overwrites B."""
    if B.size == 0:
        return B
    product: FloatArray = scipy.linalg.blas.dtrmm(1.0, L.T, B.T, side=1, lower=0, overwrite_b=1).T
    return product
