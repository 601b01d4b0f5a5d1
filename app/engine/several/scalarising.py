"""Several utilities as one score.

Random hypervolume scalarisation (Zhang and Golovin, 2020): with weights w drawn uniformly on the positive part of the
sphere, reference r and K utilities y,

    s_w(y) = min_i max(0, (y_i − r_i)/w_i)^K        HV(Y) = c_K · E_w max_{y∈Y} s_w(y),   c_K = π^{K/2}/(2^K Γ(K/2 + 1))

Each pick has weights of its own, so a batch goes to all parts of the front. The power does not change an argmax, and is
left out here; below the reference the score goes on falling, so that a list of nothing but bad candidates is still
ordered.
"""

import math

import numpy as np

from app.arrays import FloatArray
from app.engine.settings import rng_at

AUGMENTED = 0.05
"""Share of the weighted sum in a Chebyshev score: it prefers the better of two whose worst objective is equal."""


def sphere_weights(seed: int, batch: int, count: int, k: int) -> FloatArray:
    """(count, K) directions for the picks of a batch, uniform on the positive part of the unit sphere."""
    normal = np.abs(rng_at(seed, "weights", batch).standard_normal((count, k)))
    normal = np.maximum(normal, 1e-12)
    return np.asarray(normal / np.linalg.norm(normal, axis=1, keepdims=True))


def hypervolume_score(y: FloatArray, w: FloatArray) -> FloatArray:
    """min_i y_i/w_i for y (n, K) above a reference of zero: (n,)."""
    return np.asarray((y / w).min(axis=1))


def chebyshev_score(y: FloatArray, preference: FloatArray) -> FloatArray:
    """−max_i p_i(best_i − y_i) + AUGMENTED·Σ p_i y_i for y (n, K) in units of their ranges: (n,)."""
    p = preference / preference.sum()
    behind = (p * (y.max(axis=0) - y)).max(axis=1)
    return np.asarray(-behind + AUGMENTED * (y @ p))


def sphere_constant(k: int) -> float:
    """c_K of the identity above."""
    return float(math.pi ** (k / 2) / (2**k * math.gamma(k / 2 + 1)))
