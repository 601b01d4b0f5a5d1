"""/v1/studies/{study}/events: the ledger, by the page and live."""

from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated

from fastapi import APIRouter, Depends, Header, Query, Request
from fastapi.sse import EventSourceResponse, ServerSentEvent
from starlette.concurrency import run_in_threadpool

from app.api.dependencies import CanRead
from app.api.problems import documented
from app.api.pulse import Pulse
from app.api.routes import COMMON, OF_A_STUDY
from app.api.schemas.reading import EventPage, event_out
from app.api.schemas.shape import Name
from app.api.streams import Streams
from app.domain.errors import Refusal
from app.services import events, studies
from app.services.transactions import Reading

router = APIRouter(prefix="/v1/studies/{study}/events", tags=["events"], responses=COMMON | OF_A_STUDY)

PAGE = 500


@router.get("", summary="The ledger, oldest first")
def list_events(
    study: Name,
    read: CanRead,
    after: Annotated[int, Query(ge=0, lt=2**31)] = 0,
    limit: Annotated[int, Query(ge=1, le=1000)] = 100,
) -> EventPage:
    page = read(events.list_events, study, after, limit)
    return EventPage(events=tuple(event_out(e) for e in page), next=page[-1].seq if len(page) == limit else None)


def beginning(
    study: Name,
    read: CanRead,
    last_event_id: Annotated[int | None, Header(ge=0, lt=2**31)] = None,
    after: Annotated[int | None, Query(ge=0, lt=2**31)] = None,
) -> int:
    """The event after which a stream begins. What is refused is refused here, before the first byte."""
    newest = read(studies.find, study).seq
    seen = last_event_id if last_event_id is not None else after
    return newest if seen is None else seen


async def pulse(request: Request) -> Pulse:
    found: Pulse = request.app.state.pulse
    return found


async def placed(request: Request, read: CanRead, _seen: Annotated[int, Depends(beginning)]) -> AsyncIterator[Streams]:
    """A place among the open streams, for as long as this one lasts."""
    streams: Streams = request.app.state.streams
    with streams.place(read.actor.key.id):
        yield streams


@router.get(
    "/live",
    summary="The ledger as it grows (Server-Sent Events)",
    description="Begins after `Last-Event-ID`, else after `after`, else with what comes next.",
    response_class=EventSourceResponse,
    responses=documented("overloaded"),
)
async def live_events(
    study: Name,
    read: CanRead,
    seen: Annotated[int, Depends(beginning)],
    streams: Annotated[Streams, Depends(placed)],
    pulse: Annotated[Pulse, Depends(pulse)],
) -> AsyncIterator[ServerSentEvent]:
    yield ServerSentEvent(comment="live", retry=2000, id=str(seen))  # so that a line lost early is taken up
    with suppress(Refusal):  # deleted, or not granted any more: there is nothing more to tell
        async for event in _follow(read, streams, pulse, study, seen):
            yield event


async def _follow(
    read: Reading, streams: Streams, pulse: Pulse, study: str, seen: int
) -> AsyncIterator[ServerSentEvent]:
    """Events as they are committed, by any process. (FastAPI sends a comment when there are none for a while.)"""
    while not streams.ending:
        page = await run_in_threadpool(read, events.follow, study, seen, PAGE)
        for event in page:
            yield ServerSentEvent(id=str(event.seq), event=event.type, data=event_out(event))
        seen = page[-1].seq if page else seen
        while len(page) < PAGE and not streams.ending:
            if (await pulse.news(read, study)).concern(read.actor, study, seen):
                break
