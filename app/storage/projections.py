"""What an event changes in the tables: the one way from the ledger to the rows that are read.

Every event is appended to the ledger and applied here, in the same transaction. An imported ledger is applied here as
well, and gives the same rows.
"""

from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from operator import attrgetter
from typing import assert_never

from sqlalchemy import Connection

from app.domain.batches import Batch, BatchState, DraftSuggestion, Suggestion, SuggestionId, SuggestionState
from app.domain.events import (
    AbandonedMeasurement,
    AccessGranted,
    AccessWithdrawn,
    BatchIssued,
    CandidateReference,
    CandidatesAdded,
    CandidatesReserved,
    CandidatesSwitched,
    CandidatesUploaded,
    FailedMeasurement,
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
from app.domain.ledger import LedgerEntry
from app.domain.observations import Measured, Observation, ObservationKind, PlainObservations, ReportedObservation
from app.domain.reservations import Reservation, without
from app.domain.studies import UNKNOWN_SERVER, Import, Study, StudyState
from app.storage import batches, candidates, observations, studies

_OfACandidate = CandidateReference | DraftSuggestion | ReportedObservation | FailedMeasurement | AbandonedMeasurement

# What an observation takes over from its report as it is: candidate, values, suggestion, note and so on.
_AS_REPORTED = sorted({f.name for f in fields(Observation)} & {f.name for f in fields(ReportedObservation)})
_as_reported = attrgetter(*_AS_REPORTED)


def apply(connection: Connection, study: Study, entry: LedgerEntry, event: StudyEvent) -> Study:
    """Bring the tables up to an event that was just appended; the study as it is then."""
    changed = _change(connection, study, entry, event)
    if changed is study:
        return study
    if replace(changed, reservations=study.reservations) != study:  # reservations are no part of a version
        changed = replace(changed, version=study.version + 1)
    studies.save(connection, changed)
    return changed


def _change(connection: Connection, study: Study, entry: LedgerEntry, event: StudyEvent) -> Study:  # noqa: PLR0911, PLR0912
    """Write the rows of other tables; the study itself, changed if its own row changes."""
    match event:
        case StudyCreated():
            pass  # the row was made with the study
        case StudyImported():
            studies.withdraw_all(connection, study)  # whom another server let in
            return replace(study, imports=(*study.imports, Import(entry.seq, event.server or UNKNOWN_SERVER)))
        case ForkStarted():
            return _fork(connection, study, entry, event)
        case StudyForked() | ResultsBorrowed():
            pass  # the other study says where it comes from; models read what was borrowed in the ledger
        case StudyChanged():
            return replace(study, state=event.state, configuration=event.configuration)
        case StudyRestored():
            return replace(study, state=event.state)
        case StudyErased():
            pass  # what it was about is erased by `erasing`
        case StudyDeleted():
            return replace(study, state=StudyState.DELETED)
        case AccessGranted():
            studies.grant(connection, event.key_id, study)
        case AccessWithdrawn():
            studies.withdraw(connection, event.key_id, study)
        case CandidatesUploaded():
            candidates.drop_blocks(connection, study)
            return _with_block(connection, study, event)
        case CandidatesAdded():
            return _with_block(connection, study, event)
        case CandidatesSwitched():
            _switch(connection, study, entry, event)
        case CandidatesReserved():
            return replace(study, reservations=(*study.reservations, *_reservations(entry, event)))
        case ReservationsReleased():
            return _resolved(study, event.candidates)
        case BatchIssued():
            _add_batch(connection, study, entry, event)
            return _resolved(study, event.suggestions)
        case SuggestionSwapped():
            _swap(connection, study, event)
        case ObservationsReported():
            _add_observations(connection, study, entry, event)
            return _resolved(study, event.observations)
        case ObservationsReportedAgain():
            _report_again(connection, study, entry, event)
            return _resolved(study, event.observations)
        case ObservationCorrected():
            _supersede(connection, study, entry, event, ObservationKind.RECORDED, event.values)
        case ObservationRetracted():
            _supersede(connection, study, entry, event, ObservationKind.RETRACTED, {})
        case MeasurementsFailed():
            batches.resolve(connection, study, _suggestions(event.failures), SuggestionState.FAILED)
            given_up = {failure.candidate: failure.reason for failure in event.failures if not failure.retry}
            candidates.switch_off(connection, study, given_up)
            return _resolved(study, event.failures)
        case MeasurementsAbandoned():
            batches.resolve(connection, study, _suggestions(event.abandoned), SuggestionState.ABANDONED)
            return _resolved(study, event.abandoned)
        case _:
            assert_never(event)
    return study


def _fork(connection: Connection, study: Study, entry: LedgerEntry, event: ForkStarted) -> Study:
    """Nobody may see it yet, and what is pending or reserved is the other study's: the bench reports it there."""
    studies.withdraw_all(connection, study)
    pending = batches.suggestions_in(connection, study, SuggestionState.PENDING)
    ids = [suggestion.id for suggestion in pending]
    batches.resolve(connection, study, ids, SuggestionState.ABANDONED)
    imports = (*study.imports, Import(entry.seq, study=event.study))
    started = replace(study, state=StudyState.ACTIVE, configuration=event.configuration)
    return replace(started, imports=imports, reservations=())


def _with_block(connection: Connection, study: Study, event: CandidatesUploaded | CandidatesAdded) -> Study:
    candidates.add_block(connection, study, event.block)
    return replace(study, columns=event.columns, candidates=event.block.first + event.block.rows)


def _switch(connection: Connection, study: Study, entry: LedgerEntry, event: CandidatesSwitched) -> None:
    numbers = tuple(reference.candidate for reference in event.candidates)
    if event.available:
        candidates.switch_on(connection, study, numbers)
    else:
        candidates.switch_off(connection, study, dict.fromkeys(numbers, entry.reason or ""))


def _add_batch(connection: Connection, study: Study, entry: LedgerEntry, event: BatchIssued) -> None:
    batch = Batch(
        number=event.number,
        worker=event.request.worker,
        state=BatchState.OPEN,
        size=sum(suggestion.replicates for suggestion in event.suggestions),
        basis_seq=event.basis.seq,
        seq=entry.seq,
        record=event.record,
        computation=event.computation,
        created_at=entry.recorded_at,
    )
    suggestions = [
        Suggestion(
            SuggestionId(event.number, rank), draft.candidate, draft.replicates, SuggestionState.PENDING, draft.why
        )
        for rank, draft in enumerate(event.suggestions, start=1)
    ]
    batches.add(connection, study, batch, suggestions)


def _swap(connection: Connection, study: Study, event: SuggestionSwapped) -> None:
    """The new suggestion first, so that the batch stays open."""
    new, draft = SuggestionId(event.suggestion.batch, event.rank), event.replacement
    suggestion = Suggestion(new, draft.candidate, draft.replicates, SuggestionState.PENDING, draft.why)
    batches.add_suggestion(connection, study, suggestion)
    batches.resolve(connection, study, [event.suggestion], SuggestionState.ABANDONED)


def _add_observations(connection: Connection, study: Study, entry: LedgerEntry, event: ObservationsReported) -> None:
    observations.add_reported(connection, study, entry, event.observations)
    if isinstance(event.observations, PlainObservations):  # they answer no suggestions
        return
    completed = observations.completed(connection, study, set(_suggestions(event.observations)))
    batches.resolve(connection, study, completed, SuggestionState.OBSERVED)


def _first_version(entry: LedgerEntry, reported: ReportedObservation) -> Observation:
    return Observation(
        number=reported.observation,
        version=1,
        current=True,
        kind=ObservationKind.RECORDED,
        actor=entry.actor,
        recorded_at=entry.recorded_at,
        seq=entry.seq,
        **dict(zip(_AS_REPORTED, _as_reported(reported), strict=True)),
    )


def _report_again(connection: Connection, study: Study, entry: LedgerEntry, event: ObservationsReportedAgain) -> None:
    for reported in event.observations:
        old = observations.versions(connection, study, reported.observation)[-1]
        first = _first_version(entry, reported)
        new = replace(first, version=old.version + 1, reason=entry.reason, ref=old.ref)
        observations.supersede(connection, study, new)
    completed = observations.completed(connection, study, set(_suggestions(event.observations)))
    batches.resolve(connection, study, completed, SuggestionState.OBSERVED)


def _supersede(
    connection: Connection,
    study: Study,
    entry: LedgerEntry,
    event: ObservationCorrected | ObservationRetracted,
    kind: ObservationKind,
    values: Mapping[str, Measured],
) -> None:
    old = observations.versions(connection, study, event.observation)[-1]
    new = replace(
        old,
        version=event.version,
        kind=kind,
        values={**old.values, **values},
        reason=entry.reason,
        actor=entry.actor,
        recorded_at=entry.recorded_at,
        seq=entry.seq,
    )
    observations.supersede(connection, study, new)


def _reservations(entry: LedgerEntry, event: CandidatesReserved) -> tuple[Reservation, ...]:
    return tuple(
        Reservation(reference.candidate, reference.key, event.worker, entry.recorded_at, entry.reason)
        for reference in event.candidates
    )


def _resolved(study: Study, measured: Sequence[_OfACandidate]) -> Study:
    """The study without the reservations of these candidates; the study itself if there were none."""
    if not study.reservations:
        return study
    others = without(study.reservations, {measurement.candidate for measurement in measured})
    return study if len(others) == len(study.reservations) else replace(study, reservations=others)


def _suggestions(
    measurements: tuple[ReportedObservation | FailedMeasurement | AbandonedMeasurement, ...],
) -> list[SuggestionId]:
    """The suggestions that some measurements answer."""
    answered = (measurement.suggestion for measurement in measurements)
    return [suggestion for suggestion in answered if suggestion is not None]
