"""From a fit to choices: the goal and its options, what is asked of the engine, and which candidate to recommend."""

import math
from dataclasses import dataclass, fields, replace
from typing import Any, Literal, Self

import numpy as np

from app.arrays import FloatArray, IndexArray
from app.engine.ask import NO_LIMIT
from app.engine.auto.fitting import FittedModel
from app.engine.auto.observed import Observed
from app.engine.lifecycle import start_from
from app.engine.settings import EngineSettings
from app.engine.state import State

Goal = Literal["best", "production", "explore"]

NOISE_WORTH_REPEATING = 0.01
"""λ in units of the objective's variance: below this, a repeat teaches next to nothing."""


@dataclass(frozen=True)
class AutoOptions:
    """The options of auto mode; `AutoOptions.of(goal)` has the defaults of a goal, the one knob most users need."""

    goal: Goal = "best"
    multiplier: float = 2.0
    """How many posterior standard deviations of optimism: alpha = multiplier·√λ."""
    repeats: int | None = 2
    """The most measurements of one candidate, where they are noisy; None: no limit."""
    noisy: bool | None = None
    """Whether a repeated measurement differs; None: judged from the measurements."""
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
        repeats = 1 if self.repeats is None else self.repeats
        if self.multiplier < 0 or self.threshold < 1 or self.members < 1 or repeats < 1:
            raise ValueError("multiplier ≥ 0, threshold ≥ 1, members ≥ 1 and repeats ≥ 1 are required")

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


def settings_for(fit: FittedModel, options: AutoOptions, seed: int, candidates: int) -> EngineSettings:
    """The engine's settings for that many candidates: exact while that is affordable, a greedy dictionary beyond.

    ξ is the fitted noise and F the norm of the fitted mean, at least 1: a certificate made with them is an estimate.
    """
    return EngineSettings(
        kernel=fit.kernel,
        lam=fit.lam,
        xi=math.sqrt(fit.lam),
        F=max(1.0, fit.norm),
        threshold=options.threshold,
        rule="global",
        dictionary="all" if options.exact_for(candidates, fit.distinct) else "greedy",
        members=options.members_for(candidates),
        hallucination="full",
        seed=seed,
    )


def state_for(
    X: FloatArray, fit: FittedModel, observed: Observed, options: AutoOptions, seed: int, step: int = 1
) -> State:
    """The engine's state for all measurements so far."""
    return start_from(X, settings_for(fit, options, seed, len(X)), *sums_for(fit, observed), step)


def sums_for(fit: FittedModel, observed: Observed) -> tuple[IndexArray, FloatArray]:
    """counts and sums (A,) in model units, for `start_from`."""
    return observed.counts, observed.sums(fit.objective.to_model(observed.values))


def alpha_for(fit: FittedModel, options: AutoOptions) -> float:
    """`Ask.alpha`: the multiplier in posterior standard deviations, √variance = √λ·√leverage."""
    return options.multiplier * math.sqrt(fit.lam)


def is_noisy(fit: FittedModel | None, observed: Observed, options: AutoOptions) -> bool:
    """What the user says; else what repeats show; else whether the fitted noise is worth a repeat."""
    if options.noisy is not None:
        return options.noisy
    differing = observed.repeats_differ()
    if differing is not None:
        return differing
    return fit is not None and fit.lam > NOISE_WORTH_REPEATING


def limits_for(observed: Observed, pending: IndexArray, options: AutoOptions, noisy: bool) -> IndexArray:
    """(A,) how often each candidate may be chosen in the next batch, for `Ask.limit`.

    Noiseless: only what was never measured nor handed out, because a repeat of a known value is a measurement lost.
    Noisy: never twice in one batch, and `repeats` measurements in all. With unlimited repeats (production) every
    candidate may be chosen without limit, noisy or not.
    """
    used = observed.counts + pending
    if options.repeats is None:
        return np.full(len(used), NO_LIMIT, dtype=np.int64)
    allowed = options.repeats if noisy else 1
    left: IndexArray = np.clip(allowed - used, 0, 1).astype(np.int64)
    return left


def recommended(state: State, fit: FittedModel, observed: Observed, noisy: bool, among: IndexArray) -> int | None:
    """Which candidate to use in the end: of the measured ones `among` these numbers, the one with the best posterior
    mean; where measurements have no noise, the one with the best value.

    None if none of them was measured; the smallest number of equals. A lower bound would be the wrong measure: it
    prefers what lies between many good candidates to the best of them.
    """
    measured = among[observed.counts[among] > 0]
    if len(measured) == 0:
        return None
    if noisy:
        return int(measured[np.argmax(state.mean[measured])])
    counts, sums = sums_for(fit, observed)
    return int(measured[np.argmax(sums[measured] / counts[measured])])
