"""Kernels. All meet the protocol of `base`, and all have gradients in their hyperparameters.

    kernel = build({"kind": "matern", "nu": 2.5, "lengthscale": [0.3, 1.2]})
    K = kernel.matrix(X, Y)

To add a kernel: write its class where it belongs (`stationary`, `dot_product`, `composite`), add its kind to
`build.KINDS` and its name here, and write its naive formula into tests/engine/kernels/naive.py.
"""

from app.engine.kernels.base import Description, Kernel
from app.engine.kernels.build import build
from app.engine.kernels.composite import Columns, Product, Scaled, Sum
from app.engine.kernels.dot_product import Linear, Polynomial, Tanimoto
from app.engine.kernels.stationary import Gaussian, Matern

__all__ = [
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
