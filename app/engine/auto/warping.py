"""Yeo and Johnson's power transform (Biometrika 87, 2000): a skewed objective made about symmetric, one to one.

    u ≥ 0:  ((u + 1)^p − 1)/p            p = 0:  log(u + 1)
    u < 0:  −((1 − u)^(2−p) − 1)/(2−p)   p = 2:  −log(1 − u)

p = 1 changes nothing, p < 1 draws the good tail in (p > 1 the bad one, which clipping sees to). Within 0 ≤ p ≤ 2 every
real number has its image and every image its number, so that bounds of the model are bounds for the user.

Why: with a prior of variance 1 nothing unexplored can look better than some two standard deviations. In a skewed
objective the first good candidate lies beyond that, and optimism never leaves its neighbourhood again.
"""

import numpy as np

from app.engine.arrays import Array

POWERS = np.linspace(0.0, 1.0, 21)
FEWEST = 3
"""Values needed to judge a skew."""

TIE = 1e-6
"""Powers with log-likelihoods so close are equally good: the mildest is taken, whatever rounding says."""

FLAT = 1e-9
"""A standard deviation below this is none."""


def warp(u: Array, p: float) -> Array:
    """u (n,) to its image (n,)."""
    return np.where(u >= 0, _power(np.maximum(u, 0.0), p), -_power(np.maximum(-u, 0.0), 2 - p))


def unwarp(v: Array, p: float) -> Array:
    """The inverse of `warp`, finite for finite v."""
    with np.errstate(over="ignore"):
        u = np.where(v >= 0, _root(np.maximum(v, 0.0), p), -_root(np.maximum(-v, 0.0), 2 - p))
    return finite(u)


def finite(values: Array) -> Array:
    """`values`, the largest numbers there are for infinities; np.nan_to_num takes its time where there are none."""
    return values if np.isfinite(values).all() else np.nan_to_num(values)


def learn_power(u: Array) -> float:
    """p of highest likelihood for normal images, among POWERS: −n/2·log var(v) + (p − 1) Σ sign(u) log(1 + |u|)."""
    if len(u) < FEWEST or u.std() < FLAT:
        return 1.0
    stretch = float((np.sign(u) * np.log1p(np.abs(u))).sum())
    images = np.array([warp(u, p) for p in POWERS])
    log_likelihood = -len(u) / 2 * np.log(np.maximum(images.var(axis=1), FLAT**2)) + (POWERS - 1) * stretch
    return float(POWERS[log_likelihood >= log_likelihood.max() - TIE].max())


def _power(u: Array, p: float) -> Array:
    """((u + 1)^p − 1)/p for u ≥ 0, without cancellation."""
    image: Array = np.log1p(u) if p == 0 else np.expm1(p * np.log1p(u)) / p
    return image


def _root(v: Array, p: float) -> Array:
    """The inverse of `_power`."""
    u: Array = np.expm1(v) if p == 0 else np.expm1(np.log1p(p * v) / p)
    return u
