"""Kernels: one per file, all meeting the protocol of `kernel.py`, all with gradients in their hyperparameters.

kernel = build({"kind": "matern", "nu": 2.5, "lengthscale": [0.3, 1.2]})
K = kernel.matrix(X, Y)
"""

from app.engine.kernels.build import build
from app.engine.kernels.columns import Columns
from app.engine.kernels.gaussian import Gaussian
from app.engine.kernels.kernel import Array, Description, Kernel
from app.engine.kernels.linear import Linear
from app.engine.kernels.matern import Matern
from app.engine.kernels.polynomial import Polynomial
from app.engine.kernels.product import Product
from app.engine.kernels.scaled import Scaled
from app.engine.kernels.sum import Sum
from app.engine.kernels.tanimoto import Tanimoto

__all__ = [
    "Array",
    "Columns",
    "Description",
    "Gaussian",
    "Kernel",
    "Linear",
    "Matern",
    "Polynomial",
    "Product",
    "Scaled",
    "Sum",
    "Tanimoto",
    "build",
]
