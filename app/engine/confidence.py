"""How sure the engine is: beta, the bounds made of it, and what a batch may claim. Derived in docs/engine.md.

With probability 1 − delta, for all candidates and after every feedback: |f − mean| ≤ beta·√leverage.

    sharp          ξ √(log det(V/λ) + Σ_i log(1 + h_i/λ) + 2 log(1/δ)) + F √(λ + (T + √(T² + 4λT))/2)
    tight, paper   2ξ √(Σ_s log(1 + 3·leverage_fb(x_s)) + log(1/δ)) + (1 + √2) √λ F             (Theorem 2)

h_i = counts_i·residual_i is what the dictionary does not see of the measurements of i, and T = Σ_i h_i. The first holds
for any dictionary; the second needs Lemma 2, and so the theory's q̄ or all measured candidates in the dictionary.
"""

import math

import numpy as np

from app.arrays import FloatArray
from app.engine import sweep
from app.engine.settings import EngineSettings
from app.engine.stability import HARMLESS, Rescues
from app.engine.state import State

ROUNDING = 1e-9
"""An alpha may fall short of the theory's by this share."""

NO_LIMITS = (-math.inf, math.inf)


def beta(state: State) -> float:
    """The factor of √leverage that the settings ask for."""
    return _sharp(state.near) if state.settings.confidence == "sharp" else _theorem_2(state)


def alpha(state: State) -> float:
    """√threshold·beta (the lemmas bound ratios of variances), or the paper's threshold·beta."""
    return widening(state.settings) * beta(state)


def widening(settings: EngineSettings) -> float:
    """How much wider the bounds inside a batch are than at the last feedback."""
    return settings.threshold if settings.confidence == "paper" else math.sqrt(settings.threshold)


def confidence_bounds(state: State, limits: tuple[float, float] = NO_LIMITS) -> tuple[FloatArray, FloatArray]:
    """Lower and upper bound of f at every candidate, (A,) each, in model units.

    mean ∓ beta·√leverage, cut off at what is certain anyway: |f(x)| ≤ F·√k(x, x), and the `limits` of the objective. In
    the rare case that the two exclude each other, both bounds are the nearer end of what is certain.
    """
    radius = beta(state) * np.sqrt(state.leverage)
    cap = state.settings.F * np.sqrt(sweep.prior_variance(state, state.X, Rescues()))
    lowest, highest = np.maximum(-cap, limits[0]), np.minimum(cap, limits[1])
    return np.clip(state.mean - radius, lowest, highest), np.clip(state.mean + radius, lowest, highest)


def covers(state: State, used: float) -> bool:
    """Whether bounds with the factor `used` hold with probability 1 − delta in a batch that keeps to its rule."""
    return used >= alpha(state) * (1 - ROUNDING) and is_proven(state)


def is_proven(state: State) -> bool:
    """Whether beta is proven for this dictionary, and every number is what was measured."""
    settings = state.settings
    altered = any(count for rescue, count in state.rescues.items() if rescue not in HARMLESS)
    altered |= settings.precision != "float64"  # rounding is no part of the theory
    theory = settings.q_bar is None and settings.dictionary != "greedy"
    return not altered and (settings.confidence == "sharp" or settings.dictionary == "all" or theory)


def information_bound(state: State) -> float:
    """A bound on log det(I + K/λ) that needs no history: log det(V/λ) + Σ_i counts_i residual_i / λ.

    K = K̃ + (K − K̃) with K̃ = ZᵀZ of the measurements, both positive semidefinite, so
    log det(I + K/λ) ≤ log det(I + K̃/λ) + tr(K − K̃)/λ.
    """
    return max(0.0, float(_log_determinant(state) + state.precision @ state.residual / state.settings.lam))


def _sharp(state: State) -> float:
    s, unseen = state.settings, state.precision * state.residual
    unseen[state.S] = 0.0  # the rounding errors of what the dictionary sees
    unseen = unseen[unseen > 0]
    T = float(unseen.sum())
    information = max(0.0, _log_determinant(state)) + float(np.log1p(unseen / s.lam).sum())
    noise = s.xi * math.sqrt(information - 2 * math.log(s.delta))
    root = math.sqrt(T) * math.sqrt(T + 4 * s.lam)  # of T² + 4λT, which may be too large for a number
    return noise + s.F * math.sqrt(s.lam + (T + root) / 2)


def _theorem_2(state: State) -> float:
    s = state.settings
    noise = 2 * s.xi * math.sqrt(state.information + math.log(1 / s.delta))
    return noise + (1 + math.sqrt(2)) * math.sqrt(s.lam) * s.F


def _log_determinant(state: State) -> float:
    """log det(V/λ)."""
    return float(-2 * np.log(state.H.diagonal()).sum() - len(state.S) * np.log(state.settings.lam))
