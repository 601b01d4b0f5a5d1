"""How sure the engine is: beta of Theorem 2, alpha of the batch, and the certificate."""

import math
from dataclasses import dataclass

import numpy as np

from app.engine.arrays import Array
from app.engine.settings import Settings
from app.engine.state import State


@dataclass(frozen=True)
class Certificate:
    """With probability 1 − delta, for all candidates at once: |f − mean| ≤ beta·√leverage."""

    beta: float
    recommended: int
    """The available candidate with the highest lower bound."""
    lower: float
    """lcb of the recommended candidate."""
    upper: float
    """The highest ucb of any available candidate."""
    regret_bound: float
    """upper − lower: how much better than the recommended candidate any other could still be."""


def beta(state: State) -> float:
    """2ξ √(Σ_s log(1 + 3·leverage_fb(x_s)) + log(1/δ)) + (1 + √2) √λ F (Theorem 2)."""
    s = state.settings
    noise = 2 * s.xi * math.sqrt(state.information + math.log(1 / s.delta))
    return noise + (1 + math.sqrt(2)) * math.sqrt(s.lam) * s.F


def alpha(state: State) -> float:
    """√threshold·beta (the lemmas bound ratios of variances), or the paper's threshold·beta."""
    return widening(state.settings) * beta(state)


def widening(settings: Settings) -> float:
    """How much wider than at the last feedback the bounds of a batch are."""
    return settings.threshold if settings.confidence == "paper" else math.sqrt(settings.threshold)


def bounds(state: State) -> tuple[Array, Array]:
    """lcb and ucb (A,) at the last feedback: mean ∓ beta·√leverage."""
    width = beta(state) * np.sqrt(state.leverage)
    return state.mean - width, state.mean + width


def certificate(state: State) -> Certificate:
    """Which candidate to recommend and how much better another could be, among the available ones (all, if none is)."""
    lcb, ucb = bounds(state)
    numbers = np.flatnonzero(state.available) if state.available.any() else np.arange(len(lcb))
    recommended = int(numbers[np.argmax(lcb[numbers])])
    lower, upper = float(lcb[recommended]), float(ucb[numbers].max())
    return Certificate(beta(state), recommended, lower, upper, max(0.0, upper - lower))
