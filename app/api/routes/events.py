"""/v1/studies/{study}/events: the ledger, by the page and live."""

from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import replace
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from app.api.bodies import StrictRoute
from app.api.dependencies import CanFollow, CanGetTickets, CanRead
from app.api.live import LedgerPoller, Streams
from app.api.problems import documented
from app.api.responses import answer, respond
from app.api.routes import COMMON, OF_A_STUDY, WRITES
from app.api.schemas.ledger import EventPage, event_out
from app.api.schemas.shape import Name, Shape
from app.domain.errors import LedgerBehind, Refusal
from app.services import tickets
from app.services.transactions import Answer, ReadTransactions
from app.services.use_cases import access, events, studies

router = APIRouter(
    prefix="/v1/studies/{study}/events", tags=["events"], route_class=StrictRoute, responses=COMMON | OF_A_STUDY
)

PAGE = 500


@router.get("", summary="The ledger, oldest first")
def list_events(
    study: Name,
    tx: CanRead,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> EventPage:
    """Every event with its hash and the one before it, so that you can check the chain yourself."""
    page = tx.read(events.list_events, study, after, limit)
    following = page[-1].entry.seq if page and (len(page) == limit or not page[-1].is_last) else None
    actors = tx.read(access.names_of_actors, [(listed.entry.actor, listed.origin) for listed in page])
    return EventPage(events=tuple(event_out(listed) for listed in page), next=following, actors=actors)


class TicketOut(Shape):
    ticket: str | None = Field(description="For `?ticket=`; null when the same request is answered again.")
    expires_at: str


@router.post(
    "/ticket",
    status_code=201,
    summary="A ticket for one live stream, for pages that cannot send a key with it",
    response_model=TicketOut,
    responses=WRITES,
)
def get_ticket(study: Name, tx: CanGetTickets) -> Response:
    """Good once, within a minute: `new EventSource(".../events/live?ticket=...")`. A new stream needs a new one."""
    return respond(tx.write_once(tickets.issue, study, answer=_ticket))


def _ticket(issued: tuple[str, str]) -> Answer:
    ticket, expires_at = issued
    hidden = answer(TicketOut(ticket=None, expires_at=expires_at)).body
    return replace(answer(TicketOut(ticket=ticket, expires_at=expires_at), 201), stored_body=hidden)


def beginning(
    study: Name,
    tx: CanFollow,
    last_event_id: Annotated[int | None, Header(ge=0, lt=2**31)] = None,
    after: Annotated[int | None, Query(ge=0, lt=2**31)] = None,
) -> int:
    """The event after which a stream begins. What is refused is refused here, before the first byte."""
    newest = tx.read(studies.find, study).seq
    seen = last_event_id if last_event_id is not None else after
    if seen is not None and seen > newest:
        raise LedgerBehind(newest=newest)
    return newest if seen is None else seen


async def get_poller(request: Request) -> LedgerPoller:
    poller: LedgerPoller = request.app.state.poller
    return poller


async def stream_slot(
    request: Request, tx: CanFollow, _seen: Annotated[int, Depends(beginning)]
) -> AsyncIterator[Streams]:
    """A slot among the open streams, for as long as this one lasts."""
    streams: Streams = request.app.state.streams
    with streams.slot(tx.actor.key.id):
        yield streams


@router.get(
    "/live",
    summary="The ledger as it grows (Server-Sent Events)",
    description="Begins after `Last-Event-ID`, else after `after`, else with what comes next.",
    response_class=EventSourceResponse,
    responses=documented("overloaded", "ledger-behind"),
)
async def live_events(
    study: Name,
    tx: CanFollow,
    seen: Annotated[int, Depends(beginning)],
    streams: Annotated[Streams, Depends(stream_slot)],
    poller: Annotated[LedgerPoller, Depends(get_poller)],
) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent(comment="live", retry=2000, id=str(seen))  # so that a connection that breaks early can resume
    with suppress(Refusal):  # the study was deleted, or the grant withdrawn: there is nothing more to send
        async for event in _follow(tx, streams, poller, study, seen):
            yield event


async def _follow(
    tx: ReadTransactions, streams: Streams, poller: LedgerPoller, study: str, seen: int
) -> AsyncIterator[ServerSentEvent]:
    """Events as they are committed, by any process. (FastAPI sends a comment when none comes for a while.)"""
    while not streams.ending:
        page = await run_in_threadpool(tx.read, events.follow, study, seen, PAGE)
        for listed in page:
            yield ServerSentEvent(id=str(listed.entry.seq), event=listed.entry.type, data=event_out(listed))
        seen = page[-1].entry.seq if page else seen
        while len(page) < PAGE and not streams.ending:
            if (await poller.news(tx, study)).concern(tx.actor, study, seen):
                break
