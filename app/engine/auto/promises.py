"""How far the model's promises of better candidates have come true in this study, and what its next ones are worth.

A posterior promises more than it keeps: choices are the candidates about which it errs on the hopeful side, and real
objectives have ceilings that no kernel knows of. The results tell by how much. In the order of the ledger, each was
predicted from those before it, with mean and amplitude integrated as in `predictive`,

    h_i = −log P(y_i ≤ best before | y_1 … y_{i−1})

and a model whose every promise is worth c times what it says expects Poisson(c·h_i) new best values at result i. With
k of them seen and H = Σ h_i, both forgetting old results (so that what counts is the height reached by now),

    c ~ Gamma(1, 1) before, Gamma(1 + k, 1 + H) after:  the model is right, unless results say otherwise
    P(gain ≤ g) = E[F(g)^c] = ((1 + H)/(1 + H − log F(g)))^(1 + k)

for the distribution F of the gain that the draws have: F^c is that of the best of c times as many lotteries. Where
measurements are noisy, a new best value is partly luck and says little of promises; there the model is taken at its
word.

All predictions follow from one factor of C = K + λI in the order of the results: with a = L⁻¹y and o = L⁻¹1, the i-th
lies L_ii(a_i − δ o_i) above its prediction, where δ is the mean as far as it was known.
"""

from dataclasses import dataclass

import numpy as np
import scipy

from app.arrays import FloatArray
from app.engine.auto.evidence import NUGGET
from app.engine.auto.fitting import FittedModel
from app.engine.auto.observed import Observed, error_variances
from app.engine.auto.options import AutoOptions
from app.engine.auto.predictive import JOINT_TAILS, PRIOR_WEIGHT
from app.engine.auto.replication import is_noisy
from app.engine.stability import Rescues, inverse_cholesky

PROMISED, KEPT = 1.0, 1.0
"""The prior of c counts as this many promised and kept improvements."""

FIRST = 5
"""Results before the first that counts: a prediction from fewer is hardly more than a guess."""

MEMORY = 0.95
"""What each further result leaves of the weight of those before it: a half after 14."""

LATEST = 512
"""Results that are read, the latest ones. Of a longer history the later half counts; the other half predicts it."""

MOST_CERTAIN = 0.999
"""A chance of improving above this counts as this: one sure promise broken does not outweigh all others."""


@dataclass(frozen=True)
class TrackRecord:
    """Improvements that the model promised and those that came, in recent results."""

    promised: float = 0.0
    """H."""
    kept: float = 0.0
    """k."""
    trusted: bool = False
    """Whether the model is taken at its word, whatever came."""

    def corrected(self, shares: FloatArray) -> FloatArray:
        """E[F^c] for values F of a distribution function, 0 < F ≤ 1."""
        if self.trusted:
            return shares
        rate = PROMISED + self.promised
        corrected: FloatArray = (rate / (rate - np.log(shares))) ** (KEPT + self.kept)
        return corrected


def track_record(
    X: FloatArray, fit: FittedModel, observed: Observed, options: AutoOptions, latest: int = LATEST
) -> TrackRecord:
    """The record of the study so far; X (A, d) holds the candidates."""
    if is_noisy(observed, options):
        return TrackRecord(trusted=True)
    values = fit.objective.to_model(observed.values)
    if len(values) <= FIRST:
        return TrackRecord()
    begin = max(0, len(values) - latest)
    from_here = begin + latest // 2 if begin else FIRST
    best = np.maximum.accumulate(values)[from_here - 1 : -1]
    ahead, scale, degrees = (part[from_here - begin - 1 :] for part in predictions(X, fit, observed, begin))
    chances = scipy.special.stdtr(np.minimum(degrees, JOINT_TAILS), (values[from_here:] - ahead - best) / scale)
    weights = MEMORY ** np.arange(len(chances) - 1, -1, -1)
    promised = -np.log1p(-np.minimum(chances, MOST_CERTAIN))
    return TrackRecord(float(weights @ promised), float(weights @ (values[from_here:] > best)))


def predictions(
    X: FloatArray, fit: FittedModel, observed: Observed, begin: int = 0
) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Of each result after the one at `begin`, predicted from those between: how far above the prediction it lies, the
    prediction's scale and its degrees of freedom; model units, each (n − begin − 1,)."""
    rows = X[observed.numbers[begin:]]
    C = fit.kernel.matrix(rows, rows)
    C.flat[:: len(C) + 1] += fit.lam + error_variances(observed, fit.objective)[begin:] + NUGGET
    L_inv = inverse_cholesky(C, Rescues())
    values, ones = L_inv @ fit.objective.to_model(observed.values[begin:]), L_inv.sum(axis=1)
    b, ones_values, squares = (np.cumsum(terms)[:-1] for terms in (ones**2, ones * values, values**2))
    delta = ones_values / b
    degrees: FloatArray = np.arange(len(b), dtype=float) + PRIOR_WEIGHT
    amplitude = (np.maximum(squares - b * delta**2, 0.0) + PRIOR_WEIGHT) / degrees
    deviation = 1 / L_inv.diagonal()[1:]
    return (
        deviation * (values[1:] - delta * ones[1:]),
        deviation * np.sqrt(amplitude * (1 + ones[1:] ** 2 / b)),
        degrees,
    )
