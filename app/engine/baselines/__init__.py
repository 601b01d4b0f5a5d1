"""Baselines behind the interface of the family: `choose(state, ask) -> Batch`.

They have no rule: a batch has `min_size` members, and nothing is guaranteed about it.
"""

from app.engine.baselines.evolution import Evolution
from app.engine.baselines.greedy import epsilon_greedy
from app.engine.baselines.thompson import thompson
from app.engine.baselines.uniform import uniform

__all__ = ["Evolution", "epsilon_greedy", "thompson", "uniform"]
