"""Every system of the experiments: an algorithm of the engine, with the bandwidths of the appendix."""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from app.arrays import BoolArray
from app.engine import ALGORITHMS, Algorithm, Ask, Selection, State, beta, rng_at
from app.engine.baselines import Evolution, fixed_size, highest, posterior_sample
from app.engine.batch import choose

TEMPERED = 10
"""The appendix divides the β of Thompson sampling by this."""


def tempered_thompson(state: State, ask: Ask) -> Selection:
    """Thompson sampling as in the appendix: deviations of β/10 times √leverage, where the posterior's are √λ times."""
    rng = rng_at(state.settings.seed, "thompson", ask.batch_number)
    residual_root, width = np.sqrt(state.residual), beta(state) / TEMPERED / np.sqrt(state.settings.lam)

    def pick_one(allowed: BoolArray) -> tuple[int, float]:
        sample = posterior_sample(state, residual_root, rng)
        return highest(state.mean + width * (sample - state.mean), allowed)

    return fixed_size(state, ask, pick_one)


@dataclass(frozen=True)
class System:
    """How it chooses and what is particular to it."""

    label: str
    algorithm: Algorithm
    bandwidths: dict[str, float] = field(default_factory=dict)
    """Where they are not those of BBKB."""
    batch: int = 1
    """The size of its batches, if it has no rule."""
    sampled: bool = True
    """Its model is no larger than the dictionary; the others keep all that was measured."""

    def bandwidth(self, name: str) -> float:
        """On the set of that name: the appendix's table."""
        return self.bandwidths.get(name, BANDWIDTHS[name])


BANDWIDTHS = {"abalone": 17.5, "cadata": 12.5, "generated": 10.0}


def sober(state: State, ask: Ask) -> Selection:
    """BBKB with the α = β of the sequential systems: what a batch costs in confidence is not paid for."""
    return choose(state, replace(ask, alpha=beta(state)))


def altered(name: str = "bbkb", **changes: Any) -> Algorithm:
    """An algorithm with other settings than those of the comparison."""
    return Algorithm(choose, ALGORITHMS[name].required | changes)


SYSTEMS = {
    "bbkb": System("Global-BBKB", ALGORITHMS["bbkb"]),
    "bbkb-local": System("GlobalLocal-BBKB", ALGORITHMS["bbkb-local"]),
    "bbkb-exact": System("Exact-BBKB (ours)", ALGORITHMS["bbkb-exact"]),
    "gp-bucb": System("GP-BUCB", ALGORITHMS["gp-bucb"], {"abalone": 12.5}, sampled=False),
    "gp-bucb-global": System("GP-BUCB, improved rule", ALGORITHMS["gp-bucb-global"], {"abalone": 12.5}, sampled=False),
    "thompson": System("batch Thompson", Algorithm(tempered_thompson), {"abalone": 10.0, "cadata": 10.0}, batch=30),
    "bkb": System("BKB", ALGORITHMS["bkb"]),
    "epsilon-greedy": System("ε-greedy", ALGORITHMS["epsilon-greedy"]),
    "gp-ucb": System("GP-UCB", ALGORITHMS["gp-ucb"], {"abalone": 5.0}, sampled=False),
    "evolution": System("regularised evolution", Algorithm(Evolution(100, 10), ALGORITHMS["evolution"].required)),
    "uniform": System("uniform", ALGORITHMS["uniform"], batch=30),
    "bbkb-narrow": System("Global-BBKB, α = β", Algorithm(sober, ALGORITHMS["bbkb"].required)),
    "bbkb-wide": System("Global-BBKB, α = C̃β", altered(confidence="paper")),
    "bbkb-strict": System("Global-BBKB, strict", altered(resparsify="strict")),
    "bbkb-letter": System("Global-BBKB, both", altered(confidence="paper", resparsify="strict")),
    "bbkb-sharp": System("Global-BBKB, sharp", altered(confidence="sharp")),
    "bbkb-local-sharp": System("GlobalLocal-BBKB, sharp", altered("bbkb-local", confidence="sharp")),
}
"""Evolution has the population and tournament of the NAS-Bench-101 authors."""

VARIANTS = ("bbkb-narrow", "bbkb-wide", "bbkb-strict", "bbkb-letter", "bbkb-sharp", "bbkb-local-sharp")
"""To find causes. The engine's α is √C̃·β and the paper's C̃·β; and in the paper, members that lose the draw leave the
dictionary at once (strict). Both together are the paper to the letter. All of them have the β of Theorem 2, but for the
sharp ones, whose β is the engine's default."""
