"""The chance that a measurement gives a value: a Gaussian-process classifier with a probit link.

    p(done | x) = Φ(f(x)),   f ~ GP(m, s²k)         Laplace's approximation (Rasmussen and Williams 2006, section 3.4)

m = Φ⁻¹(PRIOR)·√(1 + s²), so that where nothing is known the chance is PRIOR. Amplitude and lengthscale are those of a
small grid that have the highest approximate evidence. Few failures change little: the amplitude is bounded, so that one
failure never makes another candidate hopeless.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from app.arrays import FloatArray, IndexArray
from app.engine.embedding import in_float64
from app.engine.kernels import Matern
from app.engine.time_limit import check_time

PRIOR = 0.9
"""The chance of a value where nothing is known."""
AMPLITUDES = (0.5, 1.0, 2.0)
LENGTHSCALES = (0.1, 0.2, 0.4, 0.8)
"""In units of √d, the diagonal of the unit cube."""
MOST = 300
"""Outcomes that are learnt from: all failures first, then values, evenly."""
STEPS = 50
TOLERANCE = 1e-9
BLOCK = 4_096


@dataclass(frozen=True, eq=False)
class Laplace:
    """The approximation at its mode: f̂ − m = K a, and the Cholesky factor of B = I + W^½ K W^½."""

    mean: float
    a: FloatArray
    root_w: FloatArray
    L: FloatArray
    log_evidence: float


def chances_of_success(X: FloatArray, done: IndexArray, failed: IndexArray) -> FloatArray:
    """(A,) the chance that a measurement of each candidate gives a value; `done` and `failed` are what was tried."""
    tried, y = _training(done, failed)
    X_tried = in_float64(X[tried])
    best: tuple[Laplace, float, Matern] | None = None
    for lengthscale in LENGTHSCALES:
        kernel = Matern(lengthscale * float(np.sqrt(X.shape[1])), 2.5)
        K = kernel.matrix(X_tried, X_tried)
        for amplitude in AMPLITUDES:
            check_time()
            mode = laplace(amplitude**2 * K, y, prior_mean(amplitude))
            if best is None or mode.log_evidence > best[0].log_evidence + TOLERANCE:
                best = mode, amplitude, kernel
    assert best is not None  # noqa: S101  (the grid is not empty)
    return _predict(X, tried, *best)


def prior_mean(amplitude: float) -> float:
    """The mean of f with which the chance is PRIOR where nothing is known."""
    return float(scipy.special.ndtri(PRIOR) * np.sqrt(1 + amplitude**2))


def laplace(K: FloatArray, y: FloatArray, mean: float) -> Laplace:
    """Newton's method for the mode of p(f | y), y = ±1 (Algorithm 3.1), with halved steps where it overshoots."""
    a, f = np.zeros(len(y)), np.full(len(y), mean)
    objective = -np.inf
    for _ in range(STEPS):
        gradient, curvature = _derivatives(f, y)
        root_w = np.sqrt(curvature)
        L = scipy.linalg.cholesky(np.eye(len(y)) + root_w[:, None] * K * root_w, lower=True)
        b = curvature * (f - mean) + gradient
        step = b - root_w * scipy.linalg.cho_solve((L, True), root_w * (K @ b)) - a
        new, a, f = _line_search(K, y, mean, a, step, objective)
        if new - objective <= TOLERANCE:
            break
        objective = new
    gradient, curvature = _derivatives(f, y)
    root_w = np.sqrt(curvature)
    L = scipy.linalg.cholesky(np.eye(len(y)) + root_w[:, None] * K * root_w, lower=True)
    value = _log_joint(K, y, mean, a)[0]
    return Laplace(mean, gradient, root_w, L, value - float(np.log(L.diagonal()).sum()))


def _line_search(
    K: FloatArray, y: FloatArray, mean: float, a: FloatArray, step: FloatArray, objective: float
) -> tuple[float, FloatArray, FloatArray]:
    size = 1.0
    while True:
        tried = a + size * step
        value, f = _log_joint(K, y, mean, tried)
        if value >= objective or size < 1e-6:
            return value, tried, f
        size /= 2


def _log_joint(K: FloatArray, y: FloatArray, mean: float, a: FloatArray) -> tuple[float, FloatArray]:
    """log p(y | f) − ½ aᵀKa, and f = m + K a."""
    Ka = K @ a
    f = mean + Ka
    return float(scipy.special.log_ndtr(y * f).sum() - 0.5 * a @ Ka), f


def _derivatives(f: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Of log Φ(y f): the gradient, and minus the second derivative, which is positive (equation 3.16)."""
    ratio = np.exp(-0.5 * f**2 - 0.5 * np.log(2 * np.pi) - scipy.special.log_ndtr(y * f))
    return y * ratio, np.maximum(ratio**2 + y * f * ratio, 1e-12)


def _predict(X: FloatArray, tried: IndexArray, mode: Laplace, amplitude: float, kernel: Matern) -> FloatArray:
    """Φ(E f / √(1 + Var f)) (equation 3.82), block by block."""
    chance = np.empty(len(X))
    for start in range(0, len(X), BLOCK):
        block = slice(start, start + BLOCK)
        k = amplitude**2 * kernel.matrix(in_float64(X[tried]), in_float64(X[block]))
        v = scipy.linalg.solve_triangular(mode.L, mode.root_w[:, None] * k, lower=True)
        variance = np.maximum(amplitude**2 - (v**2).sum(axis=0), 0.0)
        chance[block] = scipy.special.ndtr((mode.mean + mode.a @ k) / np.sqrt(1 + variance))
    return chance


def _training(done: IndexArray, failed: IndexArray) -> tuple[IndexArray, FloatArray]:
    """What is learnt from: at most MOST outcomes."""
    failed = failed[-MOST:]
    room = MOST - len(failed)
    if len(done) > room:
        done = done[np.linspace(0, len(done) - 1, room).astype(np.int64)] if room else done[:0]
    return np.concatenate((done, failed)), np.concatenate((np.ones(len(done)), -np.ones(len(failed))))
