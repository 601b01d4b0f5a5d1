"""From a fit to the engine: one code path from the first measurement to the millionth."""

import math

from app.engine.arrays import Array, Numbers
from app.engine.auto.fitted import Fit
from app.engine.auto.goals import Options
from app.engine.auto.observed import Observed
from app.engine.settings import Settings
from app.engine.starts import start_from
from app.engine.state import State

STEP = 2.0
"""How q̄ grows: few members overestimate leverages, so that more than this at once would overshoot."""


def settings_for(fit: Fit, options: Options, seed: int) -> Settings:
    """The engine's settings: exact while few candidates are measured, a sampled dictionary beyond.

    ξ is the fitted noise and F the norm of the fitted mean, at least 1: a certificate made with them is an estimate.
    """
    return Settings(
        kernel=fit.kernel,
        lam=fit.lam,
        xi=math.sqrt(fit.lam),
        F=max(1.0, fit.norm),
        threshold=options.threshold,
        rule="global",
        dictionary="all" if fit.distinct <= options.exact_up_to else "sampled",
        hallucination="full",
        seed=seed,
    )


def alpha_for(fit: Fit, options: Options) -> float:
    """`Ask.alpha`: the multiplier in posterior standard deviations, √variance = √λ·√leverage."""
    return options.multiplier * math.sqrt(fit.lam)


def sums_for(fit: Fit, observed: Observed) -> tuple[Numbers, Array]:
    """counts and sums (A,) in model units, for `start_from`."""
    return observed.counts, observed.sums(fit.objective.to_model(observed.values))


def begin(X: Array, fit: Fit, observed: Observed, options: Options, seed: int, step: int = 1) -> State:
    """The engine's state for all measurements so far, with a dictionary of at most about `options.members` members.

    A measured candidate's leverage is below 1, so that q̄ = members/distinct expects no more members than wanted. Where
    leverages are far below 1 these are too few: q̄ grows step by step until there are half as many, or to the engine's.
    """
    settings, (counts, sums) = settings_for(fit, options, seed), sums_for(fit, observed)
    if settings.dictionary == "all" or settings.q_bar is None:
        return start_from(X, settings, counts, sums, step)
    largest = settings.q_bar
    q_bar = min(largest, options.members / observed.distinct)
    while True:
        state = start_from(X, settings.but(q_bar=q_bar), counts, sums, step)
        if 2 * len(state.S) >= options.members or q_bar >= largest:
            return state
        q_bar = min(largest, q_bar * STEP)
