"""The live ledger, by either client, over a line that breaks."""

from typing import Any

import httpx

from nextbatch import Client
from tests.live import Live


def test_events_come_as_they_are_committed(study: Any) -> None:
    events = study.events()
    study.report({"key": "A1", "value": 0.4})
    past = study.events(after=0)
    assert [next(past).type for _ in range(3)] == ["study-created", "candidates-uploaded", "observations-reported"]
    past.close()
    events.close()


class Cutting(httpx.HTTPTransport):
    """Cuts every stream of events after its first one."""

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        response = super().handle_request(request)
        if request.url.path.endswith("/live"):
            response.stream = _Cut(response.stream)
        return response


class _Cut(httpx.SyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __iter__(self) -> Any:
        for piece in self._stream:
            yield piece
            if b"data:" in piece:
                raise httpx.ReadError("the line broke")

    def close(self) -> None:
        self._stream.close()


def test_a_line_that_breaks_is_taken_up_where_it_broke(server: Live, study: Any) -> None:
    for value in (0.1, 0.2, 0.3):
        study.report({"key": "A1", "value": value})
    with Client(server.url, server.key, transport=Cutting()) as client:
        events = client.study(study.name).events(after=0)
        events._reconnect_seconds = 0.0
        seen = []
        while len(seen) < 5:
            events._reconnect_seconds = 0.0
            seen.append(next(events).seq)
        events.close()
    assert seen == [1, 2, 3, 4, 5]


def test_without_reconnecting_the_end_is_the_end(server: Live, study: Any) -> None:
    with Client(server.url, server.key, transport=Cutting()) as client:
        assert [event.seq for event in client.study(study.name).events(after=1, reconnect=False)] == [2]


def test_a_stream_says_at_once_where_it_begins(server: Live, study: Any) -> None:
    """So that a line which breaks before the first event misses none."""
    address = f"{server.url}/v1/studies/{study.name}/events/live"
    with httpx.stream("GET", address, headers={"Authorization": f"Bearer {server.key}"}) as stream:
        lines = stream.iter_lines()
        assert "id: 2" in iter(lines.__next__, "")
