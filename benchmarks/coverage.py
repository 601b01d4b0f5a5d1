"""How often confidence bounds fail in small random studies, whose functions and norms are known."""

from typing import Any, get_args

import numpy as np
from scipy.stats import beta as beta_distribution

from app.arrays import FloatArray
from app.engine import Ask, EngineSettings, State, choose, confidence_bounds, expect, measure, start_from
from app.engine.kernels import Gaussian, Kernel, Matern
from app.engine.settings import ConfidenceName

XI, DELTA = 0.1, 0.05

CLAIMED: tuple[tuple[ConfidenceName, float | None], ...] = (
    ("sharp", 1e-9),
    ("sharp", 0.5),
    ("sharp", 2.0),
    ("sharp", None),
    ("tight", None),
    ("paper", None),
)
"""Each confidence with the q̄ for which it is proven; None is the theory's."""

UNCLAIMED: tuple[tuple[ConfidenceName, float | None], ...] = (("tight", 2.0), ("paper", 2.0))


def coverage(studies: int) -> dict[str, Any]:
    """For every confidence and q̄, the studies in which a bound failed at some time, and the rate's 95 % interval."""
    figures = {}
    for confidence, q_bar in (*CLAIMED, *UNCLAIMED):
        failed = sum(not small_study(confidence, seed, q_bar) for seed in range(studies))
        figures[f"{confidence}, q̄ = {q_bar or 'theory'}"] = _rate(failed, studies)
    for name in get_args(ConfidenceName):
        failed = sum(not counterexample(name, seed) for seed in range(studies))
        figures[f"{name}, two candidates"] = _rate(failed, studies)
    return {"studies": studies, "delta": DELTA} | figures


def small_study(confidence: ConfidenceName, seed: int, q_bar: float | None) -> bool:
    """A few batches of a random study, a history, pending measurements; whether the bounds held all the time."""
    rng = np.random.default_rng(seed)
    A, F = int(rng.integers(2, 15)), float(10 ** rng.uniform(-0.5, 1))
    X = rng.random((A, int(rng.integers(1, 3))))
    kernel: Kernel = Gaussian(rng.uniform(0.1, 1.0)) if seed % 2 else Matern(rng.uniform(0.2, 1.0), 1.5)
    f = _function(kernel, X, F, rng)
    lam = XI**2 * 10 ** rng.uniform(-2, 2)
    counts = rng.integers(0, 30, A) * (seed % 3 == 0)
    sums = counts * f + XI * np.sqrt(counts) * rng.standard_normal(A)
    settings = EngineSettings(kernel, lam, XI, F, DELTA, confidence=confidence, q_bar=q_bar, seed=seed)
    state, held = start_from(X, settings, counts, sums), True
    for number in range(1, 5):
        batch = choose(state, Ask(number, max_size=8))
        held &= _holds(state, f)
        state = expect(state, batch.picks)
        reported = batch.picks[: len(batch.picks) // 2 + 1]
        state = measure(state, reported, f[reported] + XI * rng.standard_normal(len(reported)))
    return held and _holds(state, f)


def counterexample(confidence: ConfidenceName, seed: int) -> bool:
    """Two candidates with a long history, of which the dictionary sees one: Theorem 2's beta fails here with q̄ = 2."""
    X, kernel, rng = np.array([[0.0], [1.0]]), Gaussian(0.85), np.random.default_rng(seed)
    f, counts = _function(kernel, X, 10.0, rng), np.array([50, 50])
    sums = counts * f + XI * np.sqrt(counts) * rng.standard_normal(2)
    settings = EngineSettings(kernel, lam=XI**2, xi=XI, F=10.0, confidence=confidence, seed=seed)
    return _holds(start_from(X, settings, counts, sums), f)


def _function(kernel: Kernel, X: FloatArray, F: float, rng: np.random.Generator) -> FloatArray:
    """A function of norm F, from the candidates' own kernel columns."""
    K = kernel.matrix(X, X)
    weights = rng.standard_normal(len(X)) * (rng.random(len(X)) < 0.5) + 1e-9
    f: FloatArray = K @ weights * (F / np.sqrt(weights @ K @ weights))
    return f


def _holds(state: State, f: FloatArray) -> bool:
    lower, upper = confidence_bounds(state)
    slack = 1e-9 * np.abs(f).max()
    return bool((lower <= f + slack).all() and (f <= upper + slack).all())


def _rate(failed: int, studies: int) -> str:
    """As in "2 of 1000 (0.02 to 0.72 %)": the exact interval of Clopper and Pearson, one-sided if none failed."""
    tail = 0.025 if failed else 0.05
    lowest = float(beta_distribution.ppf(tail, failed, studies - failed + 1)) if failed else 0.0
    highest = float(beta_distribution.ppf(1 - tail, failed + 1, studies - failed)) if failed < studies else 1.0
    return f"{failed} of {studies} ({100 * lowest:.2f} to {100 * highest:.2f} %)"
