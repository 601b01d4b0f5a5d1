"""The Tanimoto (Jaccard) kernel of bit vectors, made for molecular fingerprints."""

from dataclasses import dataclass

import numpy as np

from app.engine.kernels.dot import bounded, dot_products, squared_norms
from app.engine.kernels.kernel import Array, Description
from app.engine.kernels.parameterless import Parameterless


@dataclass(frozen=True)
class Tanimoto(Parameterless):
    """k(x, y) = xᵀy / (‖x‖² + ‖y‖² − xᵀy): bits in common over bits in either; 1 for two empty vectors."""

    def matrix(self, X: Array, Y: Array) -> Array:
        """xᵀy / (‖x‖² + ‖y‖² − xᵀy), (n, p)."""
        U, V = bounded(X), bounded(Y)
        common = dot_products(U, V)
        either = np.add.outer(squared_norms(U), squared_norms(V))
        either -= common
        empty = either == 0
        common[empty] = either[empty] = 1
        common /= either
        return common

    def diagonal(self, X: Array) -> Array:
        """1, (n,)."""
        return np.ones(len(X))

    def describe(self) -> Description:
        """The kind alone."""
        return {"kind": "tanimoto"}
