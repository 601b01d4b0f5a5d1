"""The ledger as it is read: by the page, live, and in words."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import assert_never

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.batches import SuggestionId
from app.domain.clock import now
from app.domain.errors import UnreadableEvent
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
from app.domain.ledger import LedgerEntry
from app.domain.limits import MOST_PAGE_BYTES
from app.services.use_cases import studies
from app.services.use_cases.access import must_be_alive
from app.storage import keys, ledger
from app.storage import studies as study_rows


@dataclass(frozen=True)
class ListedEntry:
    """An entry of the ledger, and where it comes from."""

    entry: LedgerEntry
    origin: str | None  # the server where it was recorded, if not this one
    is_last: bool = False  # of the ledger


def list_events(connection: Connection, actor: Actor, name: str, after: int, limit: int) -> list[ListedEntry]:
    """A page of the ledger; shorter than `limit` if its events are long."""
    study = studies.find(connection, actor, name)
    page: list[ListedEntry] = []
    size = 0
    for entry in ledger.read(connection, study.id, after, limit):
        size += len(entry.payload)
        if page and size > MOST_PAGE_BYTES:
            break
        page.append(ListedEntry(entry, study.origin_of(entry.seq), is_last=entry.seq == study.seq))
    return page


def follow(connection: Connection, actor: Actor, name: str, after: int, limit: int) -> list[ListedEntry]:
    """As `list_events`, for a stream: the key may have been revoked since the stream began."""
    must_be_alive(connection, actor)
    return list_events(connection, actor, name, after, limit)


@dataclass(frozen=True)
class News:
    """The newest event of some studies, and the keys that have ended."""

    newest: Mapping[str, int]
    ended_keys: Collection[str]

    def concern(self, actor: Actor, study: str, seen: int) -> bool:
        """Whether a reader who has seen the event `seen` must read again; also if the study was not looked at."""
        return self.newest.get(study) != seen or actor.key.id in self.ended_keys


def news(connection: Connection, _actor: Actor, watched: Collection[str]) -> News:
    return News(study_rows.newest_events(connection, watched), keys.ended(connection, now()))


def describe(entry: LedgerEntry) -> str:
    """What happened, in one sentence for the timeline."""
    try:
        return _sentence(entry.event())
    except UnreadableEvent:
        return f"An event of type {entry.type} that this version of the server cannot read."


def _sentence(event: StudyEvent) -> str:  # noqa: PLR0911, PLR0912  (one per event)
    match event:
        case StudyCreated():
            return "Study created."
        case StudyImported():
            signed = {"own": "signed by this server", "trusted": "signed by a trusted server"}
            origin = "not signed" if event.signature == "none" else f"signed by an unknown server, {event.server}"
            named = f" of {event.study}" if event.study else ""
            return f"Study imported from an archive{named}, {signed.get(event.signature, origin)}."
        case ForkStarted():
            return f"Study forked from {event.study}; everything before this event happened there."
        case StudyForked():
            return f"Study {event.fork} forked from this one as it was after event {event.at}."
        case ResultsBorrowed():
            names = _names([earlier.study for earlier in event.earlier])
            return f"Results of {names} count as hints." if names else "No results of other studies count any more."
        case StudyChanged():
            return f"Settings changed; the study is {event.state}."
        case StudyRestored():
            return f"Study restored; it is {event.state}."
        case StudyErased():
            return "Study erased."
        case StudyDeleted():
            return "Study deleted."
        case AccessGranted():
            return f"Access granted to key {event.key_id}."
        case AccessWithdrawn():
            return f"Access withdrawn from key {event.key_id}."
        case CandidatesUploaded():
            return f"Candidate list uploaded: {_count(event.block.rows, 'candidate')}."
        case CandidatesAdded():
            return f"{_count(event.block.rows, 'candidate')} added to the list."
        case CandidatesSwitched():
            switched = _names([reference.key for reference in event.candidates])
            return f"{switched} switched {'on' if event.available else 'off'}."
        case CandidatesReserved():
            return f"{_names([reference.key for reference in event.candidates])} reserved for {event.worker}."
        case ReservationsReleased():
            return f"Reservation released: {_names([reference.key for reference in event.candidates])}."
        case BatchIssued():
            return f"Batch {event.number} issued to {event.request.worker}: {_size(event)}."
        case SuggestionSwapped():
            new = SuggestionId(event.suggestion.batch, event.rank)
            return f"{event.suggestion} ({event.key}) replaced by {new}."
        case ObservationsReported():
            return f"{_count(len(event.observations), 'result')} reported."
        case ObservationsReportedAgain():
            return f"{_count(len(event.observations), 'retracted result')} reported again."
        case ObservationCorrected():
            return f"Observation {event.observation} corrected."
        case ObservationRetracted():
            return f"Observation {event.observation} retracted."
        case MeasurementsFailed():
            failures = [f"{failure.key} ({failure.reason})" for failure in event.failures]
            return f"Measurement failed: {_names(failures)}."
        case MeasurementsAbandoned():
            return f"Measurement abandoned: {_names([abandoned.key for abandoned in event.abandoned])}."
        case _:
            assert_never(event)


def _size(batch: BatchIssued) -> str:
    """As every view counts a batch: its measurements, and of how many candidates if some are repeated."""
    size = sum(suggestion.replicates for suggestion in batch.suggestions)
    candidates = f" of {_count(len(batch.suggestions), 'candidate')}" if size > len(batch.suggestions) else ""
    return f"{_count(size, 'measurement')}{candidates}"


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def _names(names: list[str]) -> str:
    """The first few of a list of names, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
