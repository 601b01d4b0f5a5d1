"""A study at a glance, now or as it was at an earlier event; and what its model says of every candidate."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
from sqlalchemy import Connection

from app.arrays import Array, BoolArray, FloatArray, IndexArray
from app.compute.ledger_states import LedgerPrefix
from app.domain.access import Actor
from app.domain.batches import Batch
from app.domain.candidates import expense_column
from app.domain.clock import ago, now
from app.domain.errors import Finding, Invalid
from app.domain.predictions import BestObserved, BestPredicted, Certificate, Front, Insight, Outlook, VolumePoint
from app.domain.studies import Study
from app.modelling.front_reading import MeasuredFront, utilities_of
from app.modelling.ledger_state import LedgerState
from app.modelling.predicting import Predictions
from app.modelling.spending import Spending, spending_of
from app.services.resources import Resources
from app.services.transactions import ReadTransactions
from app.services.use_cases import studies
from app.storage import batches as batch_rows
from app.storage.candidate_set import CandidateSet

MOST_POINTS = 2_000


@dataclass(frozen=True)
class OpenBatch:
    batch: Batch
    pending: int
    overdue: bool


@dataclass(frozen=True)
class KeyedFront:
    """A front, and the keys of its candidates."""

    front: Front
    ledger: LedgerState
    keys: Mapping[int, str]


@dataclass(frozen=True)
class StudySummary:
    study: Study
    ledger: LedgerState
    finished: str | None  # the stop rule that is met
    best_observed: BestObserved | None
    best_predicted: BestPredicted | None
    certificate: Certificate | None
    outlook: Outlook | None
    front: KeyedFront | None  # of several objectives, or with constraints
    keys: Mapping[int, str]  # of the candidates named above
    open_batches: tuple[OpenBatch, ...]
    spending: Spending | None  # if the candidates have costs


@dataclass(frozen=True)
class ProgressPoint:
    observation: int
    candidate: int
    value: float
    best: float | None  # so far; None while no result is of a candidate that meets the constraints


def summarise(resources: Resources, tx: ReadTransactions, name: str, as_of: int | None) -> StudySummary:
    study, state = tx.read(_read_state, resources, name, as_of)
    insight = Insight() if not state.blocks else resources.compute.insight(_prefix(study, state))
    observed, regret_bound = _best_observed(state), None
    numbers = {best.candidate for best in (observed, insight.best_predicted) if best is not None}
    if insight.certificate is not None:
        numbers.add(insight.certificate.recommended)
        regret_bound = insight.certificate.regret_bound
    return StudySummary(
        study=study,
        ledger=state,
        finished=state.configuration.stop.reason(state.observations, now(), regret_bound),
        best_observed=observed,
        best_predicted=insight.best_predicted,
        certificate=insight.certificate,
        outlook=insight.outlook,
        front=None if insight.front is None else _keyed(resources, tx, study, state, insight.front),
        keys=tx.read(_read_keys, resources, study, sorted(numbers)),
        open_batches=tx.read(_read_open_batches, study, state),
        spending=None
        if expense_column(state.columns, "cost") is None
        else tx.read(_read_spending, resources, study, state),
    )


def read_front(resources: Resources, tx: ReadTransactions, name: str, as_of: int | None) -> KeyedFront:
    """The front of any study; with one objective it is the best candidate."""
    study, state = tx.read(_read_state, resources, name, as_of)
    front = resources.compute.front(_prefix(study, state)) if state.blocks else Front()
    return _keyed(resources, tx, study, state, front)


def _keyed(resources: Resources, tx: ReadTransactions, study: Study, state: LedgerState, front: Front) -> KeyedFront:
    numbers = sorted({point.candidate for point in (*front.measured, *front.expected)})
    return KeyedFront(front, state, tx.read(_read_keys, resources, study, numbers))


def predict(resources: Resources, tx: ReadTransactions, name: str) -> Predictions | None:
    """What the model says of every candidate; None while there are no candidates."""
    study, state = tx.read(_read_state, resources, name, None)
    return resources.predictions.at(_prefix(study, state), resources.compute.predictions) if state.blocks else None


def read_volumes(resources: Resources, summary: StudySummary) -> tuple[VolumePoint, ...]:
    """How the measured front grew, above the reference of today; empty while there is none."""
    state = summary.ledger
    if state.configuration.is_plain or not state.blocks:
        return ()
    return resources.compute.hypervolumes(_prefix(summary.study, state))


def progress(state: LedgerState) -> list[ProgressPoint]:
    """Every value in the order of reporting and the best so far, thinned for a chart; a new best is always shown.

    With several objectives, this is about the first. With constraints, only candidates that meet them can be best.
    """
    first = state.of_first()
    numbers = np.flatnonzero(first.counted)
    if not len(numbers):
        return []
    values, candidates = first.values[numbers], first.candidates[numbers]
    utilities = utilities_of(state.configuration.objective, values)
    best = _leaders(np.where(_may_be_best(state, candidates), utilities, -np.inf))
    step = max(1, -(-len(values) // MOST_POINTS))
    shown = np.zeros(len(values), dtype=bool)
    shown[::step] = True
    shown[-1] = True
    shown[1:] |= best[1:] != best[:-1]
    return [
        ProgressPoint(
            observation=int(numbers[i]) + 1,
            candidate=int(candidates[i]),
            value=float(values[i]),
            best=None if best[i] < 0 else float(values[best[i]]),
        )
        for i in np.flatnonzero(shown)
    ]


def _leaders(utilities: FloatArray) -> IndexArray:
    """(n,) the place of the first highest utility so far; −1 while there is none."""
    highest = np.maximum.accumulate(utilities)
    new = utilities > np.concatenate(([-np.inf], highest[:-1]))
    return np.asarray(np.maximum.accumulate(np.where(new, np.arange(len(utilities)), -1)))


def _may_be_best(state: LedgerState, candidates: Array) -> BoolArray:
    """Which of the candidates meet the constraints, as far as they were measured."""
    if not state.configuration.constraints:
        return np.ones(len(candidates), dtype=bool)
    return MeasuredFront(state).meets_constraints[candidates]


def _prefix(study: Study, state: LedgerState) -> LedgerPrefix:
    return LedgerPrefix(study.id, state.seq, state.head)


def _best_observed(state: LedgerState) -> BestObserved | None:
    """The measured candidate whose values of the first objective are best on average, if it meets the constraints."""
    first = state.of_first()
    counted = first.counted.copy()
    counted[counted] = _may_be_best(state, first.candidates[counted])
    if not counted.any():
        return None
    measured, positions = np.unique(first.candidates[counted], return_inverse=True)
    counts = np.bincount(positions)
    with np.errstate(over="ignore"):
        means = np.bincount(positions, weights=first.values[counted] / counts[positions])
    best = int(np.argmax(utilities_of(state.configuration.objective, means)))
    return BestObserved(int(measured[best]), float(np.nan_to_num(means[best])), int(counts[best]))


def _read_state(
    connection: Connection, actor: Actor, resources: Resources, name: str, as_of: int | None
) -> tuple[Study, LedgerState]:
    """The study and what its ledger says, now or up to an earlier event."""
    study = studies.find(connection, actor, name)
    if as_of is not None and as_of > study.seq:
        raise Invalid([Finding("as_of", f"The ledger ends with event {study.seq}.")])
    return study, resources.ledger_states.read(connection, study.id, study.seq if as_of is None else as_of)


def _read_keys(
    connection: Connection, _actor: Actor, resources: Resources, study: Study, numbers: list[int]
) -> dict[int, str]:
    return dict(zip(numbers, CandidateSet(connection, resources.arrays, study).keys(numbers), strict=True))


def _read_spending(
    connection: Connection, _actor: Actor, resources: Resources, study: Study, state: LedgerState
) -> Spending:
    known = replace(study, columns=state.columns)
    return spending_of(state, CandidateSet(connection, resources.arrays, known, state.blocks).expenses("cost"))


def _read_open_batches(
    connection: Connection, _actor: Actor, study: Study, state: LedgerState
) -> tuple[OpenBatch, ...]:
    """The batches with pending suggestions in this state, which may be an earlier one."""
    pending = [suggestion.batch for suggestion in state.pending]
    batches = batch_rows.with_numbers(connection, study, pending)
    hours = state.configuration.overdue_hours
    deadline = ago(hours=hours) if hours else ""
    return tuple(OpenBatch(batch, pending.count(batch.number), batch.created_at < deadline) for batch in batches)
