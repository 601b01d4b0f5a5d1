"""Which arrays an event names. They are stored apart from the ledger, under their digests."""

from typing import assert_never

from app.domain.events import (
    AccessGranted,
    AccessWithdrawn,
    BatchIssued,
    CandidatesAdded,
    CandidatesReserved,
    CandidatesSwitched,
    CandidatesUploaded,
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

ARRAY_EVENTS = (CandidatesUploaded, CandidatesAdded)
"""The events that name arrays."""


def digests_of(event: StudyEvent) -> set[str]:
    """The digests of the arrays that an event names."""
    match event:
        case CandidatesUploaded() | CandidatesAdded():
            return event.block.arrays.digests()
        case StudyCreated() | StudyImported() | StudyChanged() | StudyDeleted() | AccessGranted() | AccessWithdrawn():
            return set()
        case CandidatesSwitched() | CandidatesReserved() | ReservationsReleased() | BatchIssued() | SuggestionSwapped():
            return set()
        case ForkStarted() | StudyForked() | ResultsBorrowed() | StudyRestored() | StudyErased():
            return set()
        case MeasurementsFailed() | MeasurementsAbandoned():
            return set()
        case ObservationsReported() | ObservationsReportedAgain() | ObservationCorrected() | ObservationRetracted():
            return set()
        case _:
            assert_never(event)
