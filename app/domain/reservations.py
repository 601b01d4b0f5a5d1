"""Reservations: candidates that somebody will measure without a batch, which no other ask may suggest."""

from collections.abc import Collection, Sequence
from dataclasses import dataclass

from app.domain.errors import Conflict

MOST_RESERVED = 1_000
"""Reservations of one study at a time: the row of the study holds them."""


class NotReservable(Conflict):
    code = "not-reservable"
    detail = "The candidate is switched off, pending in a batch, or reserved by another worker."


@dataclass(frozen=True)
class Reservation:
    """A worker will measure the candidate; it ends with a report of it, with a batch that has it, or by release."""

    candidate: int
    key: str
    worker: str
    reserved_at: str
    reason: str | None = None


def without(reservations: Sequence[Reservation], candidates: Collection[int]) -> tuple[Reservation, ...]:
    """The reservations of other candidates."""
    return tuple(reservation for reservation in reservations if reservation.candidate not in candidates)
