"""Live events over a real port: they come as they are committed, can be resumed, are limited, and end cleanly."""

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import Any

import httpx
import pytest

from tests.server import Server, running

LIVE = "/v1/studies/s/events/live"


@pytest.fixture
def server(address: str, tmp_path: Path) -> Iterator[Server]:
    with running(tmp_path / "data", address, NEXTBATCH_MAX_STREAMS="2") as server:
        yield server


@pytest.fixture
def client(server: Server) -> Iterator[httpx.Client]:
    headers = {"Authorization": f"Bearer {server.key}"}
    with httpx.Client(base_url=server.address, headers=headers, timeout=30) as client:
        client.put("/v1/studies/s", json={}).raise_for_status()
        yield client


@contextmanager
def stream(client: httpx.Client, **headers: str) -> Iterator[Iterator[str]]:
    with client.stream("GET", LIVE, headers=headers) as answer:
        assert answer.headers["Content-Type"].startswith("text/event-stream"), answer.read()
        lines = answer.iter_lines()
        assert next(lines) == ": live"
        yield lines


def events(lines: Iterator[str], count: int) -> list[dict[str, Any]]:
    found = []
    for line in lines:
        if line.startswith("data: "):
            found.append(json.loads(line.removeprefix("data: ")))
        if len(found) == count:
            break
    return found


def happen(client: httpx.Client, number: int) -> None:
    """Two events: there and back again."""
    for state in ("paused", "active"):
        body = {"state": state, "reason": f"{number}"}
        client.patch("/v1/studies/s", json=body, headers={"If-Match": "*"}).raise_for_status()


def test_a_reader_beyond_the_end_of_the_ledger_is_told(client: httpx.Client) -> None:
    """It saw events that are gone: the database was restored from an older copy."""
    for headers, params in (({"Last-Event-ID": "9"}, {}), ({}, {"after": "2"})):
        told = client.get(LIVE, headers=headers, params=params, timeout=5)
        assert (told.status_code, told.json()["code"], told.json()["newest"]) == (409, "ledger-behind", 1)


def test_events_come_as_they_are_committed_and_a_reader_resumes_where_it_was(client: httpx.Client) -> None:
    with stream(client) as lines:
        happen(client, 1)
        assert [event["seq"] for event in events(lines, 2)] == [2, 3]
    happen(client, 2)
    with stream(client, **{"Last-Event-ID": "3"}) as lines:
        assert [event["seq"] for event in events(lines, 2)] == [4, 5]
        happen(client, 3)
        assert [event["reason"] for event in events(lines, 2)] == ["3", "3"]
    with stream(client, **{"Last-Event-ID": "0"}) as lines:
        told = events(lines, 7)
    assert told == client.get("/v1/studies/s/events").json()["events"]


def test_a_stream_that_cannot_be_is_refused_before_it_begins(client: httpx.Client) -> None:
    assert client.get("/v1/studies/nobody/events/live", params={"after": 0}).status_code == 404
    assert client.get(LIVE, headers={"Last-Event-ID": "9" * 30}).status_code == 422
    with stream(client), stream(client):
        refused = client.get(LIVE)
        assert (refused.status_code, refused.json()["code"]) == (503, "overloaded")
        assert refused.headers["Retry-After"]
    deadline = monotonic() + 20
    while client.get("/v1/studies/s").status_code == 200 and monotonic() < deadline:
        with client.stream("GET", LIVE) as answer:
            if answer.status_code == 200:
                return
    raise AssertionError("the places were not given back")


def test_a_stream_ends_when_its_key_is_revoked_or_its_study_deleted(client: httpx.Client) -> None:
    made = client.post("/v1/keys", json={"name": "d", "role": "dashboard", "studies": ["s"]}).json()
    with stream(client, Authorization=f"Bearer {made['key']}") as lines:
        client.post(f"/v1/keys/{made['id']}/revocation").raise_for_status()
        assert list(lines)[-1:] in ([], [""])
    with stream(client) as lines:
        client.delete("/v1/studies/s?confirm=s").raise_for_status()
        assert not any(line.startswith("data: ") for line in lines)


def test_open_streams_end_when_the_server_does(server: Server, client: httpx.Client) -> None:
    with stream(client) as lines:
        server.process.terminate()
        assert list(lines)[-1:] in ([], [""])  # a stream that is cut off instead raises here
        assert server.process.wait(timeout=20) in (0, -15)
    assert "Traceback" not in server.output.read_text()
