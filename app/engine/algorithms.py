"""The algorithms by name: one engine in different configurations, and baselines behind the same interface."""

from dataclasses import dataclass, field
from typing import Any

from app.engine.ask import Choose
from app.engine.baselines import Evolution, epsilon_greedy, thompson, uniform
from app.engine.batch import choose
from app.engine.settings import EngineSettings


@dataclass(frozen=True)
class Algorithm:
    """How it chooses, and the settings that make it what it is; `measure` and the other verbs serve all."""

    choose: Choose
    required: dict[str, Any] = field(default_factory=dict)

    def settings(self, requested: EngineSettings) -> EngineSettings:
        """The requested settings, with those that the algorithm requires."""
        return requested.replace(**self.required)


EXACT_MODEL = {"dictionary": "all", "hallucination": "full"}
NO_MODEL = {"dictionary": "none"}

ALGORITHMS: dict[str, Algorithm] = {
    "bbkb": Algorithm(choose, {"dictionary": "sampled", "rule": "global"}),
    "bbkb-local": Algorithm(choose, {"dictionary": "sampled", "rule": "local"}),
    "bbkb-exact": Algorithm(choose, {"dictionary": "sampled", "rule": "exact"}),
    "bkb": Algorithm(choose, {"dictionary": "sampled", "rule": "sequential", "threshold": 1.0}),
    "gp-ucb": Algorithm(choose, {**EXACT_MODEL, "rule": "sequential", "threshold": 1.0}),
    "gp-bucb": Algorithm(choose, {**EXACT_MODEL, "rule": "product"}),
    "gp-aucb": Algorithm(choose, {**EXACT_MODEL, "rule": "product"}),
    "gp-bucb-global": Algorithm(choose, {**EXACT_MODEL, "rule": "global"}),
    "uniform": Algorithm(uniform, NO_MODEL),
    "epsilon-greedy": Algorithm(epsilon_greedy, {"dictionary": "sampled"}),
    "thompson": Algorithm(thompson, {"dictionary": "sampled"}),
    "evolution": Algorithm(Evolution(), NO_MODEL),
}
"""gp-bucb and gp-aucb differ only in who fixes the size: the caller's min_size = max_size, or the rule."""


def algorithm_named(name: str) -> Algorithm:
    """The algorithm of that name."""
    if name not in ALGORITHMS:
        raise ValueError(f"no algorithm is called {name!r}; there are {', '.join(sorted(ALGORITHMS))}")
    return ALGORITHMS[name]
