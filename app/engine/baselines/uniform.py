"""Uniform choice: what every other algorithm has to beat."""

import numpy as np

from app.engine.arrays import Flags
from app.engine.ask import Ask, Batch
from app.engine.baselines.fixed import fixed_size
from app.engine.randomness import rng_at
from app.engine.state import State


def uniform(state: State, ask: Ask) -> Batch:
    """Every allowed candidate with the same probability, measured before or not."""
    rng = rng_at(state.settings.seed, "uniform", ask.number)
    return fixed_size(state, ask, lambda allowed: any_of(allowed, rng))


def any_of(allowed: Flags, rng: np.random.Generator) -> tuple[int, float]:
    """One of the allowed candidates; no value speaks for it."""
    return int(rng.choice(np.flatnonzero(allowed))), 0.0
