"""The linear kernel."""

from dataclasses import dataclass

from app.engine.kernels.dot import bounded, dot_products, squared_norms
from app.engine.kernels.kernel import Array, Description
from app.engine.kernels.parameterless import Parameterless


@dataclass(frozen=True)
class Linear(Parameterless):
    """k(x, y) = xᵀy. No hyperparameters: `Scaled` gives it a variance."""

    def matrix(self, X: Array, Y: Array) -> Array:
        """xᵀy, (n, p)."""
        return dot_products(bounded(X), bounded(Y))

    def diagonal(self, X: Array) -> Array:
        """‖x‖², (n,)."""
        return squared_norms(bounded(X))

    def describe(self) -> Description:
        """The kind alone."""
        return {"kind": "linear"}
