"""The final batch of a study: the best few candidates are measured again, before one of them is recommended.

The best of many averages is lucky, and the recommended candidate was often measured once. So the recommended one and
those that cannot be told from it,

    m* − m(x) ≤ 2 √(s*² + s(x)²),

with the estimates m of the recommendation and the posterior variances s², at most FEW in all, are measured until each
has so many measurements. Then the recommendation is made again, from what is known by then.
"""

import numpy as np

from app.arrays import IndexArray
from app.engine.ask import NO_CANDIDATES
from app.engine.auto.fitting import FittedModel
from app.engine.auto.observed import Observed
from app.engine.auto.options import AutoOptions
from app.engine.auto.recommendation import estimates
from app.engine.auto.replication import is_noiseless
from app.engine.state import State

FEW = 3
"""The most candidates that are confirmed at a time."""

DEVIATIONS = 2.0
"""Two candidates whose estimates differ by more standard deviations than this can be told apart."""


def to_confirm(
    state: State, fit: FittedModel, observed: Observed, options: AutoOptions, among: IndexArray, times: int
) -> IndexArray:
    """The candidates to measure again, each as often as it lacks to `times` measurements, best first.

    None where repeats are known to give the same value.
    """
    measured = among[observed.counts[among] > 0]
    if is_noiseless(observed, options) or len(measured) == 0:
        return NO_CANDIDATES
    estimate = estimates(state, fit, observed, True)[measured]
    best = int(np.argmax(estimate))
    variance = np.maximum(state.variance[measured], 0.0)
    close = estimate[best] - estimate <= DEVIATIONS * np.sqrt(variance[best] + variance)
    order = np.argsort(-estimate, kind="stable")
    few = measured[order[close[order]][:FEW]]
    lacking = np.maximum(times - observed.counts[few] - state.pending[few], 0)
    return np.repeat(few, lacking)
