"""Thompson sampling: each member of a batch is the argmax of its own sample of f (Kandasamy and others, 2018).

    f(x) = mean(x) + √λ · z(x)ᵀ Hᵀ g + √residual(x) · e(x)        g (m,), e (A,) standard normal, V⁻¹ = HᵀH

Its variance is λ·leverage(x), and all that the dictionary sees is sampled jointly; what it does not see (the residual)
is independent from candidate to candidate, since a joint sample would cost O(A³). Samples differ by themselves, so
pending measurements need no special care: that makes it asynchronous.
"""

import numpy as np

from app.engine.arrays import Array, Flags
from app.engine.ask import Ask, Batch
from app.engine.baselines.fixed import best, fixed_size
from app.engine.randomness import rng_at
from app.engine.state import State


def thompson(state: State, ask: Ask) -> Batch:
    """The argmax of a fresh sample, as often as asked for."""
    rng = rng_at(state.settings.seed, "thompson", ask.number)
    unseen = np.sqrt(state.residual)

    def pick(allowed: Flags) -> tuple[int, float]:
        return best(sample(state, unseen, rng), allowed)

    return fixed_size(state, ask, pick)


def sample(state: State, unseen: Array, rng: np.random.Generator) -> Array:
    """One function from the posterior, at all candidates, (A,); `unseen` is √residual."""
    g, e = rng.standard_normal(len(state.S)), rng.standard_normal(len(unseen))
    seen: Array = (state.H.T @ g) @ state.Z
    f: Array = state.mean + np.sqrt(state.settings.lam) * seen + unseen * e
    return f
