"""The numerical ladder: every rescue of the engine, in one place, counted and reported.

Rungs, from harmless to serious: a rounding error below zero is cut; a dependent dictionary member is left out
("dependent members left out"); a factorisation gets jitter ("jitter"); a value so large that its square would overflow
is cut ("values cut", "means cut", "kernel values cut"), and one that is not a number becomes 0.
"""

from collections import Counter

import numpy as np
from scipy.linalg import lapack

from app.engine.arrays import Array, Numbers

RANK_TOLERANCE = 1e-12
"""A member whose residual is below this share of k(x, x) adds nothing but rounding errors to the dictionary."""

LARGEST = 1e150
"""Kernel values and sums are cut here, so that products of two of them stay finite."""

SMALLEST = 1e-200
"""A residual below this is nothing: its square root is still well above the subnormal numbers."""


class Rescues(Counter[str]):
    """How often each rung of the ladder was needed."""


def cut(values: Array, what: str, rescues: Rescues) -> Array:
    """`values`, with those beyond ±LARGEST cut and those that are no number 0; the same array if nothing is wrong."""
    if np.isfinite(values.sum()) and (values.size == 0 or max(-values.min(), values.max()) <= LARGEST):
        return values
    wrong = ~(np.abs(values) <= LARGEST)
    if not wrong.any():
        return values
    rescues[what] += int(wrong.sum())
    return np.clip(np.nan_to_num(values, nan=0.0, posinf=LARGEST, neginf=-LARGEST), -LARGEST, LARGEST)


def independent(R: Array, scale: Array, rescues: Rescues) -> tuple[Numbers, Array]:
    """Pivoted Cholesky: which members of R (m, m) are independent, and inv(L) with R[kept][:, kept] = L Lᵀ.

    A member is left out once its pivot falls below RANK_TOLERANCE·scale, `scale` (m,) being its k(x, x).
    """
    usable = np.flatnonzero((R.diagonal() > RANK_TOLERANCE * scale) & (R.diagonal() > SMALLEST))
    width = np.sqrt(scale[usable])
    scaled = R[np.ix_(usable, usable)] / width[:, None] / width
    factor, pivots, rank, _ = lapack.dpstrf(scaled, tol=RANK_TOLERANCE, lower=1)
    order = pivots[:rank] - 1
    kept = usable[order]
    rescues["dependent members left out"] += len(R) - rank
    L_inv = _inverse(np.tril(factor[:rank, :rank]))
    return kept.astype(np.int64), L_inv / width[order]


def inverse_cholesky(V: Array, rescues: Rescues) -> Array:
    """inv(L) for V = L Lᵀ positive definite (m, m); with growing jitter where rounding has spoilt it."""
    if len(V) == 0:
        return np.zeros((0, 0))
    factor, failed = lapack.dpotrf(V.T, clean=1)
    jitter = np.finfo(float).eps * max(float(V.diagonal().max()), SMALLEST)
    while failed:
        rescues["jitter"] += 1
        jitter *= 10
        factor, failed = lapack.dpotrf((V + jitter * np.eye(len(V))).T, clean=1)
    return _inverse(factor.T)


def not_negative(values: Array) -> Array:
    """Rounding errors below zero cut, in place."""
    return np.maximum(values, 0.0, out=values)


def _inverse(L: Array) -> Array:
    """inv(L) of a lower triangular L (m, m), in row order."""
    if len(L) == 0:
        return np.zeros((0, 0))
    inverse, _ = lapack.dtrtri(L.T)
    return np.ascontiguousarray(inverse.T)
