"""Everything that can happen to a study: one frozen dataclass per event.

A study's ledger is a sequence of these. Tables, model states, archives and the page's timeline are derived from them by
`match` statements that end in `assert_never`, so that mypy finds every place that forgets a new event.
`docs/events.md` describes each event with an example.

An event says what happened. Who did it, when, why and in which request is in its `LedgerEntry`.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import ClassVar, Literal, TypeAlias

from app.domain.batches import AskRequest, BatchRecord, BatchSize, Computation, DraftSuggestion, SuggestionId
from app.domain.candidates import CandidateBlock, Column
from app.domain.observations import Measured, ReportedObservation
from app.domain.studies import Configuration, Direction, StudyState

ArchiveSignature: TypeAlias = Literal["own", "trusted", "foreign", "none"]
"""Who signed an archive: this server, one whose key its operator trusts, one that nobody knows here, or nobody."""


@dataclass(frozen=True)
class StudyCreated:
    """The study exists, active and without candidates."""

    type: ClassVar = "study-created"

    configuration: Configuration


@dataclass(frozen=True)
class StudyImported:
    """The entries before this one came in an archive: this server did not see them happen."""

    type: ClassVar = "study-imported"

    head: str
    signature: ArchiveSignature
    server: str | None = None
    exported_at: str | None = None
    study: str | None = None  # its name in the archive, if it has another one here


@dataclass(frozen=True)
class ForkStarted:
    """The entries before this one are those of `study`, sealed under its name; from now on this study has its own."""

    type: ClassVar = "fork-started"

    study: str
    head: str
    configuration: Configuration


@dataclass(frozen=True)
class StudyForked:
    """The study `fork` began as this one was after the event `at`; `head` is the hash of its `fork-started`."""

    type: ClassVar = "study-forked"

    fork: str
    at: int
    head: str


@dataclass(frozen=True)
class EarlierResults:
    """Results of another study, copied: `numbers` and `texts` by column, and the value of each row.

    `seq` and `head` are its last event that was known and the hash of that event.
    """

    study: str
    seq: int
    head: str
    direction: Direction
    values: tuple[float, ...]
    numbers: Mapping[str, tuple[float, ...]] = field(default_factory=dict)
    texts: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class ResultsBorrowed:
    """These results of earlier studies count as hints from now on, instead of any that were borrowed before."""

    type: ClassVar = "results-borrowed"

    earlier: tuple[EarlierResults, ...] = ()


@dataclass(frozen=True)
class StudyChanged:
    """The study has this state and this configuration from now on."""

    type: ClassVar = "study-changed"

    state: StudyState
    configuration: Configuration


@dataclass(frozen=True)
class StudyDeleted:
    """The study is not shown any more. Its ledger stays."""

    type: ClassVar = "study-deleted"


@dataclass(frozen=True)
class StudyRestored:
    """The study is shown again, in the state that it had before it was deleted."""

    type: ClassVar = "study-restored"

    state: StudyState


@dataclass(frozen=True)
class StudyErased:
    """Everything before this event was erased, except types, keys, times and hashes. No event follows."""

    type: ClassVar = "study-erased"


@dataclass(frozen=True)
class AccessGranted:
    """The key may see the study."""

    type: ClassVar = "access-granted"

    key_id: str


@dataclass(frozen=True)
class AccessWithdrawn:
    """The key may not see the study any more."""

    type: ClassVar = "access-withdrawn"

    key_id: str


@dataclass(frozen=True)
class CandidatesUploaded:
    """This block is the whole candidate list; it replaces any list before it."""

    type: ClassVar = "candidates-uploaded"

    block: CandidateBlock
    columns: tuple[Column, ...]


@dataclass(frozen=True)
class CandidatesAdded:
    """This block follows the candidates that the study has; `columns` may have gained levels."""

    type: ClassVar = "candidates-added"

    block: CandidateBlock
    columns: tuple[Column, ...]


@dataclass(frozen=True, slots=True)
class CandidateReference:
    """A candidate by its number in the list and by the lab's own key."""

    candidate: int
    key: str


@dataclass(frozen=True)
class CandidatesSwitched:
    """These candidates can be measured from now on, or cannot."""

    type: ClassVar = "candidates-switched"

    candidates: tuple[CandidateReference, ...]
    available: bool


@dataclass(frozen=True)
class CandidatesReserved:
    """A worker will measure these candidates without a batch; no other ask suggests them."""

    type: ClassVar = "candidates-reserved"

    candidates: tuple[CandidateReference, ...]
    worker: str


@dataclass(frozen=True)
class ReservationsReleased:
    """These candidates are not reserved any more."""

    type: ClassVar = "reservations-released"

    candidates: tuple[CandidateReference, ...]


@dataclass(frozen=True)
class Basis:
    """The prefix of the ledger that a batch was computed from: its last event, and that event's hash."""

    seq: int
    hash: str


@dataclass(frozen=True)
class BatchIssued:
    """A worker got a batch: the request, the choice with its reasons, and how it was computed."""

    type: ClassVar = "batch-issued"

    number: int
    request: AskRequest
    size: BatchSize
    basis: Basis
    suggestions: tuple[DraftSuggestion, ...]
    record: BatchRecord
    computation: Computation


@dataclass(frozen=True)
class SuggestionSwapped:
    """A pending suggestion was replaced by the next best candidate; `present` are the other members of its batch."""

    type: ClassVar = "suggestion-swapped"

    suggestion: SuggestionId
    candidate: int
    key: str
    rank: int
    replacement: DraftSuggestion
    present: tuple[int, ...]
    basis: Basis
    computation: Computation


@dataclass(frozen=True)
class ObservationsReported:
    """These measurements were reported. `upload` is the first event of the same request, `digest` that of its body."""

    type: ClassVar = "observations-reported"

    observations: tuple[ReportedObservation, ...]
    upload: int | None = None
    digest: str | None = None


@dataclass(frozen=True)
class ObservationsReportedAgain:
    """Retracted observations were reported again: each has a new version with only what is said here. A `ref` stays."""

    type: ClassVar = "observations-reported-again"

    observations: tuple[ReportedObservation, ...]
    upload: int | None = None
    digest: str | None = None


@dataclass(frozen=True)
class ObservationCorrected:
    """The quantities named here have other values, or values at last; a retracted observation counts again."""

    type: ClassVar = "observation-corrected"

    observation: int
    version: int
    values: Mapping[str, Measured]


@dataclass(frozen=True)
class ObservationRetracted:
    """The observation does not count any more. `upload` is set if all that one report recorded was retracted."""

    type: ClassVar = "observation-retracted"

    observation: int
    version: int
    upload: int | None = None


@dataclass(frozen=True, slots=True)
class FailedMeasurement:
    """A measurement that gave no value. Without `retry` the candidate is switched off."""

    candidate: int
    key: str
    reason: str
    retry: bool
    suggestion: SuggestionId | None = None


@dataclass(frozen=True)
class MeasurementsFailed:
    """These measurements were tried and gave no value."""

    type: ClassVar = "measurements-failed"

    failures: tuple[FailedMeasurement, ...]


@dataclass(frozen=True, slots=True)
class AbandonedMeasurement:
    """A measurement that will not be tried. `reason` is None if nobody gave one."""

    candidate: int
    key: str
    reason: str | None = None
    suggestion: SuggestionId | None = None


@dataclass(frozen=True)
class MeasurementsAbandoned:
    """These measurements will not be tried. A result that comes all the same is kept."""

    type: ClassVar = "measurements-abandoned"

    abandoned: tuple[AbandonedMeasurement, ...]


StudyEvent: TypeAlias = (
    StudyCreated
    | StudyImported
    | ForkStarted
    | StudyForked
    | ResultsBorrowed
    | StudyChanged
    | StudyDeleted
    | StudyRestored
    | StudyErased
    | AccessGranted
    | AccessWithdrawn
    | CandidatesUploaded
    | CandidatesAdded
    | CandidatesSwitched
    | CandidatesReserved
    | ReservationsReleased
    | BatchIssued
    | SuggestionSwapped
    | ObservationsReported
    | ObservationsReportedAgain
    | ObservationCorrected
    | ObservationRetracted
    | MeasurementsFailed
    | MeasurementsAbandoned
)
