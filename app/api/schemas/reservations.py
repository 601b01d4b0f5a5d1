"""Reservations on the wire."""

from collections.abc import Sequence
from typing import Annotated

from pydantic import BeforeValidator, Field

from app.api.schemas.asks import KeyIn
from app.api.schemas.shape import Name, Reason, Request, Shape
from app.domain.reservations import MOST_RESERVED, Reservation
from app.services.use_cases.reservations import ReservationForm


def _as_list(value: object) -> object:
    """One key may stand without a list."""
    return [value] if isinstance(value, str) else value


class ReservationIn(Request):
    keys: Annotated[list[KeyIn], BeforeValidator(_as_list), Field(min_length=1, max_length=MOST_RESERVED)] = Field(
        description="The candidates that somebody will measure without a batch.", examples=[["A7"]]
    )
    worker: Name = Field(default="default", description="Who will measure them.", examples=["bench-2"])
    reason: Reason | None = Field(default=None, description="Kept in the ledger.", examples=["for the poster"])

    def form(self) -> ReservationForm:
        return ReservationForm(tuple(self.keys), self.worker, self.reason)


class ReservationOut(Shape):
    key: str = Field(examples=["A7"])
    worker: str
    reserved_at: str
    reason: str | None


class ReservationsOut(Shape):
    """Everything that is reserved now, oldest first."""

    reservations: tuple[ReservationOut, ...]


def reservations_out(reservations: Sequence[Reservation]) -> ReservationsOut:
    return ReservationsOut(
        reservations=tuple(ReservationOut.model_validate(reservation) for reservation in reservations)
    )
