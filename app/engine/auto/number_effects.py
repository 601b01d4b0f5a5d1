"""Main effects of numbers: how each column of numbers shifts the objective by itself, whatever the others are.

    K = (1 − w)·part + w·(1/g) Σ_q matern(|x_q − y_q|/ℓ_q)      over g columns of numbers

The part is a product over columns, so that two candidates are alike only if they are alike in all of them. Results far
away in one column then say nothing about the others. The sum is what they do say (Duvenaud, Nickisch and Rasmussen
2011). A column has the same lengthscale in both, and one weight serves all columns: theta is (log w/(1 − w), theta of
the part).
"""

import math
from dataclasses import dataclass

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.auto.columns import Layout
from app.engine.auto.kernel_forms import Evaluate, Form, PullBack, form_for
from app.engine.auto.priors import Odds, Prior
from app.engine.kernels import Columns, Kernel, Matern, Scaled, Sum

FEWEST, MOST = 3, 16
"""Columns of numbers between which main effects are worth having: two are soon known together, and of many each does
little by itself while all cost time."""

LONGEST = 10_000
"""Candidates up to which they are used: the posterior of a longer list would take twice the time."""


def form_with_main_effects(layout: Layout, candidates: int) -> tuple[str, Form]:
    """`form_for`, with main effects of the numbers if they are few, in a list that is not too long and has no
    fingerprints or molecules."""
    name, form = form_for(layout)
    texts = {q for columns in layout.texts for q in columns}
    numbers = tuple(q for q in layout.others if q not in texts)
    many = candidates > LONGEST or not FEWEST <= len(numbers) <= MOST
    if many or layout.bits or layout.molecules:
        return name, form
    before = len(form.priors) - len(layout.others)
    places = tuple(before + layout.others.index(q) for q in numbers)
    return f"{name} + numbers", NumberEffects(form, numbers, places)


@dataclass(frozen=True)
class NumberEffects:
    """(1 − w)·part + w·mean over the numbers of Matérn 5/2 of one column."""

    part: Form
    columns: tuple[int, ...]
    places: tuple[int, ...]
    """Where the lengthscale of each column is in theta of the part."""

    @property
    def priors(self) -> tuple[Prior, ...]:
        """The main effects together and the part are expected to matter equally."""
        return (Odds(0.0), *self.part.priors)

    def on(self, X: FloatArray) -> Evaluate:
        """∂K/∂log w/(1 − w) = w(1 − w)(mean − part); ∂matern/∂log ℓ = s²(1 + s)e^(−s)/3, s = √5·|x − y|/ℓ.

        The 1-dimensional Matérns are computed for every pair of rows once, (g, pairs), and in place: this is most of
        the time of a fit.
        """
        part, places, n = self.part.on(X), list(self.places), len(X)
        pairs = np.triu_indices(n, 1)
        distances = math.sqrt(5) * np.abs(X[pairs[0]] - X[pairs[1]])[:, list(self.columns)].T.copy()
        average = np.full(len(places), 1 / len(places))

        def evaluate(theta: FloatArray) -> tuple[FloatArray, PullBack]:
            w = _share(theta[0])
            K_part, pull_back_part = part(theta[1:])
            s = distances * np.exp(-theta[1:][places])[:, None]
            decay, one_more = np.exp(-s), s + 1
            s *= s
            s *= decay
            decay *= one_more
            mean = _symmetric(average @ decay + (average / 3) @ s, pairs, n)

            def pull_back(W: FloatArray) -> FloatArray:
                by_weight = w * (1 - w) * np.vdot(W, mean - K_part)
                gradient = (1 - w) * pull_back_part(W)
                gradient[places] += w / (3 * len(places)) * ((s * one_more) @ (W + W.T)[pairs])
                return np.append(by_weight, gradient)

            return (1 - w) * K_part + w * mean, pull_back

        return evaluate

    def kernel(self, theta: FloatArray) -> Kernel:
        """The engine's sum."""
        w, scales = _share(theta[0]), np.exp(theta[1:][list(self.places)]).tolist()
        effects = (Columns(Matern((scale,), 2.5), (q,)) for q, scale in zip(self.columns, scales, strict=True))
        main = (Scaled(effect, w / len(scales)) for effect in effects)
        return Sum((Scaled(self.part.kernel(theta[1:]), 1 - w), *main))


def _share(log_odds: float) -> float:
    """w."""
    return float(1 / (1 + np.exp(-log_odds)))


def _symmetric(values: FloatArray, pairs: tuple[IndexArray, IndexArray], n: int) -> FloatArray:
    """(n, n) with ones on the diagonal and these values of every pair beside it."""
    matrix = np.eye(n)
    matrix[pairs] = values
    matrix.T[pairs] = values
    return matrix
