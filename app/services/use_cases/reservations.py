"""Reserve candidates that somebody will measure without a batch, and release them."""

from collections.abc import Sequence
from dataclasses import dataclass

from sqlalchemy import Connection

from app.domain.access import Actor
from app.domain.batches import SuggestionState
from app.domain.errors import CandidateNotFound, Finding, Invalid
from app.domain.events import CandidateReference, CandidatesReserved, ReservationsReleased
from app.domain.reservations import MOST_RESERVED, NotReservable, Reservation
from app.domain.studies import Study
from app.services.resources import Resources
from app.services.use_cases import studies
from app.storage import batches, ledger
from app.storage.candidate_set import CandidateSet


@dataclass(frozen=True)
class ReservationForm:
    """Which candidates, for whom, and why."""

    keys: tuple[str, ...]
    worker: str
    reason: str | None = None


def reserve(
    connection: Connection, actor: Actor, resources: Resources, name: str, form: ReservationForm
) -> tuple[Reservation, ...]:
    """Reserve candidates, all or none; what the worker has reserved already stays so. All reservations of the study."""
    study = studies.lock(connection, actor, name)
    study.must_be_active()
    candidates = CandidateSet(connection, resources.arrays, study)
    numbers = _numbers(candidates, form.keys)
    held = {reservation.candidate for reservation in study.reservations if reservation.worker == form.worker}
    references = tuple(CandidateReference(number, key) for key, number in numbers.items() if number not in held)
    _must_be_reservable(connection, study, candidates, references)
    if references:
        event = CandidatesReserved(references, form.worker)
        study = ledger.append(connection, study, actor, event, form.reason)
    return study.reservations


def release(
    connection: Connection, actor: Actor, resources: Resources, name: str, key: str, reason: str | None
) -> tuple[Reservation, ...]:
    """Release a candidate, if it is reserved. The reservations that are left."""
    study = studies.lock(connection, actor, name)
    study.must_not_be_archived()
    number = CandidateSet(connection, resources.arrays, study).find(key)
    if number is None:
        raise CandidateNotFound
    if any(reservation.candidate == number for reservation in study.reservations):
        event = ReservationsReleased((CandidateReference(number, key),))
        study = ledger.append(connection, study, actor, event, reason)
    return study.reservations


def list_reservations(
    connection: Connection, actor: Actor, name: str, worker: str | None = None
) -> tuple[Reservation, ...]:
    """The reservations of a study, or those of one worker, oldest first."""
    reservations = studies.find(connection, actor, name).reservations
    return tuple(reservation for reservation in reservations if worker is None or reservation.worker == worker)


def _numbers(candidates: CandidateSet, keys: Sequence[str]) -> dict[str, int]:
    found = candidates.find_all(dict.fromkeys(keys))
    unknown = [position for position, key in enumerate(keys) if key not in found]
    if unknown:
        message = "The study has no candidate with this key. Check its spelling."
        raise Invalid([Finding("unknown-candidate", message, pointer=f"/keys/{position}") for position in unknown])
    return found


def _must_be_reservable(
    connection: Connection, study: Study, candidates: CandidateSet, references: Sequence[CandidateReference]
) -> None:
    """Every candidate is available and nobody is about to measure it."""
    if len(study.reservations) + len(references) > MOST_RESERVED:
        raise NotReservable(f"A study can have at most {MOST_RESERVED:,} reservations at a time. Release some first.")
    holders = {reservation.candidate: reservation.worker for reservation in study.reservations}
    pending = {
        suggestion.candidate: suggestion.id
        for suggestion in batches.suggestions_in(connection, study, SuggestionState.PENDING)
    }
    for reference in references:
        number = reference.candidate
        if number in candidates.unavailable:
            raise NotReservable(f"{reference.key} is switched off. Switch it on first.")
        if number in holders:
            raise NotReservable(f"{holders[number]} has reserved {reference.key}. Release it first.")
        if number in pending:
            raise NotReservable(f"{reference.key} is pending already ({pending[number]}). Report it by that id.")
