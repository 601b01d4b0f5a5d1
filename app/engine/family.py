"""The family by name: one engine, differently configured, and baselines behind the same interface.

A member is a function `choose(state, ask) -> Batch` and the settings it insists on; `measure` and the other verbs
serve all.
"""

from dataclasses import dataclass, field
from typing import Any

from app.engine.ask import Choose
from app.engine.baselines import Evolution, epsilon_greedy, thompson, uniform
from app.engine.batch import choose
from app.engine.settings import Settings


@dataclass(frozen=True)
class Member:
    """One algorithm: how it chooses, and the settings that make it what it is."""

    choose: Choose
    insists_on: dict[str, Any] = field(default_factory=dict)

    def settings(self, wanted: Settings) -> Settings:
        """The wanted settings with those of the algorithm."""
        return wanted.but(**self.insists_on)


EXACT_MODEL = {"dictionary": "all", "hallucination": "full"}
NO_MODEL = {"dictionary": "none"}

FAMILY: dict[str, Member] = {
    "bbkb": Member(choose, {"dictionary": "sampled", "rule": "global"}),
    "bbkb-local": Member(choose, {"dictionary": "sampled", "rule": "local"}),
    "bbkb-exact": Member(choose, {"dictionary": "sampled", "rule": "exact"}),
    "bkb": Member(choose, {"dictionary": "sampled", "rule": "sequential", "threshold": 1.0}),
    "gp-ucb": Member(choose, {**EXACT_MODEL, "rule": "sequential", "threshold": 1.0}),
    "gp-bucb": Member(choose, {**EXACT_MODEL, "rule": "product"}),
    "gp-aucb": Member(choose, {**EXACT_MODEL, "rule": "product"}),
    "gp-bucb-global": Member(choose, {**EXACT_MODEL, "rule": "global"}),
    "uniform": Member(uniform, NO_MODEL),
    "epsilon-greedy": Member(epsilon_greedy, {"dictionary": "sampled"}),
    "thompson": Member(thompson, {"dictionary": "sampled"}),
    "evolution": Member(Evolution(), NO_MODEL),
}
"""gp-bucb and gp-aucb differ only in who fixes the size: the caller's min_size = max_size, or the rule."""


def member(name: str) -> Member:
    """The algorithm of that name."""
    if name not in FAMILY:
        raise ValueError(f"no algorithm is called {name!r}; there are {', '.join(sorted(FAMILY))}")
    return FAMILY[name]
