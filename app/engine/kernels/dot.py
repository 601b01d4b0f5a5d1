"""Inner products xᵀy, finite for every finite X."""

import numpy as np

from app.engine.kernels.distance import mirror
from app.engine.kernels.kernel import Array

LARGE = 1e75
"""Features are cut here, so that xᵀy and its square are finite. A kernel of cut features is still a kernel."""


def bounded(X: Array, limit: float = LARGE) -> Array:
    """X cut at ±limit (X itself when nothing is to be cut), (n, d)."""
    return np.clip(X, -limit, limit) if X.size and max(-X.min(), X.max()) > limit else X


def dot_products(X: Array, Y: Array) -> Array:
    """xᵀy: X (n, d), Y (p, d) to (n, p); when X equals Y exactly symmetric, with squared_norms(X) as diagonal."""
    products = X @ Y.T
    if X is Y or np.array_equal(X, Y):
        mirror(products)
        np.fill_diagonal(products, squared_norms(X))
    return products


def squared_norms(X: Array) -> Array:
    """‖x_i‖²: (n, d) to (n,)."""
    norms: Array = np.einsum("ij,ij->i", X, X)
    return norms
