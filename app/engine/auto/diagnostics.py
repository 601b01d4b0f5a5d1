"""Is the model any good, and what has it learnt? Each result predicted from the others, and what every column does.

Leave-one-out, with the mean estimated each time anew and the kernel as it is, needs no refit (Rasmussen and Williams
2006, eq. 5.12, here with the mean integrated):

    Q = C⁻¹ − C⁻¹11ᵀC⁻¹/b      ȳ_i − prediction_i = (Qȳ)_i/Q_ii      variance_i = s_i²/Q_ii
    s_i² = (ȳᵀQȳ − (Qȳ)_i²/Q_ii + p₀)/(n − 2 + p₀)

s_i² is the amplitude without result i, so that an outlier cannot hide behind the amplitude that it makes.

Importance of a column: its values are exchanged between candidates, everything else stays, and the predictions change.
The mean squared change over twice the variance of the predictions is 0 for a column that does nothing, and about 1 for
one that decides alone.
"""

from dataclasses import dataclass

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.auto.evidence import NUGGET
from app.engine.auto.fitting import FittedModel
from app.engine.auto.observed import MOST_DISTINCT, Observed, grouped
from app.engine.auto.options import AutoOptions
from app.engine.auto.predictive import PRIOR_WEIGHT, Predictive
from app.engine.auto.unexplained import value_distribution
from app.engine.lifecycle import add_candidates
from app.engine.settings import rng_at
from app.engine.state import State

FEWEST = 3
MOST_COMPARED = 300
"""Candidates whose values are exchanged, at random, to see what a column does."""


@dataclass(frozen=True, eq=False)
class LeaveOneOut:
    """Every measured candidate's average, as the others predict it, in model units."""

    numbers: IndexArray
    """(n,) which candidates; at most MOST_DISTINCT of them."""
    observed: FloatArray
    predicted: FloatArray
    deviation: FloatArray
    """(n,) of the average, noise included."""

    @property
    def skill(self) -> float:
        """1 − the squared errors over those of predicting each by the mean of the others: 0 is no better than that."""
        n = len(self.observed)
        by_mean = (self.observed - self.observed.mean()) * (n / (n - 1))
        squares = float(by_mean @ by_mean)
        errors = self.observed - self.predicted
        return 1 - float(errors @ errors) / squares if squares > 0 else 0.0


def leave_one_out(X: FloatArray, fit: FittedModel, observed: Observed) -> LeaveOneOut | None:
    """None with fewer than FEWEST measured candidates: there is nothing to predict one from."""
    y = grouped(X, observed, fit.objective)
    means = y.means_at(fit.lam)
    n = len(means)
    if n < FEWEST:
        return None
    C = fit.kernel.matrix(y.X, y.X)
    C.flat[:: n + 1] += y.noise_of_means(fit.lam) + NUGGET
    C_inv = np.linalg.inv(C)
    weights = C_inv.sum(axis=1)
    Q = C_inv - np.outer(weights, weights) / weights.sum()
    precision = np.maximum(Q.diagonal(), 1e-300)
    Qy = Q @ means
    residual = Qy / precision
    without = np.maximum(float(means @ Qy) - Qy * residual, 0.0)
    amplitude = (without + PRIOR_WEIGHT) / (n - 2 + PRIOR_WEIGHT)
    numbers = np.flatnonzero(observed.counts)
    if len(numbers) > MOST_DISTINCT:
        numbers = numbers[np.linspace(0, len(numbers) - 1, MOST_DISTINCT).astype(np.int64)]
    return LeaveOneOut(numbers, means, means - residual, np.sqrt(amplitude / precision))


def importances(state: State, groups: list[IndexArray], seed: int) -> FloatArray:
    """(groups,) how much each group of encoded columns matters for what the model predicts."""
    rng = rng_at(seed, "importance", 0)
    rows = np.sort(rng.permutation(len(state.X))[:MOST_COMPARED])
    order, mean = rng.permutation(len(rows)), state.mean[rows]
    variance = float(mean.var())
    if variance == 0:
        return np.zeros(len(groups))
    changes = []
    for columns in groups:
        exchanged = state.X[rows].copy()
        exchanged[:, columns] = exchanged[order][:, columns]
        changes.append(np.mean((predicted_mean(state, exchanged) - mean) ** 2) / (2 * variance))
    return np.array(changes)


def predicted_mean(state: State, X: FloatArray) -> FloatArray:
    """The posterior mean at any features (n, d)."""
    return add_candidates(state, X).mean[len(state.X) :]


def predictive_at(
    state: State, fit: FittedModel, observed: Observed, options: AutoOptions, X: FloatArray
) -> tuple[FloatArray, FloatArray]:
    """Middle and half width of the calibrated 95 % interval at any features (n, d), in model units."""
    longer, known = add_candidates(state, X), len(state.X)
    predictive = Predictive(value_distribution(longer, fit, observed, options))
    return predictive.location[known:], predictive.half_width(0.95)[known:]
