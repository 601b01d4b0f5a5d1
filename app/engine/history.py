"""A dictionary for measurements from before, never at a cost cubic in their number (Lemma 2 without batches).

Few distinct candidates: their exact leverages. Many: BLESS (Rudi, Calandriello, Carratino, Rosasco 2018), bottom-up.
At a large λ every leverage is small and a handful of members is enough; each halving of λ draws its members with the
leverages that the members of the level before provide:

    leverage_λ(x) ≈ (k(x, x) − k_S(x)ᵀ (K_SS + λ diag(π/counts))⁻¹ k_S(x)) / λ

where π are the probabilities with which the members of S were drawn. Leverages are at most κ²/λ, so that only a
uniform share q̄·κ²/λ of the measurements has to be looked at.
"""

import numpy as np

from app.engine.arrays import Array, Numbers, blocks, square_sums
from app.engine.dictionary import draw, inclusion, oversampling
from app.engine.embedding import columns, prior
from app.engine.randomness import rng_at
from app.engine.stability import Rescues, inverse_cholesky, not_negative
from app.engine.state import State

FEW = 500
"""Up to so many distinct measured candidates the leverages are exact."""


def dictionary_of(state: State, rescues: Rescues) -> Numbers:
    """Dictionary members for the counts of `state`, whatever it held before."""
    measured = state.measured
    if state.settings.dictionary == "sampled" and len(measured) > FEW:
        return bless(state, measured, rescues)
    leverage = np.zeros(len(state.X))
    if state.settings.dictionary == "sampled":
        weight = state.counts[measured].astype(float)
        leverage[measured] = _leverages(state, measured, measured, weight, state.settings.lam, rescues)
    return draw(state.settings, state.step, leverage, state.counts)


def bless(state: State, measured: Numbers, rescues: Rescues) -> Numbers:
    """Members drawn level by level, λ from κ²·t down to the wanted one."""
    lam, counts, t = state.settings.lam, state.counts, int(state.counts.sum())
    q_bar = oversampling(state.settings, t)
    kappa2 = float(prior(state, state.X[measured], rescues).max())
    S, weight = measured[:0], np.zeros(0)
    levels = max(0, int(np.ceil(np.log2(kappa2 * t / lam)))) if kappa2 > 0 else 0
    for level in range(levels, -1, -1):
        scale = lam * 2.0**level
        rng = rng_at(state.settings.seed, f"bless {level}", state.step)
        chance = rng.random(len(counts))[measured]
        share = inclusion(np.full(len(measured), kappa2 / scale), counts[measured], q_bar)
        looked_at = measured[chance < share]
        leverage = _leverages(state, looked_at, S, weight, scale, rescues)
        probability = inclusion(np.minimum(leverage, kappa2 / scale), counts[looked_at], q_bar)
        chosen = chance[chance < share] < probability
        S, weight = looked_at[chosen], counts[looked_at[chosen]] / probability[chosen]
    return S if len(S) else measured[[np.argmax(counts[measured])]]


def _leverages(state: State, numbers: Numbers, S: Numbers, weight: Array, lam: float, rescues: Rescues) -> Array:
    """Leverages at λ of some candidates when each member s of S stands for weight_s measurements: (n,)."""
    C = inverse_cholesky(columns(state, S, state.X[S], rescues) + np.diag(lam / weight), rescues)
    leverage = np.empty(len(numbers))
    for block in blocks(len(numbers), len(S)):
        X = state.X[numbers[block]]
        seen = square_sums(C @ columns(state, S, X, rescues))
        leverage[block] = not_negative(prior(state, X, rescues) - seen) / lam
    return leverage
