"""Which candidate to use in the end.

Where measurements are noisy, two estimates of a measured candidate compete. Its average is unbiased, but the best of
many averages is lucky. The model's mean corrects the luck, but also flattens a peak that stands out. The recommendation
takes both: the average of c measurements, shrunk towards the model's mean as if that were one more measurement,

    (c·ȳ + m)/(c + 1)
"""

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.auto.acquisition import sums_for, weights_for
from app.engine.auto.fitting import FittedModel
from app.engine.auto.observed import Observed
from app.engine.state import State

MODEL_COUNTS_AS = 1.0
"""Measurements that the model's mean counts as."""


def recommended(state: State, fit: FittedModel, observed: Observed, noisy: bool, among: IndexArray) -> int | None:
    """Of the measured candidates `among` these numbers, the one with the best estimate; where measurements have no
    noise, the one with the best value.

    None if none of them was measured; the smallest number of equals. A lower bound would be the wrong measure: it
    prefers what lies between many good candidates to the best of them.
    """
    measured = among[observed.counts[among] > 0]
    if len(measured) == 0:
        return None
    return int(measured[np.argmax(estimates(state, fit, observed, noisy)[measured])])


def estimates(state: State, fit: FittedModel, observed: Observed, noisy: bool) -> FloatArray:
    """(A,) the value of every measured candidate in model units, for the recommendation; the model's mean elsewhere."""
    counts, sums = sums_for(fit, observed)
    weight = MODEL_COUNTS_AS if noisy else 0.0
    weights = weights_for(fit, observed)
    if weights is None:
        shrunk = (sums + weight * state.mean) / np.maximum(counts + weight, 1)
    else:
        shrunk = (sums + weight * state.mean) / np.where(counts > 0, weights + weight, 1.0)
    return np.where(counts > 0, shrunk, state.mean)
