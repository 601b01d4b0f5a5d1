"""How often a candidate may be measured: a repeat of what is known exactly is a measurement lost."""

import numpy as np

from app.engine.arrays import Numbers
from app.engine.auto.fitted import Fit
from app.engine.auto.goals import Options
from app.engine.auto.observed import Observed

NOISE_WORTH_REPEATING = 0.01
"""λ in units of the objective's variance: below, a repeat teaches next to nothing."""

PLENTY = 2**62


def is_noisy(fit: Fit | None, observed: Observed, options: Options) -> bool:
    """What the user says; else what repeats show; else whether the fitted noise is worth a repeat."""
    if options.noisy is not None:
        return options.noisy
    differing = _repeats_differ(observed)
    if differing is not None:
        return differing
    return fit is not None and fit.lam > NOISE_WORTH_REPEATING


def limits_for(observed: Observed, pending: Numbers, options: Options, noisy: bool) -> Numbers:
    """(A,) how often each candidate may be chosen in the next batch, for `Ask.limit`.

    Noiseless: only what was never measured nor handed out. Noisy: never twice in one batch, `repeats` measurements
    in all. Unlimited repeats (production): no limit at all where it is noisy, and every candidate may come again
    where it is not.
    """
    used = observed.counts + pending
    if options.repeats is None:
        return np.full(len(used), PLENTY, dtype=np.int64)
    allowed = options.repeats if noisy else 1
    left: Numbers = np.clip(allowed - used, 0, 1).astype(np.int64)
    return left


def _repeats_differ(observed: Observed) -> bool | None:
    """Whether any repeat had another value; None where nothing was repeated."""
    repeated = observed.counts > 1
    if not repeated.any():
        return None
    A = len(observed.counts)
    low, high = np.full(A, np.inf), np.full(A, -np.inf)
    np.minimum.at(low, observed.numbers, observed.values)
    np.maximum.at(high, observed.numbers, observed.values)
    return bool((high[repeated] > low[repeated]).any())
