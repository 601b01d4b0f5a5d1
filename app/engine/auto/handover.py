"""From a fit to the engine: one code path from the first measurement to the millionth."""

import math

from app.engine.arrays import Array, Numbers
from app.engine.auto.fitted import Fit
from app.engine.auto.goals import Options
from app.engine.auto.observed import Observed
from app.engine.settings import Settings


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
