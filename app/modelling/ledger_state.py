"""What the ledger says, added up: the state of a study after any prefix of its events.

`LedgerState` is a frozen value, and `fold(state, entries)` gives the next one. Asking, replaying, looking at an earlier
moment and checking an archive all rest on it.
"""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import assert_never

import numpy as np

from app.arrays import BoolArray, CodeArray, FloatArray
from app.domain.batches import SuggestionId
from app.domain.candidates import CandidateBlock, Column
from app.domain.events import (
    AccessGranted,
    AccessWithdrawn,
    Basis,
    BatchIssued,
    CandidatesAdded,
    CandidatesReserved,
    CandidatesSwitched,
    CandidatesUploaded,
    EarlierResults,
    ForkStarted,
    MeasurementsAbandoned,
    MeasurementsFailed,
    ObservationCorrected,
    ObservationRetracted,
    ObservationsReported,
    ObservationsReportedAgain,
    ReservationsReleased,
    ResultsBorrowed,
    StudyChanged,
    StudyCreated,
    StudyDeleted,
    StudyErased,
    StudyEvent,
    StudyForked,
    StudyImported,
    StudyRestored,
    SuggestionSwapped,
)
from app.domain.ledger import GENESIS, LedgerEntry
from app.domain.observations import Measured, Outcome, ReportedObservation
from app.domain.studies import Configuration, Objective, StudyState
from app.modelling.observed_arrays import appended, appended_errors, reported_values, revised_errors, with_value

STATE_BYTES = 8 * 1024  # of the smallest state: its configuration, columns and blocks
ITEM_BYTES = 250  # of a pending suggestion with its place in a dictionary


@dataclass(frozen=True)
class Pending:
    """A suggestion that still lacks results."""

    candidate: int
    replicates: int  # requested
    reported: int = 0

    @property
    def remaining(self) -> int:
        return max(0, self.replicates - self.reported)


@dataclass(frozen=True, eq=False)
class LedgerState:
    """The state of a study after the event `seq`, whose hash is `head`."""

    seq: int = 0
    head: str = GENESIS
    state: StudyState = StudyState.ACTIVE
    configuration: Configuration = field(default_factory=Configuration)
    columns: tuple[Column, ...] = ()
    blocks: tuple[CandidateBlock, ...] = ()
    unavailable: frozenset[int] = frozenset()
    pending: Mapping[SuggestionId, Pending] = field(default_factory=dict)
    reserved: Mapping[int, str] = field(default_factory=dict)
    """Candidate → the worker who will measure it without a batch."""
    bases: tuple[Basis, ...] = ()
    """What each issued batch was computed from; batch n is at n − 1."""

    candidates: CodeArray = field(default_factory=lambda: np.empty(0, dtype="<i4"))
    """(n,) the candidate of each observation; observation n is at n − 1."""
    values: FloatArray = field(default_factory=lambda: np.empty(0, dtype="<f8"))
    """(n,) the current value of each observation: that of the first objective, NaN where it is missing."""
    further: Mapping[str, FloatArray] = field(default_factory=dict)
    """The values (n,) of every other quantity by its name; NaN where one is missing."""
    errors: Mapping[str, FloatArray] = field(default_factory=dict)
    """The standard errors (n,) of every quantity that has any, by its name; NaN where a value has none."""
    counted: BoolArray = field(default_factory=lambda: np.empty(0, dtype="|b1"))
    """(n,) whether the observation counts; a retracted one does not."""
    failed: Mapping[int, int] = field(default_factory=dict)
    """Candidate → how often a measurement of it failed and may not be tried again."""
    failed_tries: Mapping[int, int] = field(default_factory=dict)
    """Candidate → how often a measurement of it failed, whether it may be tried again or not."""
    borrowed: tuple[EarlierResults, ...] = ()
    """Results of earlier studies that count as hints."""
    bounds: tuple[float, ...] = ()
    """Of one quantity alone: what constraints ask of its values."""

    @property
    def rows(self) -> int:
        """How many candidates there are."""
        return sum(block.rows for block in self.blocks)

    @property
    def nbytes(self) -> int:
        """What it takes in memory, about."""
        arrays = self.candidates.nbytes + self.values.nbytes + self.counted.nbytes
        return STATE_BYTES + arrays + ITEM_BYTES * (len(self.pending) + len(self.bases) + len(self.unavailable))

    @property
    def observations(self) -> int:
        """How many observations count."""
        return int(self.counted.sum())

    def until(self, observations: int) -> "LedgerState":
        """The same as if only the first observations had been reported, in their current versions."""
        return replace(
            self,
            candidates=self.candidates[:observations],
            values=self.values[:observations],
            further={name: values[:observations] for name, values in self.further.items()},
            errors={name: errors[:observations] for name, errors in self.errors.items()},
            counted=self.counted[:observations],
        )

    def values_of(self, name: str) -> FloatArray:
        """(n,) the current values of a quantity; NaN where one is missing."""
        return self.values if name == self.configuration.objective.name else self.further[name]

    def of_first(self) -> "LedgerState":
        """The state of the first objective alone. In most studies every observation has a value of it."""
        if self.configuration.is_plain and not np.isnan(self.values).any():
            return self
        return self.of(self.configuration.objective)

    @property
    def own_errors(self) -> FloatArray:
        """(n,) the standard errors of the first objective's values; NaN where a value has none."""
        known = self.errors.get(self.configuration.objective.name)
        return np.full(len(self.values), np.nan) if known is None else known

    def of(self, quantity: Objective) -> "LedgerState":
        """The state of a study of this quantity alone: observations without a value of it do not count."""
        values = self.values if quantity.name == self.configuration.objective.name else self.further.get(quantity.name)
        if values is None:  # nothing has been reported yet
            values = np.full(len(self.values), np.nan)
        return replace(
            self,
            configuration=self.configuration.of(quantity),
            values=values,
            further={},
            errors={name: errors for name, errors in self.errors.items() if name == quantity.name},
            counted=self.counted & ~np.isnan(values),
            bounds=self.configuration.bounds_of(quantity.name),
            borrowed=self.borrowed if self.configuration.is_plain else (),
        )


def fold(state: LedgerState, entries: Iterable[LedgerEntry]) -> LedgerState:
    """The state after these entries, which must be the next ones of the same study."""
    folding = _Folding(state)
    for entry in entries:
        folding.take(entry)
    return folding.result()


class _Folding:
    """Collects changes in place, so that a long ledger takes linear time."""

    def __init__(self, state: LedgerState) -> None:
        self._state = state
        self._pending = dict(state.pending)
        self._unavailable = set(state.unavailable)
        self._reserved = dict(state.reserved)
        self._bases = list(state.bases)
        self._failed = Counter(state.failed)
        self._failed_tries = Counter(state.failed_tries)
        self._new: list[ReportedObservation] = []  # not yet in the arrays

    def take(self, entry: LedgerEntry) -> None:
        self._apply(entry.event())
        self._state = replace(self._state, seq=entry.seq, head=entry.hash)

    def result(self) -> LedgerState:
        self._flush()
        return replace(
            self._state,
            pending=self._pending,
            unavailable=frozenset(self._unavailable),
            reserved=self._reserved,
            bases=tuple(self._bases),
            failed=dict(self._failed),
            failed_tries=dict(self._failed_tries),
        )

    def _apply(self, event: StudyEvent) -> None:  # noqa: PLR0912, PLR0915  (one branch per event)
        match event:
            case StudyCreated():
                self._change(configuration=event.configuration)
            case ForkStarted():
                self._fork(event.configuration)
            case ResultsBorrowed():
                self._change(borrowed=event.earlier)
            case StudyChanged():
                self._change(state=event.state, configuration=event.configuration)
            case StudyDeleted() | StudyErased():
                self._change(state=StudyState.DELETED)
            case StudyRestored():
                self._change(state=event.state)
            case CandidatesUploaded():
                self._unavailable.clear()
                self._failed.clear()
                self._failed_tries.clear()
                self._change(columns=event.columns, blocks=(event.block,))
            case CandidatesAdded():
                self._change(columns=event.columns, blocks=(*self._state.blocks, event.block))
            case CandidatesSwitched():
                switched = {reference.candidate for reference in event.candidates}
                self._unavailable = self._unavailable - switched if event.available else self._unavailable | switched
            case CandidatesReserved():
                self._reserved |= {reference.candidate: event.worker for reference in event.candidates}
            case ReservationsReleased():
                self._release(reference.candidate for reference in event.candidates)
            case BatchIssued():
                self._issue(event)
            case SuggestionSwapped():
                self._swap(event)
            case ObservationsReported():
                self._report(event)
            case ObservationsReportedAgain():
                self._report_again(event)
            case ObservationCorrected():
                self._revise(event.observation, counted=True, outcome=event.values)
            case ObservationRetracted():
                self._revise(event.observation, counted=False)
            case MeasurementsFailed():
                self._resolve([failure.suggestion for failure in event.failures])
                self._release(failure.candidate for failure in event.failures)
                given_up = [failure.candidate for failure in event.failures if not failure.retry]
                self._unavailable.update(given_up)
                self._failed.update(given_up)
                self._failed_tries.update(failure.candidate for failure in event.failures)
            case MeasurementsAbandoned():
                self._resolve([abandoned.suggestion for abandoned in event.abandoned])
                self._release(abandoned.candidate for abandoned in event.abandoned)
            case StudyImported() | StudyForked() | AccessGranted() | AccessWithdrawn():
                pass  # where a study comes from and who may see it do not change what it knows
            case _:
                assert_never(event)

    def _change(self, **changes: object) -> None:
        self._state = replace(self._state, **changes)  # type: ignore[arg-type]

    def _fork(self, configuration: Configuration) -> None:
        """Nothing is pending or reserved, and the values of another quantity may come first."""
        self._flush()
        self._pending.clear()
        self._reserved.clear()
        known = {self._state.configuration.objective.name: self._state.values, **self._state.further}
        missing = np.full(len(self._state.values), np.nan)
        first, *others = [quantity.name for quantity in configuration.quantities]
        values = known.pop(first, missing)
        further = dict.fromkeys(others, missing) | known if len(missing) else {}
        self._change(state=StudyState.ACTIVE, configuration=configuration, values=values, further=further)

    def _issue(self, event: BatchIssued) -> None:
        for rank, suggestion in enumerate(event.suggestions, start=1):
            pending = Pending(suggestion.candidate, suggestion.replicates)
            self._pending[SuggestionId(event.number, rank)] = pending
        self._bases.append(event.basis)
        self._release(suggestion.candidate for suggestion in event.suggestions)

    def _swap(self, event: SuggestionSwapped) -> None:
        self._pending.pop(event.suggestion, None)
        pending = Pending(event.replacement.candidate, event.replacement.replicates)
        self._pending[SuggestionId(event.suggestion.batch, event.rank)] = pending

    def _report(self, event: ObservationsReported) -> None:
        self._new.extend(event.observations)
        self._release(observation.candidate for observation in event.observations)
        for observation in event.observations:
            suggestion = observation.suggestion
            pending = None if suggestion is None else self._pending.get(suggestion)
            if suggestion is None or pending is None:
                continue
            if pending.remaining > 1:
                self._pending[suggestion] = replace(pending, reported=pending.reported + 1)
            else:
                del self._pending[suggestion]

    def _report_again(self, event: ObservationsReportedAgain) -> None:
        """Nothing of what was retracted is left: quantities that are not reported again are missing."""
        self._release(observation.candidate for observation in event.observations)
        self._flush()
        for observation in event.observations:
            missing = dict.fromkeys(self._names(), Measured(np.nan))
            self._revise(observation.observation, counted=True, outcome={**missing, **observation.values})

    def _release(self, candidates: Iterable[int]) -> None:
        """A reservation ends with a batch or a report of its candidate, or because it is released."""
        for candidate in candidates if self._reserved else ():
            self._reserved.pop(candidate, None)

    def _resolve(self, suggestions: Iterable[SuggestionId | None]) -> None:
        """Suggestions that failed or were abandoned are not pending any more."""
        for suggestion in suggestions:
            if suggestion is not None:
                self._pending.pop(suggestion, None)

    def _revise(self, observation: int, *, counted: bool, outcome: Outcome = MappingProxyType({})) -> None:
        self._flush()
        mask, position = self._state.counted.copy(), observation - 1
        mask[position] = counted
        revised = {
            name: with_value(self._state.values_of(name), position, outcome[name].value)
            for name in self._names()
            if name in outcome
        }
        errors = revised_errors(self._state.errors, len(mask), position, outcome, self._names())
        self._change(counted=mask, errors=errors)
        if revised:
            values = revised.pop(self._state.configuration.objective.name, self._state.values)
            self._change(values=values, further={**self._state.further, **revised})

    def _names(self) -> list[str]:
        """The quantities, and those that only the study measured which this one is a fork of."""
        names = [quantity.name for quantity in self._state.configuration.quantities]
        return names + [name for name in self._state.further if name not in names]

    def _flush(self) -> None:
        """Append the new observations to the arrays."""
        new, state = self._new, self._state
        if not new:
            return
        first, *others = self._names()
        none = np.full(len(state.values), np.nan)
        self._change(
            candidates=appended(state.candidates, np.array([reported.candidate for reported in new], dtype="<i4")),
            values=appended(state.values, reported_values(new, first)),
            further={name: appended(state.further.get(name, none), reported_values(new, name)) for name in others},
            counted=appended(state.counted, np.ones(len(new), dtype="|b1")),
            errors=appended_errors(state.errors, len(state.values), new, self._names()),
        )
        self._new = []
