"""Every numerical rescue of the engine, in one place, counted and reported.

From harmless to serious: a rounding error below zero is set to zero; a dependent dictionary member is left out
("dependent members left out"); a factorisation gets jitter ("jitter"), and if that does not help only the diagonal
counts ("factorisations replaced"); a value so large that its square would overflow
is clipped, and a value that is not a number becomes 0 ("values clipped", "means clipped", "kernel values clipped").
"""

from collections import Counter

import numpy as np
import scipy

from app.arrays import FloatArray, IndexArray

RANK_TOLERANCE = 1e-12
"""A member whose residual is below this share of k(x, x) adds only rounding errors to the dictionary."""

LARGEST = 1e150
"""Kernel values and sums are clipped here, so that products of two of them stay finite."""

MOST_JITTER = 32
"""Jitter grows tenfold at most this often: from the last digit of the largest entry to 10¹⁶ times that entry, where any
matrix of finite numbers is positive definite."""

SMALLEST = 1e-200
"""A residual below this counts as zero: its square root is still well above the subnormal numbers."""


HARMLESS = frozenset({"dependent members left out", "history drawn at a larger lambda"})
"""Rescues that change no number of a result by more than rounding errors."""


class Rescues(Counter[str]):
    """How often each rescue was needed."""


def clip_extremes(values: FloatArray, what: str, rescues: Rescues) -> FloatArray:
    """`values`, clipped at ±LARGEST and with 0 for what is not a number; the same array if nothing is wrong."""
    if np.vdot(values, values) <= LARGEST**2:  # in one pass, and false where one is not a number
        return values
    wrong = ~(np.abs(values) <= LARGEST)
    if not wrong.any():
        return values
    rescues[what] += int(wrong.sum())
    return np.clip(np.nan_to_num(values, nan=0.0, posinf=LARGEST, neginf=-LARGEST), -LARGEST, LARGEST)


def independent(R: FloatArray, scale: FloatArray, rescues: Rescues) -> tuple[IndexArray, FloatArray]:
    """Pivoted Cholesky: which members of R (m, m) are independent, and inv(L) with R[kept][:, kept] = L Lᵀ.

    A member is left out once its pivot falls below RANK_TOLERANCE·scale, where `scale` (m,) is its k(x, x).
    """
    usable = np.flatnonzero((R.diagonal() > RANK_TOLERANCE * scale) & (R.diagonal() > SMALLEST))
    width = np.sqrt(scale[usable])
    scaled = R[np.ix_(usable, usable)] / width[:, None] / width
    factor, pivots, rank, _ = scipy.linalg.lapack.dpstrf(scaled, tol=RANK_TOLERANCE, lower=1)
    order = pivots[:rank] - 1
    kept = usable[order]
    rescues["dependent members left out"] += len(R) - rank
    L_inv = _inverse(np.tril(factor[:rank, :rank]))
    return kept.astype(np.int64), L_inv / width[order]


def inverse_cholesky(V: FloatArray, rescues: Rescues) -> FloatArray:
    """inv(L) for a positive definite V = L Lᵀ (m, m); with growing jitter where rounding errors made it indefinite."""
    if len(V) == 0:
        return np.zeros((0, 0))
    factor, failed = scipy.linalg.lapack.dpotrf(V.T, clean=1)
    if failed:
        factor, failed = _with_jitter(V, rescues)
    if failed or not np.isfinite(factor.diagonal()).all():
        return _inverse_of_diagonal(V, rescues)
    return _inverse(factor.T, overwrite=True)


def _with_jitter(V: FloatArray, rescues: Rescues) -> tuple[FloatArray, int]:
    """The factor of V with as little jitter as it takes, and whether even the most did not help."""
    factor, failed = V, 1
    jitter = np.finfo(float).eps * max(float(V.diagonal().max()), SMALLEST)
    for _ in range(MOST_JITTER):
        rescues["jitter"] += 1
        jitter *= 10
        factor, failed = scipy.linalg.lapack.dpotrf((V + jitter * np.eye(len(V))).T, clean=1)
        if not failed:
            break
    return factor, failed


def _inverse_of_diagonal(V: FloatArray, rescues: Rescues) -> FloatArray:
    """inv(L) as if V were diagonal: for a matrix with entries that are not numbers."""
    rescues["factorisations replaced"] += 1
    diagonal = np.nan_to_num(V.diagonal(), nan=1.0, posinf=LARGEST)
    return np.diag(1 / np.sqrt(np.clip(diagonal, SMALLEST, LARGEST)))


def not_negative(values: FloatArray) -> FloatArray:
    """Set rounding errors below zero to zero, in place."""
    return np.maximum(values, 0.0, out=values)


def _inverse(L: FloatArray, *, overwrite: bool = False) -> FloatArray:
    """inv(L) of a lower triangular L (m, m), in row order."""
    if len(L) == 0:
        return np.zeros((0, 0))
    inverse, _ = scipy.linalg.lapack.dtrtri(L.T, overwrite_c=overwrite)
    return np.ascontiguousarray(inverse.T)
