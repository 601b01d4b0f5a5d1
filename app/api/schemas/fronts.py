"""Fronts of several objectives on the wire."""

from collections.abc import Sequence

from pydantic import Field

from app.api.schemas.shape import Shape
from app.domain.predictions import FrontPoint, number_in_words, share_in_words
from app.services.workflows.summarise import KeyedFront


class FrontPointOut(Shape):
    key: str
    candidate: int
    values: dict[str, float] = Field(description="Measured means, or what the models expect, by quantity.")
    measurements: int
    std: dict[str, float] = Field(description="Of the expected values.")
    chance: float | None = Field(description="Chance of being on the front.")
    feasible: float | None = Field(description="Chance of meeting the constraints.")


class FrontOut(Shape):
    """The candidates of which no other is at least as good in every objective and better in one.

    It holds only candidates that meet the constraints.
    """

    measured: tuple[FrontPointOut, ...]
    expected: tuple[FrontPointOut, ...] = Field(description="By the models' expectations, at most 200.")
    hypervolume: float | None = Field(description="That the measured front dominates, above the reference.")
    reference: dict[str, float] = Field(description="As stated, else a little worse than the worst of the front.")
    possible: int | None = Field(description="Candidates that can still be on the front.")
    gap: float | None = Field(
        description="Hypervolume that can still be gained at most; null if that takes long, or no number is that large."
    )
    confidence: float | None
    estimate: bool = Field(description="True in auto mode: the models were fitted, so it is no guarantee.")
    feasible: int | None = Field(description="Measured candidates that meet the constraints.")
    words: str


def front_out(keyed: KeyedFront) -> FrontOut:
    def points(found: Sequence[FrontPoint]) -> tuple[FrontPointOut, ...]:
        return tuple(FrontPointOut(**vars(point), key=keyed.keys[point.candidate]) for point in found)

    front = keyed.front
    shown = vars(front) | {"measured": points(front.measured), "expected": points(front.expected)}
    return FrontOut(**shown, words=front_in_words(keyed))


def front_in_words(keyed: KeyedFront) -> str:
    front = keyed.front
    if not keyed.ledger.observations:
        return "Nothing has been measured yet."
    one = len(keyed.ledger.configuration.objectives) == 1
    if not front.measured:
        return _nothing_yet(keyed)
    best = ", ".join(keyed.keys[point.candidate] for point in front.measured[:3])
    more = f" and {len(front.measured) - 3} more" if len(front.measured) > 3 else ""
    words = _best_in_words(keyed, best + more) if one else f"On the front: {best}{more}."
    if front.possible is None:
        return words
    basis = "By the fitted models" if front.estimate else f"With {share_in_words(front.confidence or 0)} confidence"
    others = "candidate can" if front.possible == 1 else "candidates can"
    return f"{words} {basis}, {front.possible:,} {others} still be {'the best' if one else 'on it'}."


def _nothing_yet(keyed: KeyedFront) -> str:
    """Why there is no front: usually, somebody forgot to report a quantity."""
    ledger = keyed.ledger
    never = [quantity.name for quantity in ledger.configuration.quantities if not ledger.of(quantity).observations]
    if not never:
        return "No candidate with all its values measured meets the constraints yet."
    names = " and ".join([", ".join(never[:-1]), never[-1]] if len(never) > 1 else never)
    return f"Nobody has reported {names} yet, so no candidate is known to be on the front."


def _best_in_words(keyed: KeyedFront, keys: str) -> str:
    """The best value of the only objective, and which candidates have it."""
    configuration = keyed.ledger.configuration
    objective = configuration.objective
    limits = " among those that meet the constraints" if configuration.constraints else ""
    value = number_in_words(keyed.front.measured[0].values[objective.name])
    return f"Best so far{limits}: {keys}, {f'{objective.name} {value} {objective.unit}'.strip()}."
