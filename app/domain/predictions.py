"""What a study's model says: of one candidate, of the best one, and of how much better any other could be."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import floor, log10
from typing import Any, Literal

from app.domain.studies import Configuration


@dataclass(frozen=True)
class QuantityPrediction:
    """What the model of one of several quantities says of a candidate."""

    mean: float
    std: float
    lower: float
    upper: float


@dataclass(frozen=True)
class Prediction:
    """What the model says of one candidate, in the user's units."""

    mean: float
    std: float
    lower: float
    upper: float
    counts: int  # measurements so far
    pending: int  # measurements that were handed out and not yet reported
    quantities: Mapping[str, QuantityPrediction] = field(default_factory=dict)  # of several, by name
    feasible: float | None = None  # chance that all constraints are met
    success: float | None = None  # chance that a measurement gives a value
    on_front: bool | None = None  # whether it can still be on the front
    front_chance: float | None = None  # chance of being on the front


@dataclass(frozen=True)
class FrontPoint:
    """A candidate of a front: its measured means, or what the models expect, by quantity."""

    candidate: int
    values: Mapping[str, float]
    measurements: int = 0
    std: Mapping[str, float] = field(default_factory=dict)
    chance: float | None = None  # of being on the front
    feasible: float | None = None  # chance of meeting the constraints


@dataclass(frozen=True)
class Front:
    """What is known of the front of a study: measured, expected, and how much it can still change."""

    measured: tuple[FrontPoint, ...] = ()
    expected: tuple[FrontPoint, ...] = ()
    reference: Mapping[str, float] = field(default_factory=dict)
    hypervolume: float | None = None  # that the measured front dominates, above the reference
    possible: int | None = None  # candidates that can still be on the front
    gap: float | None = None  # hypervolume between what may be reached and what is certain
    confidence: float | None = None
    estimate: bool = True  # the models were fitted to the results
    feasible: int | None = None  # candidates whose measured means meet the constraints


@dataclass(frozen=True)
class VolumePoint:
    """The hypervolume of the measured front after so many observations."""

    observation: int
    hypervolume: float


@dataclass(frozen=True)
class BestObserved:
    """The candidate whose measured values are best on average."""

    candidate: int
    mean: float
    measurements: int


@dataclass(frozen=True)
class BestPredicted:
    """The available candidate with the best posterior mean."""

    candidate: int
    mean: float
    std: float


@dataclass(frozen=True)
class Certificate:
    """The recommended candidate, and a bound on how much better any other candidate can be."""

    recommended: int
    mean: float
    lower: float
    upper: float
    regret_bound: float
    confidence: float
    estimate: bool  # the assumptions were fitted to the data (auto mode), so it is no guarantee
    assumptions: tuple[str, ...]


@dataclass(frozen=True)
class Fit:
    """The model that auto mode fitted, complete enough to be built again to the last bit."""

    form: str
    theta: tuple[float, ...]  # logarithms of the hyperparameters
    kernel: Mapping[str, Any]  # the kernel's description
    lam: float
    objective: Mapping[str, Any]  # from the user's values to the model's
    log_evidence: float
    norm: float
    observations: int
    distinct: int
    version: int


@dataclass(frozen=True)
class RemainingGain:
    """How much better than the recommended candidate the best one is, in the user's units."""

    expected: float
    upper: float  # with 95 % probability it is at most this


@dataclass(frozen=True)
class NextBatch:
    """What the next batch promises: the chance that it holds a better candidate, and the expected gain."""

    chance: float
    gain: float


@dataclass(frozen=True)
class Advice:
    """What to do next, and why, in words."""

    do: Literal["ask", "wait for results", "stop"]
    why: str


@dataclass(frozen=True)
class Outlook:
    """What further measurements can still bring, by joint draws from the fitted model (auto mode)."""

    advice: Advice
    remaining_gain: RemainingGain | None = None
    chance_best_is_measured: float | None = None
    next_batch: NextBatch | None = None
    candidates_still_possible: int | None = None
    unknown: str = ""  # why these four are None


@dataclass(frozen=True)
class Insight:
    """What is known after a prefix of the ledger; each part is None until something has been measured."""

    certificate: Certificate | None = None
    best_predicted: BestPredicted | None = None
    outlook: Outlook | None = None  # None in theory mode, too
    front: Front | None = None  # of several quantities


def number_in_words(value: float, digits: int = 4) -> str:
    """At least so many significant digits, as people write them: 158,300, and not 1.583e+05."""
    if value == 0 or not 1e-4 <= abs(value) < 1e15:
        return f"{value:.{digits}g}"
    decimals = max(0, digits - 1 - floor(log10(abs(value))))
    text = f"{value:,.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def share_in_words(share: float) -> str:
    """A share as a percentage: 33 %; one that is nearly nothing or nearly all is not rounded to that."""
    if share < 0.005:
        return "less than 1 %"
    return "more than 99 %" if 0.995 < share < 1 else f"{share * 100:.0f} %"


def difference_in_words(difference: float, unit: str) -> str:
    """An estimated difference of two values with its unit: that of two percentages is in percentage points."""
    shown = unit.strip()
    return f"{number_in_words(float(f'{difference:.3g}'), 3)} {'percentage points' if shown == '%' else shown}".rstrip()


def price_in_words(term: str, price: float, configuration: Configuration) -> str:
    """What a term of a request costs: with one objective in its unit, with several as a share of the hypervolume."""
    if price <= 0:
        return f"`{term}` costs nothing: without it, the batch is not expected to find anything better."
    if len(configuration.objectives) > 1:
        share = f"{price * 100:.2f} %" if price >= 5e-5 else "less than 0.01 %"
        return f"`{term}` costs {share} of the hypervolume that the front is expected to dominate without it."
    lost = difference_in_words(price, configuration.objective.unit)
    return f"`{term}` costs {lost}: without it, the best of the batch is expected to be that much better."
