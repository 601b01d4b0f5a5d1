"""Resparsification: which measured candidates carry the approximation (Algorithm 1, lines 11–16).

Each past measurement of x enters with probability p = min(1, q̄·leverage_fb(x)); a candidate measured n times is
therefore a member with probability 1 − (1 − p)ⁿ, drawn once.
"""

import math

import numpy as np

from app.engine.arrays import Array, Flags, Numbers
from app.engine.randomness import rng_at
from app.engine.settings import Settings

SURPLUS = 0.5
"""Lazy: members that lost the draw stay while they are at most this share of the dictionary; when they are more, those
of the smallest leverage go until they are half as many."""


def inclusion(leverage: Array, counts: Numbers, q_bar: float) -> Array:
    """1 − (1 − min(1, q̄·leverage))^counts."""
    p = np.minimum(1.0, q_bar * leverage)
    sure = p >= 1
    several: Array = -np.expm1(counts * np.log1p(-np.where(sure, 0.0, p)))
    return np.where(sure & (counts > 0), 1.0, several)


def oversampling(settings: Settings, measurements: int) -> float:
    """q̄, or the theory's 72·threshold·log(4t/δ) after t measurements."""
    if settings.q_bar is not None:
        return settings.q_bar
    return 72 * settings.threshold * math.log(4 * max(1, measurements) / settings.delta)


def draw(settings: Settings, step: int, leverage: Array, counts: Numbers) -> Numbers:
    """The dictionary after these counts (A,), with the leverages (A,) of the start of the batch; never empty."""
    measured = np.flatnonzero(counts)
    if settings.dictionary == "all" or len(measured) == 0:
        return measured
    if settings.dictionary == "none":
        return measured[:0]
    probability = inclusion(leverage[measured], counts[measured], oversampling(settings, int(counts.sum())))
    chance = rng_at(settings.seed, "dictionary", step).random(len(counts))[measured]
    drawn = measured[chance < probability]
    return drawn if len(drawn) else measured[[np.argmax(leverage[measured])]]


def among(members: Numbers, numbers: Numbers, size: int) -> Flags:
    """Which of `numbers` (n,), all below `size`, are members."""
    flags = np.zeros(size, dtype=bool)
    flags[members] = True
    found: Flags = flags[numbers]
    return found


def leaving(S: Numbers, drawn: Numbers, leverage: Array, resparsify: str) -> Flags:
    """(m,) the members that must go: those that lost the draw; in lazy mode only when they are too many."""
    lost = ~among(drawn, S, len(leverage))
    surplus = int(lost.sum())
    if resparsify == "strict":
        return lost
    if surplus <= SURPLUS * len(S):
        return np.zeros_like(lost)
    order = np.argsort(np.where(lost, leverage[S], np.inf), kind="stable")
    out = np.zeros_like(lost)
    out[order[: surplus - int(SURPLUS / 2 * len(S))]] = True
    return out
