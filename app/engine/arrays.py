"""Array types, and the blocks of candidates every sweep goes through."""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import blas

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]
"""Candidate numbers: rows of X."""
Flags = NDArray[np.bool_]

BLOCK = 2**19
"""Numbers per block of a result: they stay in the cache, and no sweep needs a second array as large as Z."""


def blocks(size: int, rows: int) -> Iterator[slice]:
    """0 … size in consecutive slices, each with about BLOCK numbers in `rows` rows."""
    step = max(256, BLOCK // max(rows, 1))
    for start in range(0, size, step):
        yield slice(start, min(start + step, size))


def square_sums(rows: Array) -> Array:
    """Σ_r rows_rx² for every column x: (r, n) to (n,); overwrites `rows`."""
    np.square(rows, out=rows)
    total: Array = rows.sum(axis=0)
    return total


def triangular_product(L: Array, B: Array) -> Array:
    """L B for a lower triangular L (m, m) and B (m, n), at half the cost of a full product; overwrites B."""
    if B.size == 0:
        return B
    product: Array = blas.dtrmm(1.0, L.T, B.T, side=1, lower=0, overwrite_b=1).T
    return product
