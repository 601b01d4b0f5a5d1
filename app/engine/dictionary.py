"""Which measured candidates carry the approximation: drawn after every batch, or for a whole history at once.

After a batch (Algorithm 1, lines 11–16): each past measurement of x enters with probability
p = min(1, q̄·leverage_fb(x)). A candidate measured n times is therefore a member with probability 1 − (1 − p)ⁿ, and is
drawn once. The authors' code lets it in with min(1, n·p), which is never less, so every guarantee stays.

For a history, never at a cost cubic in its length (Lemma 2 without batches). If few distinct candidates were measured,
their leverages are exact. Otherwise BLESS (Rudi, Calandriello, Carratino, Rosasco 2018) works bottom-up: at a large λ
every leverage is small and a handful of members is enough; each halving of λ draws its members with the leverages that
the members of the previous level provide:

    leverage_λ(x) ≈ (k(x, x) − k_S(x)ᵀ (K_SS + λ diag(π/counts))⁻¹ k_S(x)) / λ

where π are the probabilities with which the members of S were drawn. Leverages are at most κ²/λ, so it is enough to
look at a uniform share q̄·κ²/λ of the measurements.
"""

import math

import numpy as np

from app.arrays import BoolArray, FloatArray, IndexArray
from app.engine import sweep
from app.engine.greedy import members_for
from app.engine.settings import EngineSettings, rng_at
from app.engine.stability import RANK_TOLERANCE, SMALLEST, Rescues
from app.engine.state import State

SURPLUS = 0.5
"""Lazy: members that lost the draw stay while they are at most this share of the dictionary. When they are more, those
of which the least would be lost leave until half as many are left."""

EXACT_UP_TO = 500
"""Up to this many distinct measured candidates, the leverages of a history are exact."""


def inclusion_probability(leverage: FloatArray, counts: IndexArray, q_bar: float) -> FloatArray:
    """1 − (1 − min(1, q̄·leverage))^counts."""
    p = np.minimum(1.0, q_bar * leverage)
    certain = p >= 1
    uncertain: FloatArray = -np.expm1(counts * np.log1p(-np.where(certain, 0.0, p)))
    return np.where(certain & (counts > 0), 1.0, uncertain)


def summed_probability(leverage: FloatArray, counts: IndexArray, q_bar: float) -> FloatArray:
    """min(1, counts·min(1, q̄·leverage))."""
    summed: FloatArray = np.minimum(1.0, counts * np.minimum(1.0, q_bar * leverage))
    return summed


def oversampling(settings: EngineSettings, measurements: int) -> float:
    """q̄, or the theory's 72·threshold·log(4t/δ) after t measurements."""
    if settings.q_bar is not None:
        return settings.q_bar
    return 72 * settings.threshold * math.log(4 * max(1, measurements) / settings.delta)


def draw(
    settings: EngineSettings,
    step: int,
    leverage: FloatArray,
    counts: IndexArray,
    among: tuple[IndexArray, int] | None = None,
) -> IndexArray:
    """The dictionary for these counts (A,), from the leverages (A,) of the start of the batch; never empty.

    Some of the candidates of a longer list draw as they would in it: `among` are their numbers there, and its length.
    """
    measured = np.flatnonzero(counts)
    if settings.dictionary == "all" or len(measured) == 0:
        return measured
    if settings.dictionary == "none":
        return measured[:0]
    q_bar = oversampling(settings, int(counts.sum()))
    included = summed_probability if settings.sums_inclusion else inclusion_probability
    probability = included(leverage[measured], counts[measured], q_bar)
    numbers, length = (measured, len(counts)) if among is None else (among[0][measured], among[1])
    chance = rng_at(settings.seed, "dictionary", step).random(length)[numbers]
    drawn = measured[chance < probability]
    return drawn if len(drawn) else measured[[np.argmax(leverage[measured])]]


def is_in(numbers: IndexArray, members: IndexArray, size: int) -> BoolArray:
    """Which of `numbers` (n,) are members; all numbers are below `size`."""
    flags = np.zeros(size, dtype=bool)
    flags[members] = True
    return np.asarray(flags[numbers])


def members_leaving(state: State, drawn: IndexArray) -> BoolArray:
    """(m,) the members of S that must leave: those that lost the draw; in lazy mode only if they are too many."""
    lost = ~is_in(state.S, drawn, len(state.X))
    surplus, most = int(lost.sum()), int(SURPLUS / 2 * len(lost))
    if state.settings.resparsify == "strict" or state.settings.dictionary == "greedy":
        return lost
    if surplus <= SURPLUS * len(lost):
        return np.zeros_like(lost)
    return least_lost(sweep.embedding_of(state, state.S), state.counts[state.S], lost, surplus - most)


def least_lost(Z_S: FloatArray, counts: IndexArray, candidates: BoolArray, n: int) -> BoolArray:
    """(m,) n of the candidates, one after the other: the one whose counts·residual without it is the smallest.

    Without member s its residual is 1/(K_SS⁻¹)_ss. Then K_SS⁻¹ loses the direction of s, so a near twin of a member
    that has left counts in full. A member measured often has a small leverage, and yet most would be lost with it.
    """
    half = np.linalg.inv(Z_S)
    K_inv = half @ half.T
    leaving = np.zeros_like(candidates)
    for _ in range(n):
        loss = np.where(candidates & ~leaving, counts / np.maximum(K_inv.diagonal(), SMALLEST), np.inf)
        s = int(np.argmin(loss))
        leaving[s] = True
        K_inv -= np.outer(K_inv[:, s], K_inv[s] / K_inv[s, s])
    return leaving


def dictionary_for_history(state: State, rescues: Rescues) -> IndexArray:
    """Dictionary members for the counts of `state`, whatever its dictionary was before."""
    measured = state.measured
    if state.settings.dictionary == "greedy":
        return members_for(state, state.settings.members, rescues)
    if state.settings.dictionary == "sampled" and len(measured) > EXACT_UP_TO:
        return bless(state, measured, rescues)
    leverage = np.zeros(len(state.X))
    if state.settings.dictionary == "sampled":
        weight = state.counts[measured].astype(float)
        leverage[measured] = sweep.leverages_given(state, measured, measured, weight, state.settings.lam, rescues)
    return draw(state.settings, state.step, leverage, state.counts)


def bless(state: State, measured: IndexArray, rescues: Rescues) -> IndexArray:
    """Members drawn level by level, for λ from κ²·t down to the one in the settings.

    Below RANK_TOLERANCE·κ² the leverages would be rounding errors, and members that only such a level would draw depend
    on the others to the last digit. The levels end there, and a rescue says so.
    """
    counts, t = state.counts, int(state.counts.sum())
    q_bar = oversampling(state.settings, t)
    kappa2 = float(sweep.prior_variance(state, state.X[measured], rescues).max())
    lam = max(state.settings.lam, RANK_TOLERANCE * kappa2)
    rescues["history drawn at a larger lambda"] += int(lam > state.settings.lam)
    S, weight = measured[:0], np.zeros(0)
    levels = max(0, int(np.ceil(np.log2(kappa2 * t / lam)))) if kappa2 > 0 else 0
    for level in range(levels, -1, -1):
        level_lam = lam * 2.0**level
        chance = rng_at(state.settings.seed, f"bless {level}", state.step).random(len(counts))[measured]
        share = inclusion_probability(np.full(len(measured), kappa2 / level_lam), counts[measured], q_bar)
        looked_at = measured[chance < share]
        leverage = sweep.leverages_given(state, looked_at, S, weight, level_lam, rescues)
        probability = inclusion_probability(np.minimum(leverage, kappa2 / level_lam), counts[looked_at], q_bar)
        chosen = chance[chance < share] < probability
        S, weight = looked_at[chosen], counts[looked_at[chosen]] / probability[chosen]
        if len(S) == len(measured) and (probability >= 1).all():
            break  # leverages only grow as λ falls
    return S if len(S) else measured[[np.argmax(counts[measured])]]
