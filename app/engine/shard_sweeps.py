"""What is computed over the candidates of one shard, in this process or in another one: see `sweep` for the formulas.

Each sweep is plain data, the same for every shard. It reads the features X (n, d) and the rows Z (m, n) of the shard in
blocks, and fills the shard's own part of the vectors.
"""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.blocks import each_block
from app.engine.embedding import Rows, Vectors, in_float64
from app.engine.kernels import Kernel
from app.engine.stability import Rescues, clip_extremes, not_negative

PANEL = 64
"""Rows of a triangular matrix that are multiplied at a time: few enough to leave out most of the zeros above the
diagonal, and enough for a product at full speed."""


@dataclass(frozen=True)
class Combination:
    """combined = aᵀz(x)."""

    reads: ClassVar[tuple[str, ...]] = ()
    writes: ClassVar[tuple[str, ...]] = ("combined",)

    a: FloatArray

    def run(self, _X: FloatArray, rows: Rows, vectors: Vectors, rescues: Rescues) -> Rows:
        def combine(block: slice, _rescues: Rescues) -> None:
            vectors["combined"][block] = self.a @ in_float64(rows.array[:, block])

        each_block(rows.shape[1], len(self.a), combine, rescues)
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

        def fill(block: slice, rescues: Rescues) -> None:
            K_block = kernel_values(self.kernel, self.X_S, X[block], rescues)
            Z_block = triangular_product(self.L_inv, K_block)
            Z[:, block] = Z_block
            vectors["mean"][block] = self.theta @ Z_block
            vectors["projected"][block] = square_sums(triangular_product(self.H, Z_block, out=K_block))
            seen = square_sums(Z_block)
            vectors["residual"][block] = not_negative(kernel_diagonal(self.kernel, X[block], rescues) - seen)

        each_block(width, m, fill, rescues)
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

    def run(self, X: FloatArray, rows: Rows, vectors: Vectors, rescues: Rescues) -> Rows:
        d = len(self.X_D)
        j = len(self.stacked) - 2 * d - 1
        grown, Z_new = rows.reserve(d)
        mean, residual, projected = vectors["mean"], vectors["residual"], vectors["projected"]
        K_D = vectors["K_D"] if "K_D" in vectors else self._kernel_rows(X)

        def take_in(block: slice, _rescues: Rescues) -> None:
            product = self.stacked @ in_float64(rows.array[:, block])
            projected[block] -= square_sums(product[:j])
            mean[block] = product[-1]
            if d:
                z_D = self.T @ (K_D[:, block] - product[j : j + d])
                Z_new[:, block] = z_D
                mean[block] += self.theta_new @ z_D
                projected[block] += square_sums(product[j + d : -1] + self.H_DD @ z_D)
                residual[block] -= square_sums(z_D)

        each_block(rows.shape[1], len(self.stacked), take_in, rescues)
        return grown

    def _kernel_rows(self, X: FloatArray) -> FloatArray:
        """k_D(x), once more, in a process that was asked only for some of them; its rescues are counted already."""
        return kernel_rows_of(self.kernel, self.X_D, X, Rescues())


@dataclass(frozen=True)
class Downdate:
    """Rows rotated by I − Y mix Yᵀ and cut off; residual and projected leverage without the directions that leave."""

    reads: ClassVar[tuple[str, ...]] = ("residual", "projected")
    writes: ClassVar[tuple[str, ...]] = ("residual", "projected")

    stacked: FloatArray
    """[Uᵀ; lost; Yᵀ]."""
    reflect: FloatArray

    def run(self, _X: FloatArray, rows: Rows, vectors: Vectors, rescues: Rescues) -> Rows:
        stay, (m, width) = len(self.reflect), rows.shape
        turned, Z_new = Rows.empty(width, rows.dtype).reserve(stay)

        def turn(block: slice, _rescues: Rescues) -> None:
            Z_block = in_float64(rows.array[:, block])
            along, carried, reflected = np.split(self.stacked @ Z_block, 3)
            vectors["residual"][block] += square_sums(along)
            vectors["projected"][block] -= square_sums(carried)
            rotated = self.reflect @ reflected
            rotated += Z_block[:stay]
            Z_new[:, block] = rotated

        each_block(width, m, turn, rescues)
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

        def fill(block: slice, rescues: Rescues) -> None:
            product = self.stacked @ in_float64(rows.array[:, block])
            full[:, block] = product[:b]
            projected[:, block] = product[-b:] if other else product[:b]
            if len(unseen):
                K = kernel_values(self.kernel, self.X_unseen, X[block], rescues)
                full[unseen, block] += (K - product[b : b + len(unseen)]) / self.lam

        each_block(rows.shape[1], len(self.stacked), fill, rescues)
        return rows


def kernel_values(kernel: Kernel, X_S: FloatArray, X: FloatArray, rescues: Rescues) -> FloatArray:
    """k(s, x) for rows s of X_S and x of X: (m, n)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return clip_extremes(kernel.matrix(in_float64(X_S), in_float64(X)), "kernel values clipped", rescues)


def kernel_diagonal(kernel: Kernel, X: FloatArray, rescues: Rescues) -> FloatArray:
    """k(x, x) for every row x of X: (n,)."""
    with np.errstate(over="ignore", invalid="ignore"):
        return clip_extremes(kernel.diagonal(in_float64(X)), "kernel values clipped", rescues)


def kernel_rows_of(kernel: Kernel, X_D: FloatArray, X: FloatArray, rescues: Rescues) -> FloatArray:
    """k_D(x) of all candidates of a shard, (|D|, n)."""
    K_D = np.empty((len(X_D), len(X)))

    def fill(block: slice, rescues: Rescues) -> None:
        K_D[:, block] = kernel_values(kernel, X_D, X[block], rescues)

    each_block(len(X), max(X_D.shape), fill, rescues)
    return K_D


def square_sums(rows: FloatArray) -> FloatArray:
    """Σ_r rows_rx² for every column x: (r, n) to (n,); overwrites `rows`."""
    np.square(rows, out=rows)
    total: FloatArray = rows.sum(axis=0)
    return total


def triangular_product(L: FloatArray, B: FloatArray, out: FloatArray | None = None) -> FloatArray:
    """L B for a lower triangular L (m, m) and B (m, n), a panel of rows at a time, each as long as it has numbers."""
    product = np.empty(B.shape) if out is None else out
    for start in range(0, len(L), PANEL):
        stop = start + PANEL
        np.matmul(L[start:stop, :stop], B[:stop], out=product[start:stop])
    return product
