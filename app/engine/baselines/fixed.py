"""Batches of a fixed size: the baselines have no rule to end one, so they give the least number asked for."""

import math
from collections.abc import Callable

import numpy as np

from app.engine.arrays import Array, Flags
from app.engine.ask import Ask, Batch, Ended
from app.engine.batch import may_choose
from app.engine.state import State

Pick = Callable[[Flags], tuple[int, float]]
"""One candidate among the allowed ones, and the value for which it is chosen."""


def fixed_size(state: State, ask: Ask, pick: Pick) -> Batch:
    """`min_size` picks, one after the other; nothing about them is guaranteed."""
    left = may_choose(state, ask)
    picks: list[int] = []
    values: list[float] = []
    while len(picks) < ask.min_size and left.any():
        number, value = pick(left > 0)
        left[number] -= 1
        picks.append(number)
        values.append(value)
    ended: Ended = "size" if len(picks) == ask.min_size else "exhausted"
    return Batch(np.array(picks, dtype=np.int64), ended, np.array(values), ratio_bound=math.inf, guaranteed=False)


def best(values: Array, allowed: Flags) -> tuple[int, float]:
    """The allowed candidate of the highest value, the smallest number among equals."""
    number = int(np.argmax(np.where(allowed, values, -np.inf)))
    return number, float(values[number])
