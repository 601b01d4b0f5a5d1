"""What is known of a study of several quantities: its front, measured and expected, and what can still be on it."""

from dataclasses import replace
from functools import cached_property

import numpy as np

from app.arrays import Array, BoolArray, FloatArray, IndexArray
from app.domain.predictions import Front, FrontPoint, Insight, VolumePoint
from app.domain.studies import Configuration, Constraint, Direction, Objective
from app.engine import rng_at
from app.engine.several import hypervolume, is_possible, non_dominated
from app.engine.several.aims import MARGIN
from app.engine.several.fronts import LARGEST
from app.engine.stability import not_negative
from app.engine.state import State
from app.engine.time_limit import check_time
from app.modelling.aiming import Aiming
from app.modelling.ledger_state import LedgerState
from app.modelling.predicting import Predictions, Predictor
from app.modelling.study_model import SeveralModels, StudyModel

MOST_SHOWN = 200
"""Candidates of the expected front that are shown, those with the best chances."""
MOST_DRAWN = 300
"""Candidates that are drawn jointly: the expected front, then those with the best optimistic values. All others count
as having no chance of being on the front."""
MOST_IN_VOLUME = {1: 10**9, 2: 10**9, 3: 1_000}
"""Points of a front, by the number of objectives, whose volume is computed for the gap; 50 beyond three objectives."""
MOST_VOLUMES = 200
DRAWS = 256
"""Joint draws from which the chance of being on the front is estimated."""


def utilities_of(objective: Objective, values: Array) -> FloatArray:
    """Values in the user's unit, turned so that higher is better; near a target, minus the distance from it."""
    if objective.direction is Direction.MINIMIZE:
        return -values
    return values if objective.target is None else -np.abs(values - objective.target)


def reference_of(configuration: Configuration, points: FloatArray) -> FloatArray:
    """(K,) the reference point in utilities: as stated, else the worst of the front less a share of its range.

    A front of one point has no range. Then that of everything measured counts.
    """
    front = points[non_dominated(points)]
    ranges, widest = np.ptp(front, axis=0), np.ptp(points, axis=0)
    found = front.min(axis=0) - MARGIN * np.where(ranges > 0, ranges, np.where(widest > 0, widest, 1.0))
    for position, objective in enumerate(configuration.objectives):
        if objective.name in configuration.reference:
            stated = np.array([configuration.reference[objective.name]])
            found[position] = utilities_of(objective, stated)[0]
    return np.asarray(found)


class MeasuredFront:
    """What the results alone say, without a model: candidates with a value of every quantity, by their means."""

    def __init__(self, ledger: LedgerState) -> None:
        self._ledger, self._configuration = ledger, ledger.configuration
        self.means = {quantity.name: _means(ledger, quantity.name) for quantity in self._configuration.quantities}
        complete = np.ones(ledger.rows, dtype=bool)
        for means in self.means.values():
            complete &= ~np.isnan(means)
        self.complete: IndexArray = np.flatnonzero(complete)

    @cached_property
    def meets_constraints(self) -> BoolArray:
        """(A,) whether the candidate's mean of every constrained quantity is measured and within its bounds."""
        met = np.ones(self._ledger.rows, dtype=bool)
        for constraint in self._configuration.constraints:
            low, high = _interval(constraint)
            means = self.means[constraint.name]  # no bound holds for NaN
            met &= (means >= low) & (means <= high)
        return met

    @cached_property
    def feasible(self) -> IndexArray:
        """The numbers of the candidates with a value of every quantity that meet every constraint."""
        return self.complete[self.meets_constraints[self.complete]]

    @cached_property
    def points(self) -> FloatArray:
        """(n, K) the utilities of the feasible candidates."""
        return np.column_stack(
            [utilities_of(goal, self.means[goal.name][self.feasible]) for goal in self._configuration.objectives]
        )

    @cached_property
    def reference(self) -> FloatArray | None:
        return reference_of(self._configuration, self.points) if len(self.points) else None

    @property
    def hypervolume(self) -> float | None:
        return None if self.reference is None else hypervolume(self.points, self.reference)

    def front(self) -> tuple[FrontPoint, ...]:
        numbers = self.feasible[non_dominated(self.points)] if len(self.points) else self.feasible
        counts = np.bincount(self._ledger.candidates[self._ledger.counted], minlength=self._ledger.rows)
        return tuple(
            FrontPoint(number, {name: float(means[number]) for name, means in self.means.items()}, int(counts[number]))
            for number in numbers.tolist()
        )


def _interval(constraint: Constraint) -> tuple[float, float]:
    low = -np.inf if constraint.at_least is None else constraint.at_least
    high = np.inf if constraint.at_most is None else constraint.at_most
    return low, high


def hypervolume_above(points: FloatArray, reference: FloatArray) -> float:
    return hypervolume(points, reference) if len(points) else 0.0


def _means(ledger: LedgerState, name: str) -> FloatArray:
    """(A,) the mean of the results of each candidate; NaN where there is none."""
    own = ledger.of(next(quantity for quantity in ledger.configuration.quantities if quantity.name == name))
    candidates, values = own.candidates[own.counted], own.values[own.counted]
    counts = np.bincount(candidates, minlength=ledger.rows)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        return np.asarray(np.bincount(candidates, weights=values, minlength=ledger.rows) / counts)


class FrontReader:
    """The front and the predictions of one study's models, each computed when it is needed."""

    def __init__(self, models: SeveralModels) -> None:
        self._models, self._aiming = models, Aiming(models)
        self._configuration = models.ledger.configuration
        self._measured = MeasuredFront(models.ledger)
        self._predictors = {name: Predictor(model) for name, model in self._aiming.known.items()}

    def predictions(self) -> Predictions:
        """Those of the first quantity, with all quantities and the chances beside them."""
        known = {name: predictor.predictions() for name, predictor in self._predictors.items()}
        first = next(iter(known.values()), None) or Predictor(self._models.first).predictions()
        chances = {
            "feasible": self._aiming.feasible,
            "success": self._aiming.success,
            "on_front": self._possible,
            "front_chance": None if self._possible is None else self._front_chances,
        }
        return replace(
            first,
            counts=self._aiming.counts,
            quantities=known,
            chances={name: array for name, array in chances.items() if array is not None},
        )

    def insight(self) -> Insight:
        return Insight(front=self.front())

    def front(self) -> Front:
        measured = self._measured
        reference = measured.reference
        names = [objective.name for objective in self._configuration.objectives]
        theory = self._configuration.theory
        front = Front(
            measured=measured.front(),
            feasible=len(measured.feasible),
            estimate=theory is None,
            hypervolume=measured.hypervolume,
        )
        if reference is not None:
            turned = [
                float(-value if goal.direction is Direction.MINIMIZE else value)
                for goal, value in zip(self._configuration.objectives, reference.tolist(), strict=True)
            ]
            front = replace(front, reference=dict(zip(names, turned, strict=True)))
        if self._possible is None:
            return front
        return replace(
            front,
            expected=self._expected(),
            possible=int((self._possible & self._available).sum()),
            gap=self._gap(),
            confidence=1 - (0.05 if theory is None else theory.delta),
        )

    @property
    def _available(self) -> BoolArray:
        return self._models.first.state.available

    @cached_property
    def _bounds(self) -> tuple[FloatArray, FloatArray] | None:
        """Lower and upper bounds (A, K) of the utilities, in the user's units and within the limits."""
        if len(self._aiming.objectives) < len(self._configuration.objectives):
            return None
        bounds = [self._utility_bounds(objective) for objective in self._aiming.objectives]
        return np.column_stack([low for low, _ in bounds]), np.column_stack([high for _, high in bounds])

    def _utility_bounds(self, objective: Objective) -> tuple[FloatArray, FloatArray]:
        predictions = self._predictors[objective.name].predictions()
        low, high = predictions.lower, predictions.upper
        if objective.limits is not None:
            low, high = (np.clip(side, objective.limits.low, objective.limits.high) for side in (low, high))
        ends = utilities_of(objective, low), utilities_of(objective, high)
        lowest, highest = np.minimum(*ends), np.maximum(*ends)
        if objective.target is not None:
            highest = np.where((low <= objective.target) & (objective.target <= high), 0.0, highest)
        return lowest, highest

    @cached_property
    def _possible(self) -> BoolArray | None:
        """(A,) whether each candidate can still be on the front: it may be feasible, and nothing surely beats it."""
        if self._bounds is None:
            return None
        lower, upper = self._bounds
        surely, maybe = self._feasibility
        least = np.where(surely[:, None], lower, -np.inf)
        return np.asarray(is_possible(least, upper) & maybe)

    @cached_property
    def _feasibility(self) -> tuple[BoolArray, BoolArray]:
        """(A,) each: surely feasible, and perhaps feasible, by the confidence bounds."""
        surely, maybe = (np.ones(self._models.ledger.rows, dtype=bool) for _ in range(2))
        for constraint in self._configuration.constraints:
            if constraint.name not in self._predictors:
                surely[:] = False
                continue
            predictions = self._predictors[constraint.name].predictions()
            low, high = _interval(constraint)
            surely &= (predictions.lower >= low) & (predictions.upper <= high)
            maybe &= (predictions.upper >= low) & (predictions.lower <= high)
        return surely, maybe

    def _gap(self) -> float | None:
        """Hypervolume between the optimistic and the pessimistic front: how much can still be gained at most."""
        if self._bounds is None or self._measured.reference is None:
            return None
        lower, upper = self._bounds
        surely, maybe = self._feasibility
        optimistic, pessimistic = upper[maybe & self._available], lower[surely]
        optimistic, pessimistic = (side[non_dominated(side)] for side in (optimistic, pessimistic))
        if max(len(optimistic), len(pessimistic)) > MOST_IN_VOLUME.get(lower.shape[1], 50):
            return None  # the volume would take long
        reference = self._measured.reference
        highest = hypervolume(optimistic, reference)
        if highest == LARGEST:
            return None  # no number is large enough
        return max(0.0, highest - hypervolume(pessimistic, reference))

    def _expected(self) -> tuple[FrontPoint, ...]:
        """The front of the expected values, those with the best chances."""
        numbers, chances = self._expected_front, self._front_chances
        best = numbers[np.argsort(-chances[numbers], kind="stable")][:MOST_SHOWN]
        return tuple(self._point(number, float(chances[number])) for number in sorted(best.tolist()))

    @cached_property
    def _expected_front(self) -> IndexArray:
        """The front of the expected values among available candidates that are expected to be feasible."""
        numbers = np.flatnonzero(self._available & self._aiming.meets_constraints())
        return numbers[non_dominated(self._expected_points(numbers))] if len(numbers) else numbers

    def _expected_points(self, numbers: IndexArray) -> FloatArray:
        goals = self._aiming.objectives
        return np.column_stack([utilities_of(goal, self._predictors[goal.name].mean[numbers]) for goal in goals])

    def _point(self, number: int, chance: float) -> FrontPoint:
        return FrontPoint(
            number,
            {name: float(predictor.mean[number]) for name, predictor in self._predictors.items()},
            int(self._aiming.counts[number]),
            {name: float(predictor.std[number]) for name, predictor in self._predictors.items()},
            chance,
            None if self._aiming.feasible is None else float(self._aiming.feasible[number]),
        )

    @cached_property
    def _front_chances(self) -> FloatArray:
        """(A,) the chance of being on the front, by joint draws of the candidates that are likely to be."""
        numbers = self._drawn_candidates(self._expected_front)
        ledger, chance = self._models.ledger, np.zeros(self._models.ledger.rows)
        if not len(numbers):
            return chance
        rng = rng_at(self._configuration.seed, "front", len(ledger.bases) + 1)
        draws = {}
        for name, model in self._aiming.known.items():
            draws[name] = model.to_user(_joint_draws(model.state, numbers, rng))
        points = np.stack([utilities_of(goal, draws[goal.name]) for goal in self._aiming.objectives], axis=2)
        feasible = np.ones(points.shape[:2], dtype=bool)
        for constraint in self._aiming.constraints:
            low, high = _interval(constraint)
            feasible &= (draws[constraint.name] >= low) & (draws[constraint.name] <= high)
        points = np.where(feasible[:, :, None], points, -np.inf)
        on_front = np.array([non_dominated(draw) for draw in points]) & feasible
        chance[numbers] = on_front.mean(axis=0)
        return chance

    def _drawn_candidates(self, front: IndexArray) -> IndexArray:
        """The expected front, then those that can still be on it with the best optimistic values."""
        lower_upper = self._bounds
        if lower_upper is None or self._possible is None:
            return front[:MOST_DRAWN]
        others = np.setdiff1d(np.flatnonzero(self._possible & self._available), front)
        optimism = lower_upper[1][others]
        spread = np.ptp(optimism, axis=0) if len(others) else np.ones(optimism.shape[1])
        rank = (optimism / np.where(spread > 0, spread, 1.0)).sum(axis=1)
        return np.sort(np.concatenate((front, others[np.argsort(-rank, kind="stable")]))[:MOST_DRAWN])


def _joint_draws(state: State, numbers: IndexArray, rng: "np.random.Generator") -> FloatArray:
    """(DRAWS, n) of the posterior, in model units."""
    Z = state.embedding.columns(numbers)
    X = state.X[numbers].astype(float)
    prior = state.settings.kernel.matrix(X, X)
    covariance = prior - Z.T @ Z + state.settings.lam * (Z.T @ state.V_inverse(Z))
    values, vectors = np.linalg.eigh((covariance + covariance.T) / 2)
    root = vectors * np.sqrt(not_negative(values))
    return np.asarray(state.mean[numbers] + rng.standard_normal((DRAWS, len(numbers))) @ root.T)


def front_of(model: StudyModel) -> Front:
    """The front of any study; with one objective it is the best candidate."""
    if isinstance(model, SeveralModels):
        return FrontReader(model).front()
    return FrontReader(SeveralModels(model.ledger, {model.ledger.configuration.objective.name: model})).front()


def predictions_of(model: StudyModel) -> Predictions:
    """What the model says of every candidate."""
    return FrontReader(model).predictions() if isinstance(model, SeveralModels) else Predictor(model).predictions()


def insight_of(model: StudyModel) -> Insight:
    """The certificate and the best candidate of one objective, or the front of several."""
    return FrontReader(model).insight() if isinstance(model, SeveralModels) else Predictor(model).insight()


def hypervolumes_of(ledger: LedgerState) -> tuple[VolumePoint, ...]:
    """How the measured front grew, above the reference of today; empty while there is none."""
    reference = MeasuredFront(ledger).reference
    if ledger.configuration.is_plain or reference is None:
        return ()
    numbers = np.flatnonzero(ledger.counted)
    shown = np.unique(np.linspace(0, len(numbers) - 1, min(len(numbers), MOST_VOLUMES)).astype(np.int64))
    volumes = []
    for number in numbers[shown].tolist():
        check_time()
        points = MeasuredFront(ledger.until(number + 1)).points
        volumes.append(VolumePoint(number + 1, hypervolume_above(points, reference)))
    return tuple(volumes)
