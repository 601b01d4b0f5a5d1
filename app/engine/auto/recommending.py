"""Which candidate to use in the end: a measured one."""

import numpy as np

from app.engine.arrays import Numbers
from app.engine.auto.fitted import Fit
from app.engine.auto.observed import Observed
from app.engine.state import State


def recommended(state: State, fit: Fit, observed: Observed, noisy: bool, among: Numbers) -> int | None:
    """Of the measured candidates `among` these numbers the one with the best posterior mean; where measurements have
    no noise, the one with the best value. None where none of them was measured; the smallest number of equals.

    A lower bound is the wrong measure here: it prefers what lies between many good candidates to the best of them.
    """
    measured = among[observed.counts[among] > 0]
    if len(measured) == 0:
        return None
    if noisy:
        return int(measured[np.argmax(state.mean[measured])])
    sums = observed.sums(fit.objective.to_model(observed.values))
    return int(measured[np.argmax(sums[measured] / observed.counts[measured])])
