"""When to measure a candidate again: to learn how noisy measurements are, and to tell good candidates apart.

Without repeats, noise and a rough objective look the same to a fit. So one candidate of a batch repeats the best one so
far (a *noise probe*), until two repeats differ or AGREEING repeats have given equal values.

Where there is noise, measuring again is worth more than measuring elsewhere if it promises more. With s² the posterior
variance of a candidate, the next measurement moves its mean by a normal number with deviation

    τ = s²/√(s² + λ)        worth(x) = E[max(m(x) + τZ, m*)] − max(m(x), m*) = τ (u Φ(u) + φ(u)),  u = −|m(x) − m*|/τ

where m* is the best mean of any other candidate: the knowledge gradient (Frazier, Powell and Dayanik 2009) of the
candidate's own mean. It is small for a candidate measured often, and for one far below the best. One candidate of a
batch is the measured one that is worth most, if it is worth as much as the best new one. The others are chosen by their
optimistic values as always; a measured one may be among them if a repeat would shrink its variance by a third.
"""

import numpy as np
import scipy

from app.arrays import FloatArray, IndexArray
from app.engine.ask import NO_CANDIDATES, NO_LIMIT
from app.engine.auto.observed import Observed
from app.engine.auto.options import AutoOptions
from app.engine.auto.space_filling import PickReason
from app.engine.state import State

AGREEING = 3
"""After this many repeats with equal values, measurements count as noiseless. (One may be a coincidence: values are
rounded.)"""

ENOUGH_FOR_A_PROBE = 10
"""Distinct candidates that are measured before the first probe."""

INFORMATIVE = 0.5
"""A repeat divides a candidate's variance by 1 + leverage: from this leverage on, it shrinks by a third or more."""

LEAST_TAU = 1e-300
"""Keeps u finite where the variance is zero."""


def is_noisy(observed: Observed, options: AutoOptions) -> bool:
    """What the user says; else whether repeats differ or values have standard errors. Until something was repeated,
    nothing is worth repeating."""
    if options.noise is not None:
        return True
    if options.noisy is not None:
        return options.noisy
    if observed.errors is not None:
        return True
    return observed.repeats_differ() is True


def is_noiseless(observed: Observed, options: AutoOptions) -> bool:
    """Whether repeats are known to give the same value: what the user says; else whether AGREEING repeats were made and
    were all equal. Neither this nor `is_noisy` is true while nobody knows."""
    if options.noise is not None or observed.errors is not None:
        return False
    if options.noisy is not None:
        return not options.noisy
    return observed.repeats >= AGREEING and observed.repeats_differ() is False


def limits_for(state: State, observed: Observed, options: AutoOptions, noisy: bool) -> IndexArray:
    """(A,) how often each candidate may be chosen in the next batch, for `Ask.limit`.

    Noiseless: only what was never measured nor handed out, because a repeat of a known value is a measurement lost.
    Noisy: also what a repeat would teach much about, or what has fewer than `repeats` measurements if that is a number;
    never twice in one batch. With unlimited repeats (production) every candidate may be chosen without limit.
    """
    used = observed.counts + state.pending
    if options.repeats is None:
        return np.full(len(used), NO_LIMIT, dtype=np.int64)
    allowed = used == 0
    if noisy and options.repeats == "decided":
        allowed |= (state.pending == 0) & (state.leverage >= INFORMATIVE)
    elif noisy:
        allowed |= used < int(options.repeats or 0)
    limit: IndexArray = allowed.astype(np.int64)
    return limit


def repeat_for(state: State, observed: Observed, options: AutoOptions) -> tuple[IndexArray, PickReason]:
    """The candidate to measure again in this batch, none or one, and what for."""
    if options.repeats != "decided":
        return NO_CANDIDATES, "remeasured"
    if is_noisy(observed, options):
        return _most_worth(state, observed), "remeasured"
    unknown = options.noise is None and options.noisy is None
    return (_noise_probe(state, observed) if unknown else NO_CANDIDATES), "noise_probes"


def _most_worth(state: State, observed: Observed) -> IndexArray:
    """The measured candidate that is worth most, if no new one is worth more."""
    worth, idle = worth_of_measuring(state), state.available & (state.pending == 0)
    again, fresh = np.flatnonzero(idle & (observed.counts > 0)), idle & (observed.counts == 0)
    if len(again) == 0:
        return NO_CANDIDATES
    best = again[[np.argmax(worth[again])]]
    return best if worth[best[0]] >= worth[fresh].max(initial=0.0) else NO_CANDIDATES


def _noise_probe(state: State, observed: Observed) -> IndexArray:
    """The best candidate that was measured once, while it is unknown whether a repeat differs."""
    on_its_way = bool((state.pending[observed.counts > 0] > 0).any())
    if observed.distinct < ENOUGH_FOR_A_PROBE or observed.repeats >= AGREEING or on_its_way:
        return NO_CANDIDATES
    once = np.flatnonzero((observed.counts == 1) & state.available)
    return once[[np.argmax(state.mean[once])]] if len(once) else NO_CANDIDATES


def worth_of_measuring(state: State) -> FloatArray:
    """(A,) by how much the best posterior mean is expected to rise with one measurement of each candidate."""
    variance = np.maximum(state.variance, 0.0)
    tau = np.maximum(variance / np.sqrt(variance + state.settings.lam), LEAST_TAU)
    u = -np.abs(state.mean - _best_of_the_others(state.mean)) / tau
    worth: FloatArray = tau * (u * scipy.special.ndtr(u) + np.exp(-u * u / 2) / np.sqrt(2 * np.pi))
    return np.maximum(worth, 0.0)


def _best_of_the_others(mean: FloatArray) -> FloatArray:
    """(A,) the best mean of any other candidate; of a single candidate, its own."""
    best = np.full(len(mean), mean.max())
    if len(mean) > 1:
        top = int(mean.argmax())
        best[top] = np.delete(mean, top).max()
    return best
