"""Every kernel once more, as one plain formula for one pair of points, to be called in a double loop."""

import math
from collections.abc import Callable

import numpy as np

from app.arrays import FloatArray
from app.engine.kernels import Columns, Gaussian, Kernel, Linear, Matern, Polynomial, Product, Scaled, Sum, Tanimoto

Pair = Callable[[FloatArray, FloatArray], float]


def naive_matrix(kernel: Kernel, X: FloatArray, Y: FloatArray) -> FloatArray:
    """k(x_i, y_j) by a double loop, (n, p)."""
    k = naive(kernel)
    return np.array([[k(x, y) for y in Y] for x in X]).reshape(len(X), len(Y))


def naive(kernel: Kernel) -> Pair:  # noqa: PLR0911
    """The plain formula of a kernel."""
    match kernel:
        case Gaussian(lengthscale):
            return lambda x, y: math.exp(-(_distance(x, y, lengthscale) ** 2) / 2)
        case Matern(lengthscale, nu):
            return lambda x, y: _matern(_distance(x, y, lengthscale), nu)
        case Linear():
            return _dot
        case Polynomial(degree, slope, offset):
            return lambda x, y: (slope * _dot(x, y) + offset) ** degree
        case Tanimoto():
            return _tanimoto
        case Scaled(part, amplitude):
            return lambda x, y: amplitude * naive(part)(x, y)
        case Columns(part, columns):
            return lambda x, y: naive(part)(x[list(columns)], y[list(columns)])
        case Sum(parts):
            return lambda x, y: math.fsum(naive(part)(x, y) for part in parts)
        case Product(parts):
            return lambda x, y: math.prod(naive(part)(x, y) for part in parts)
    raise TypeError(kernel)


def _dot(x: FloatArray, y: FloatArray) -> float:
    return math.fsum(a * b for a, b in zip(x.tolist(), y.tolist(), strict=True))


def _distance(x: FloatArray, y: FloatArray, lengthscale: float | tuple[float, ...]) -> float:
    scale = lengthscale if isinstance(lengthscale, tuple) else (lengthscale,) * len(x)
    return math.hypot(*((a - b) / s for a, b, s in zip(x.tolist(), y.tolist(), scale, strict=True)))


def _matern(r: float, nu: float) -> float:
    if nu == 0.5:
        return math.exp(-r)
    if nu == 1.5:
        return (1 + math.sqrt(3) * r) * math.exp(-math.sqrt(3) * r)
    return (1 + math.sqrt(5) * r + 5 * r**2 / 3) * math.exp(-math.sqrt(5) * r)


def _tanimoto(x: FloatArray, y: FloatArray) -> float:
    common = sum(1 for a, b in zip(x, y, strict=True) if a and b)
    either = sum(1 for a, b in zip(x, y, strict=True) if a or b)
    return common / either if either else 1.0
