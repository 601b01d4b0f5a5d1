"""ε-greedy: the highest mean, and now and then anything."""

import numpy as np

from app.engine.arrays import Flags
from app.engine.ask import Ask, Batch
from app.engine.baselines.fixed import best, fixed_size
from app.engine.baselines.uniform import any_of
from app.engine.randomness import rng_at
from app.engine.state import State

EPSILON = 0.1


def epsilon_greedy(state: State, ask: Ask) -> Batch:
    """With probability EPSILON, and while nothing is known, a uniform choice; else the argmax of the mean."""
    rng = rng_at(state.settings.seed, "epsilon-greedy", ask.number)
    known = bool(np.any(state.counts))

    def pick(allowed: Flags) -> tuple[int, float]:
        if not known or rng.random() < EPSILON:
            return any_of(allowed, rng)
        return best(state.mean, allowed)

    return fixed_size(state, ask, pick)
