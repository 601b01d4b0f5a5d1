"""How sure the engine is: beta of Theorem 2, alpha of a batch, and the sum that beta rests on.

With probability 1 − delta, for all candidates at once: |f − mean| ≤ beta·√leverage.
"""

import math

import numpy as np

from app.engine.settings import EngineSettings
from app.engine.state import State


def beta(state: State) -> float:
    """2ξ √(Σ_s log(1 + 3·leverage_fb(x_s)) + log(1/δ)) + (1 + √2) √λ F (Theorem 2)."""
    s = state.settings
    noise = 2 * s.xi * math.sqrt(state.information + math.log(1 / s.delta))
    return noise + (1 + math.sqrt(2)) * math.sqrt(s.lam) * s.F


def alpha(state: State) -> float:
    """√threshold·beta (the lemmas bound ratios of variances), or the paper's threshold·beta."""
    return widening(state.settings) * beta(state)


def widening(settings: EngineSettings) -> float:
    """How much wider the bounds inside a batch are than at the last feedback."""
    return settings.threshold if settings.confidence == "paper" else math.sqrt(settings.threshold)


def information_bound(state: State) -> float:
    """A bound on log det(I + K/λ) that needs no history: log det(V/λ) + Σ_i counts_i residual_i / λ.

    K = K̃ + (K − K̃) with K̃ = ZᵀZ of the measurements, both positive semidefinite, so
    log det(I + K/λ) ≤ log det(I + K̃/λ) + tr(K − K̃)/λ.
    """
    lam = state.settings.lam
    projected = -2 * np.log(state.H.diagonal()).sum() - len(state.S) * np.log(lam)
    return max(0.0, float(projected + state.counts @ state.residual / lam))
