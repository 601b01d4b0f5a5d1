"""Fit the model to all measurements so far: objective, kernel, noise. Deterministic, and bounded in time.

MAP: the hyperparameters of highest evidence times prior, found by L-BFGS-B from a few starts. Up to
`observed.MOST_DISTINCT` distinct candidates the fit is exact; beyond, it reads an even subsample (in the order of their
numbers), so that a long history costs no more than this. The objective's clip and scale are always learnt from all
values.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any, Self

import numpy as np
import scipy

from app.arrays import FloatArray
from app.engine.auto.columns import Layout
from app.engine.auto.evidence import evidence
from app.engine.auto.kernel_forms import EARLIER_STUDIES, Form, borrowing_form_of
from app.engine.auto.number_effects import form_with_main_effects
from app.engine.auto.objective import ObjectiveDirection, ObjectiveTransform
from app.engine.auto.observed import Grouped, Observed, grouped
from app.engine.auto.priors import NOISE, Prior
from app.engine.kernels import Kernel, build
from app.engine.time_limit import check_time

VERSION = 1

CHEAP = 100
"""Up to this many distinct candidates the model is fitted before every batch."""

GROWTH = 0.1
"""Beyond that, it is fitted when the measurements have grown by this share since the last fit."""

ITERATIONS = 60
TOLERANCE = 1e-7
"""The search ends when a step gains less than this share: further digits change no batch."""

SETTLED = 30
"""Distinct candidates from which the search starts at the previous optimum alone: the other start ends there, too."""

WORTH_BORROWING = 1.0
"""What earlier studies expect is used if each adds more than this to the log evidence, as a parameter should (AIC)."""

UNLIKELY = -1e25
"""The log posterior where the covariance of the measurements is not positive definite."""


@dataclass(frozen=True)
class FittedModel:
    """The model of a study until the next fit, as plain values that replay to the last bit."""

    form: str
    """The name of the kernel's form; with `theta` the start of the next fit."""
    theta: tuple[float, ...]
    """Logarithms of the hyperparameters of the form, then log λ."""
    kernel: Kernel
    lam: float
    """λ, the noise variance in model units."""
    objective: ObjectiveTransform
    log_evidence: float
    """log marginal likelihood plus log prior at the optimum."""
    norm: float
    """‖posterior mean‖ in the kernel's space: the estimate of F with which the certificate is stated."""
    observations: int
    """How many measurements it was made from."""
    distinct: int
    """How many candidates these were of."""

    def lengthscales(self, layout: Layout) -> dict[int, float]:
        """The fitted lengthscale of every encoded column that has one: the last of theta before log λ."""
        others = layout.others
        fitted = self.theta[len(self.theta) - 1 - len(others) : -1]
        return {q: math.exp(u) for q, u in zip(others, fitted, strict=True)}

    def describe(self) -> dict[str, Any]:
        """Plain JSON with a version; `FittedModel.build` is the inverse."""
        plain = {**self.__dict__, "theta": list(self.theta)}
        return {**plain, "version": VERSION, "kernel": self.kernel.describe(), "objective": self.objective.describe()}

    @classmethod
    def build(cls, description: dict[str, Any]) -> Self:
        """The fit that `describe` wrote."""
        fields = dict(description)
        version = fields.pop("version")
        if version != VERSION:
            raise ValueError(f"this program reads fits of version {VERSION}, not {version}")
        fields["theta"] = tuple(fields["theta"])
        fields["kernel"] = build(fields["kernel"])
        fields["objective"] = ObjectiveTransform.build(fields["objective"])
        return cls(**fields)


def fit(
    X: FloatArray,
    layout: Layout,
    observed: Observed,
    direction: ObjectiveDirection,
    previous: FittedModel | None = None,
    noise: float | None = None,
    bounds: Sequence[float] = (),
) -> FittedModel:
    """The model for these measurements, at least one; the search starts at the previous optimum and, until SETTLED, at
    the mode of the prior. `noise` is the standard deviation of a measurement in the user's units, where it is known;
    `bounds` are what constraints ask of the values."""
    if observed.size == 0:
        raise ValueError("a fit needs at least one measurement")
    objective = ObjectiveTransform.learn(observed.values, direction, bounds)
    y = grouped(X, observed, objective)
    lam = None if noise is None else objective.noise_variance(observed.values, noise)

    def fitted(name: str, form: Form) -> tuple[FittedModel, float]:
        posterior = Posterior(form, y, lam)
        starts = [posterior.prior_mode]
        if previous is not None and previous.form == name and len(previous.theta) == len(posterior.prior_mode):
            again = np.array(previous.theta)
            starts = [again] if previous.distinct >= SETTLED else [again, *starts]
        mode = highest_mode(posterior, starts)
        return _as_fit(name, form, mode, y, objective, observed), posterior.log_evidence(mode)

    name, form = form_with_main_effects(layout, len(X))
    own, own_evidence = fitted(name, form)
    if not layout.borrowed:
        return own
    borrowing, evidence_with_it = fitted(*borrowing_form_of(name, form, layout))
    return borrowing if evidence_with_it > own_evidence + WORTH_BORROWING * len(layout.borrowed) else own


def borrows(fitted: FittedModel) -> bool:
    """Whether what earlier studies expect explains the results so well that it is used."""
    return fitted.form.endswith(EARLIER_STUDIES)


def needs_refit(fitted: FittedModel, observed: Observed) -> bool:
    """Whenever the number of measurements changed, while that is cheap; then when it grew by the stated share."""
    if observed.size < fitted.observations:
        return True
    grown = observed.size - fitted.observations
    return grown > 0 and (fitted.distinct <= CHEAP or grown >= GROWTH * fitted.observations)


@dataclass(frozen=True, eq=False)
class Mode:
    """A maximum: theta (q + 1,), log λ last, and the log posterior there."""

    theta: FloatArray
    log_posterior: float


class Posterior:
    """log p(y | theta) + log p(theta) over theta = (the form's, log λ)."""

    def __init__(self, form: Form, y: Grouped, lam: float | None = None) -> None:
        """With `lam`, the noise variance is known and stays as it is."""
        self._evaluate, self._y = form.on(y.X), y
        priors: tuple[Prior, ...] = (*form.priors, NOISE if lam is None else NOISE.fixed_at(lam))
        self.prior_mode = np.array([prior.mode for prior in priors])
        self.bounds = [prior.bounds for prior in priors]
        self._priors: list[tuple[Prior, slice]] = []
        start = 0
        for prior, equal in groupby(priors):
            stop = start + len(list(equal))
            self._priors.append((prior, slice(start, stop)))
            start = stop

    def __call__(self, theta: FloatArray) -> tuple[float, FloatArray]:
        """The log posterior and its gradient."""
        check_time()
        value, gradient = self._log_prior(theta)
        K, pull_back = self._evaluate(theta[:-1])
        at_theta = evidence(K, pull_back, float(np.exp(theta[-1])), self._y)
        if at_theta is None or not np.isfinite(at_theta.log_p):
            return UNLIKELY, np.zeros_like(theta)
        return value + at_theta.log_p, gradient + at_theta.gradient

    def log_evidence(self, mode: Mode) -> float:
        """log p(y | theta) at a maximum."""
        return mode.log_posterior - self._log_prior(mode.theta)[0]

    def _log_prior(self, theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = 0.0, np.empty_like(theta)
        for prior, part in self._priors:
            log_p, gradient[part] = prior.log_density(theta[part])
            value += float(log_p.sum())
        return value, gradient


def highest_mode(posterior: Posterior, starts: Sequence[FloatArray]) -> Mode:
    """The best of the maxima reached from the starts; the first of equals."""
    low, high = np.array(posterior.bounds).T
    modes = [_climb(posterior, np.clip(start, low, high)) for start in starts]
    return max(modes, key=lambda mode: mode.log_posterior)


def _climb(posterior: Posterior, start: FloatArray) -> Mode:
    """The maximum that L-BFGS-B reaches from a start."""

    def negative(theta: FloatArray) -> tuple[float, FloatArray]:
        value, gradient = posterior(theta)
        return -value, -gradient

    end = scipy.optimize.minimize(
        negative,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=posterior.bounds,
        options={"maxiter": ITERATIONS, "ftol": TOLERANCE},
    )
    return Mode(np.asarray(end.x, dtype=float), -float(end.fun))


def _as_fit(
    name: str, form: Form, mode: Mode, y: Grouped, objective: ObjectiveTransform, observed: Observed
) -> FittedModel:
    """The optimum as a value; ‖mean‖² = aᵀKa for the weights a of the posterior mean."""
    theta, lam = mode.theta, float(np.exp(mode.theta[-1]))
    K, pull_back = form.on(y.X)(theta[:-1])
    at_mode = evidence(K, pull_back, lam, y)
    mu, norm = 0.0, 1.0
    if at_mode is not None:
        mu, norm = at_mode.mu, math.sqrt(max(0.0, float(at_mode.a @ K @ at_mode.a)))
    return FittedModel(
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
