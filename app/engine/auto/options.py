"""What auto mode can be told: the goal, the one knob most users need, and the options behind it."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

Goal = Literal["best", "production", "explore"]


@dataclass(frozen=True)
class AutoOptions:
    """The options of auto mode; `AutoOptions.of(goal)` has the defaults of a goal, the one knob most users need."""

    goal: Goal = "best"
    multiplier: float = 2.0
    """How many posterior standard deviations of optimism: alpha = multiplier·√λ."""
    repeats: int | Literal["decided"] | None = "decided"
    """The most measurements of one candidate, where they are noisy; decided: as many as are worth more than others;
    None: no limit."""
    noisy: bool | None = None
    """Whether a repeated measurement differs; None: judged from the measurements."""
    noise: float | None = None
    """Standard deviation of a measurement in the user's units, where it is known; None: fitted."""
    threshold: float = 2.0
    """Where the adaptive rule ends a batch whose size is left to it."""
    exact_up_to: int = 300
    """Up to this many distinct measured candidates, the model is always exact: all are in the dictionary."""
    exact_work: float = 2.5e10
    """It also is while A·n² of n distinct ones is at most this, about two seconds for a new fit. Beyond, the dictionary
    stops growing, and its members are chosen for the prediction."""
    members: int = 400
    """The least number of members to stop at, however long the list is."""

    def __post_init__(self) -> None:
        repeats = self.repeats if isinstance(self.repeats, int) else 1
        if self.multiplier < 0 or self.threshold < 1 or self.members < 1 or repeats < 1:
            raise ValueError("multiplier ≥ 0, threshold ≥ 1, members ≥ 1 and repeats ≥ 1 are required")
        if self.noise is not None and not self.noise > 0:
            raise ValueError("a stated noise must be positive; without noise, say noisy=False")

    @classmethod
    def of(cls, goal: Goal = "best", **changes: Any) -> Self:
        """The defaults of a goal, with some changed."""
        if goal not in PRESETS:
            raise ValueError(f"unknown goal {goal!r}: {', '.join(PRESETS)}")
        names = {field.name for field in fields(cls)} - {"goal"}
        if not names.issuperset(changes):
            raise ValueError(f"unknown options {sorted(changes.keys() - names)}: {', '.join(sorted(names))}")
        return replace(cls(goal=goal, **PRESETS[goal]), **changes)

    def exact_for(self, candidates: int, distinct: int) -> bool:
        """Whether the exact model is affordable."""
        return distinct <= self.exact_up_to or candidates * distinct**2 <= self.exact_work

    def members_for(self, candidates: int) -> int:
        """How many members a dictionary has at most: as many as the exact model may have, at least `members`."""
        return max(self.exact_up_to, self.members, math.isqrt(int(self.exact_work / max(candidates, 1))))

    def describe(self) -> dict[str, Any]:
        """Plain JSON; `AutoOptions.of(**description)` is the inverse."""
        return dict(self.__dict__)


PRESETS: dict[Goal, dict[str, Any]] = {
    "best": {},
    "production": {"repeats": None},
    "explore": {"multiplier": 2.5},
}
"""best: find the best candidate. production: every measurement is also a product, so good candidates may be repeated
without limit. explore: learn more widely."""
