"""Fit the model to all measurements so far: objective, kernel, noise. Deterministic, and bounded in time.

Up to LARGEST distinct candidates the fit is exact; beyond, it reads an even subsample of so many of them (in the
order of their numbers), so that a long history costs no more than this. The objective's clip and scale are always
learnt from all values.
"""

import math

import numpy as np

from app.engine.arrays import Array, Numbers
from app.engine.auto.evidence import Grouped, evidence
from app.engine.auto.fitted import Fit
from app.engine.auto.forms import Form, MainEffects, MaternArd, ScaledTanimoto, Times
from app.engine.auto.layout import Layout
from app.engine.auto.objective import Direction, Objective
from app.engine.auto.observed import Observed
from app.engine.auto.posterior_mode import Mode, Posterior, highest_mode

LARGEST = 256
"""Distinct candidates a fit reads at most."""

CHEAP = 100
"""Up to so many distinct candidates the model is fitted before every batch."""

GROWTH = 0.1
"""Beyond, when the measurements grew by this share since the last fit."""


def fit(X: Array, layout: Layout, observed: Observed, direction: Direction, previous: Fit | None = None) -> Fit:
    """The model for these measurements, at least one; the search starts at the previous optimum and at the mode of
    the prior."""
    if observed.size == 0:
        raise ValueError("a fit needs at least one measurement")
    objective = Objective.learn(observed.values, direction)
    y = grouped(X, observed, objective)
    name, form = form_for(layout)
    posterior = Posterior(form, y)
    starts = [posterior.mode]
    if previous is not None and previous.form == name and len(previous.theta) == len(posterior.mode):
        starts.insert(0, np.array(previous.theta))
    return _as_fit(name, form, highest_mode(posterior, starts), y, objective, observed)


def needs_refit(fitted: Fit, observed: Observed) -> bool:
    """Every time the measurements changed in number while that is cheap; then when they grew by the stated share."""
    if observed.size < fitted.observations:
        return True
    grown = observed.size - fitted.observations
    return grown > 0 and (fitted.distinct <= CHEAP or grown >= GROWTH * fitted.observations)


def grouped(X: Array, observed: Observed, objective: Objective) -> Grouped:
    """The measurements in model units by distinct candidate, at most LARGEST of them."""
    values = objective.to_model(observed.values)
    sums, squares = observed.sums(values), observed.sums(values**2)
    chosen = _evenly(np.flatnonzero(observed.counts))
    return Grouped.of(X[chosen], observed.counts[chosen].astype(float), sums[chosen], squares[chosen])


def form_for(layout: Layout) -> tuple[str, Form]:
    """Matérn 5/2 with a lengthscale for every column, beside the main effects of the texts, if there are any.

    A fingerprint is compared by Tanimoto, times Matérn of what else there is.
    """
    d, matern = len(layout.roles), MaternArd(layout.others, len(layout.roles))
    if layout.bits:
        tanimoto = ScaledTanimoto(layout.bits, d)
        return ("tanimoto × matern", Times(tanimoto, matern)) if layout.others else ("tanimoto", tanimoto)
    return ("matern + main effects", MainEffects(matern, layout.texts)) if layout.texts else ("matern", matern)


def _evenly(numbers: Numbers) -> Numbers:
    """At most LARGEST of the numbers, evenly spread."""
    if len(numbers) <= LARGEST:
        return numbers
    return numbers[np.linspace(0, len(numbers) - 1, LARGEST).astype(np.int64)]


def _as_fit(name: str, form: Form, mode: Mode, y: Grouped, objective: Objective, observed: Observed) -> Fit:
    """The optimum as a value; ‖mean‖² = aᵀKa for the weights a of the posterior mean."""
    theta, lam = mode.theta, float(np.exp(mode.theta[-1]))
    K, pull = form.on(y.X)(theta[:-1])
    found = evidence(K, pull, lam, y)
    mu, norm = (found.mu, math.sqrt(max(0.0, float(found.a @ K @ found.a)))) if found else (0.0, 1.0)
    return Fit(
        form=name,
        theta=tuple(theta.tolist()),
        kernel=form.kernel(theta[:-1]),
        lam=lam,
        objective=objective.centred_at(mu),
        log_evidence=mode.log_posterior,
        norm=norm,
        observations=observed.size,
        distinct=observed.distinct,
    )
