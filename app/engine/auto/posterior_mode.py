"""MAP: the hyperparameters of highest evidence times prior, by L-BFGS-B from a few starts."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np
from scipy.optimize import minimize

from app.engine.arrays import Array
from app.engine.auto.evidence import UNLIKELY, Grouped, evidence
from app.engine.auto.forms import Form
from app.engine.auto.priors import NOISE, Prior

ITERATIONS = 60
TOLERANCE = 1e-7
"""The search ends when a step gains less than this share: digits beyond move no batch."""


@dataclass(frozen=True, eq=False)
class Mode:
    """A maximum: theta (q + 1,), log λ last, and the log posterior there."""

    theta: Array
    log_posterior: float


class Posterior:
    """log p(y | theta) + log p(theta) over theta = (the form's, log λ)."""

    def __init__(self, form: Form, y: Grouped) -> None:
        self._evaluate, self._y = form.on(y.X), y
        priors: tuple[Prior, ...] = (*form.priors, NOISE)
        self.mode = np.array([prior.mode for prior in priors])
        self.bounds = [prior.bounds for prior in priors]
        runs = [(prior, len(list(same))) for prior, same in groupby(priors)]
        ends = np.cumsum([0] + [length for _, length in runs])
        self._priors = [(run[0], slice(*ends[i : i + 2])) for i, run in enumerate(runs)]

    def __call__(self, theta: Array) -> tuple[float, Array]:
        """The log posterior and its gradient."""
        value, gradient = self._log_prior(theta)
        K, pull = self._evaluate(theta[:-1])
        found = evidence(K, pull, float(np.exp(theta[-1])), self._y)
        if found is None or not np.isfinite(found.log_p):
            return UNLIKELY, np.zeros_like(theta)
        return value + found.log_p, gradient + found.gradient

    def _log_prior(self, theta: Array) -> tuple[float, Array]:
        value, gradient = 0.0, np.empty_like(theta)
        for prior, part in self._priors:
            log_p, gradient[part] = prior.log_density(theta[part])
            value += float(log_p.sum())
        return value, gradient


def highest_mode(posterior: Posterior, starts: Sequence[Array]) -> Mode:
    """The best of the maxima reached from the starts; the first of equals."""
    low, high = np.array(posterior.bounds).T
    modes = [_climb(posterior, np.clip(start, low, high)) for start in starts]
    return max(modes, key=lambda mode: mode.log_posterior)


def _climb(posterior: Posterior, start: Array) -> Mode:
    def downhill(theta: Array) -> tuple[float, Array]:
        value, gradient = posterior(theta)
        return -value, -gradient

    end = minimize(
        downhill,
        start,
        jac=True,
        method="L-BFGS-B",
        bounds=posterior.bounds,
        options={"maxiter": ITERATIONS, "ftol": TOLERANCE},
    )
    return Mode(np.asarray(end.x, dtype=float), -float(end.fun))
