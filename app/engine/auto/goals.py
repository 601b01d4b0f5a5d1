"""What the user wants of a study: one knob for people who want no others, and the knobs behind it."""

from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

Goal = Literal["best", "production", "explore"]


@dataclass(frozen=True)
class Options:
    """The settings of auto mode; `Options.of(goal)` has the defaults of a goal."""

    goal: Goal = "best"
    multiplier: float = 2.0
    """How many posterior standard deviations of optimism: alpha = multiplier·√λ."""
    repeats: int | None = 2
    """Measurements of one candidate at most, where they are noisy; None: without limit."""
    noisy: bool | None = None
    """Whether a repeated measurement differs; None: judged from the measurements."""
    threshold: float = 2.0
    """Where the adaptive rule ends a batch whose size is left to it."""
    exact_up_to: int = 300
    """Distinct measured candidates that all stay in the dictionary; beyond, it is sampled."""
    members: int = 400
    """Members of a sampled dictionary, within a small factor: what a batch of a long study costs."""

    def __post_init__(self) -> None:
        if self.multiplier < 0 or min(self.threshold, self.members, 1 if self.repeats is None else self.repeats) < 1:
            raise ValueError("multiplier ≥ 0, threshold ≥ 1, members ≥ 1 and repeats ≥ 1 are required")

    @classmethod
    def of(cls, goal: Goal = "best", **changes: Any) -> Self:
        """The defaults of a goal, with some changed."""
        if goal not in PRESETS:
            raise ValueError(f"unknown goal {goal!r}: {', '.join(PRESETS)}")
        known = {field.name for field in fields(cls)} - {"goal"}
        if not known.issuperset(changes):
            raise ValueError(f"unknown options {sorted(changes.keys() - known)}: {', '.join(sorted(known))}")
        return replace(cls(goal=goal, **PRESETS[goal]), **changes)

    def describe(self) -> dict[str, Any]:
        """Plain JSON; `Options.of(**description)` is the inverse."""
        return dict(self.__dict__)


PRESETS: dict[Goal, dict[str, Any]] = {
    "best": {},
    "production": {"repeats": None},
    "explore": {"multiplier": 2.5},
}
"""best: find the best candidate. production: every measurement is also a product, so good ones may be repeated for
ever. explore: learn more widely."""
