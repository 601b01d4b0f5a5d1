"""Squared distances: plain differences for narrow features, one matrix product for wide ones.

r²(x, y) = ‖x − y‖² = ‖x‖² + ‖y‖² − 2 xᵀy, after centring (which changes no distance) and division by the lengthscales.
The product loses about ε(‖x‖² + ‖y‖²), so every pair with r² below CANCELLED times that sum is computed again from the
plain difference. Equal rows therefore have distance exactly 0, and close rows keep their digits however far they are
from the origin. The work is done in tiles that fit into the cache, so that no second (n, p) array is needed.
"""

from collections.abc import Callable, Iterator

import numpy as np
import scipy
from numpy.typing import NDArray

from app.arrays import FloatArray

Indices = NDArray[np.intp]

CANCELLED = 1e-6
"""A pair with r² below this share of ‖x‖² + ‖y‖² is computed again; r then keeps at least nine digits."""

FAR = 1e140
"""Coordinates are clipped here: their products stay finite, and every bounded kernel is 0 long before."""

TILE = 2**17
"""Entries of a tile, which is one megabyte."""

TILE_WIDTH = 2**12

WIDE = 12
"""Up to this many columns, plain differences are both exact and faster than the product with its repair."""

MODERATE = 1e100
"""Lengthscales between 1/MODERATE and MODERATE can be squared without overflow."""


def map_distances(X: FloatArray, Y: FloatArray, scale: FloatArray, profile: Callable[[FloatArray], None]) -> FloatArray:
    """profile(r²) for all pairs, (n, p); `profile` is called once per tile and works in place on r².

    X (n, d), Y (p, d); r²_ij = Σ_q ((x_iq − y_jq) / scale_q)², exactly symmetric when X equals Y.
    """
    out = np.empty((len(X), len(Y)))
    centre = middle(X, Y)
    for rows, columns in _tiles(len(X), len(Y)):
        tile = out[rows, columns]
        _write_distances(tile, X[rows], Y[columns], centre, scale)
        profile(tile)
    if X is Y or np.array_equal(X, Y):
        mirror(out)
    return out


def middle(X: FloatArray, Y: FloatArray) -> FloatArray:
    """The mean row of the shorter of X and Y, (d,), without overflow; zeros for no rows."""
    rows = X if len(X) < len(Y) else Y
    mean: FloatArray = (rows / max(len(rows), 1)).sum(axis=0)
    return mean


def centred(X: FloatArray, centre: FloatArray, scale: FloatArray) -> FloatArray:
    """(X − centre) / scale, clipped at ±FAR, (n, d)."""
    with np.errstate(over="ignore"):
        return np.clip((X - centre) / scale, -FAR, FAR)


def mirror(K: FloatArray) -> None:
    """Copy the lower triangle of the square K to the upper one, in place."""
    step = max(1, TILE // max(len(K), 1))
    for start in range(0, len(K), step):
        stop = start + step
        block = K[start:stop, start:stop]
        block[:] = np.tril(block) + np.tril(block, -1).T
        K[start:stop, stop:] = K[stop:, start:stop].T


def _tiles(n: int, p: int) -> Iterator[tuple[slice, slice]]:
    """Slices of rows and of columns that cover an (n, p) array."""
    width = min(max(p, 1), max(TILE_WIDTH, TILE // max(n, 1)))
    height = TILE // width
    for i in range(0, n, height):
        for j in range(0, p, width):
            yield slice(i, i + height), slice(j, j + width)


def _write_distances(tile: FloatArray, X: FloatArray, Y: FloatArray, centre: FloatArray, scale: FloatArray) -> None:
    """r² into the tile (n, p)."""
    if X.shape[1] <= WIDE and scale.min(initial=1) > 1 / MODERATE and scale.max(initial=1) < MODERATE:
        _write_differences(tile, X, Y, scale)
    else:
        _write_products(tile, X, Y, centre, scale)


def _write_differences(tile: FloatArray, X: FloatArray, Y: FloatArray, scale: FloatArray) -> None:
    """r² = Σ_q (x_q − y_q)² / scale_q², at most FAR²; equal lengthscales need one division."""
    if (scale == scale[0]).all():
        np.divide(scipy.spatial.distance.cdist(X, Y, "sqeuclidean"), scale[0] ** 2, out=tile)
    else:
        tile[:] = scipy.spatial.distance.cdist(X, Y, "sqeuclidean", w=scale**-2.0)
    np.minimum(tile, FAR**2, out=tile)


def _write_products(tile: FloatArray, X: FloatArray, Y: FloatArray, centre: FloatArray, scale: FloatArray) -> None:
    """r² = [−2u, ‖u‖², 1] · [v, 1, ‖v‖²] for the centred rows u, v."""
    U, V = centred(X, centre, scale), centred(Y, centre, scale)
    norms_U, norms_V = np.einsum("ij,ij->i", U, U), np.einsum("ij,ij->i", V, V)
    left = np.column_stack((-2 * U, norms_U, np.ones(len(U))))
    right = np.column_stack((V, np.ones(len(V)), norms_V))
    np.matmul(left, right.T, out=tile)
    step = max(1, TILE // max(X.shape[1], 1))
    rows, columns = _cancelled(tile, norms_U, norms_V)
    for start in range(0, len(rows), step):
        i, j = rows[start : start + step], columns[start : start + step]
        tile[i, j] = _plain_distances(X[i], Y[j], scale)


def _cancelled(tile: FloatArray, norms_U: FloatArray, norms_V: FloatArray) -> tuple[Indices, Indices]:
    """Rows and columns of the pairs with r² ≤ CANCELLED·(‖u‖² + ‖v‖²); rows without any are told by their minimum."""
    most = CANCELLED * (norms_U + norms_V.max(initial=0))
    rows = np.flatnonzero(tile.min(axis=1, initial=np.inf) <= most)
    which, columns = np.nonzero(tile[rows] <= CANCELLED * (norms_U[rows, None] + norms_V))
    return rows[which], columns


def _plain_distances(X: FloatArray, Y: FloatArray, scale: FloatArray) -> FloatArray:
    """Σ_q ((x_iq − y_iq) / scale_q)² of paired rows, at most FAR²: (n, d), (n, d) to (n,)."""
    with np.errstate(over="ignore", under="ignore"):
        D = (X - Y) / scale
        r2: FloatArray = np.einsum("ij,ij->i", D, D)
    return np.minimum(r2, FAR**2)
