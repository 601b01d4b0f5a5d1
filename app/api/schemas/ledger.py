"""The ledger on the wire: its events, and whether they and everything derived from them are sound."""

from typing import Literal

from pydantic import Field

from app.api.schemas.shape import Actors, Origin, Shape
from app.services.use_cases.events import ListedEntry, describe
from app.services.use_cases.verification import Verification
from app.services.workflows.replay import Replay


class EventOut(Shape):
    seq: int
    type: str
    format: int = Field(description="The format of the payload.")
    words: str = Field(description="What happened, in one sentence.")
    payload: str = Field(description="Canonical JSON: the text that was hashed.")
    actor: str
    reason: str | None
    recorded_at: str
    request_id: str
    previous: str
    hash: str
    origin: Origin


class EventPage(Shape):
    events: tuple[EventOut, ...]
    next: int | None
    actors: Actors


class DifferenceOut(Shape):
    table: str = Field(examples=["observations"])
    row: str = Field(examples=["number 3, version 1"])
    what: Literal["missing", "not in the ledger", "altered", "damaged"]
    columns: tuple[str, ...] = Field(description="The columns that were altered.")


class VerifiedOut(Shape):
    sound: bool
    events: int
    broken_at: int | None = Field(description="The first event that is missing, altered or out of place.")
    head: str
    differences: tuple[DifferenceOut, ...] = Field(
        description="The first rows of other tables that are not what the ledger says, and arrays that are damaged."
    )


class ReplayedOut(Shape):
    number: int
    equal: bool
    recorded_build: str
    this_build: str
    differences: tuple[str, ...]


def event_out(listed: ListedEntry) -> EventOut:
    return EventOut(**vars(listed.entry), words=describe(listed.entry), origin=listed.origin)


def verified_out(verification: Verification) -> VerifiedOut:
    return VerifiedOut.model_validate(verification)


def replayed_out(replay: Replay) -> ReplayedOut:
    return ReplayedOut.model_validate(replay)
