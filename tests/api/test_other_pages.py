"""Pages of other origins: those that the operator lists may call the API, and follow a stream with a ticket."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import httpx
import pytest
from fastapi.testclient import TestClient

from app.main import create_app
from app.services import tickets
from app.settings import Settings, read_settings
from app.storage import keys
from tests.api.conftest import problem
from tests.conftest import on_sqlite
from tests.live import running

PAGE = "https://bench.example.org"
ASK = {"Access-Control-Request-Method": "POST", "Access-Control-Request-Headers": "authorization,idempotency-key"}


@pytest.fixture
def open_to_a_page(settings: Settings) -> Iterator[TestClient]:
    listed = settings.model_copy(update={"cors_origins": (PAGE,)})
    with TestClient(create_app(listed)) as client:
        yield client


@on_sqlite
def test_a_listed_page_may_call_and_no_other(open_to_a_page: TestClient) -> None:
    allowed = open_to_a_page.options("/v1/studies/s/batches", headers={"Origin": PAGE, **ASK})
    assert (allowed.status_code, allowed.headers["Access-Control-Allow-Origin"]) == (200, PAGE)
    assert "Access-Control-Allow-Credentials" not in allowed.headers
    refused = open_to_a_page.get("/v1/studies", headers={"Origin": PAGE})  # without a key: it may read why
    assert (refused.status_code, refused.headers["Access-Control-Allow-Origin"]) == (401, PAGE)
    for other in ("https://evil.example", "https://bench.example.org.evil.example", "null", f"{PAGE}:8443"):
        assert open_to_a_page.options("/v1/studies", headers={"Origin": other, **ASK}).status_code == 400
        assert "Access-Control-Allow-Origin" not in open_to_a_page.get("/healthz", headers={"Origin": other}).headers


@on_sqlite
def test_by_default_no_other_page_may_call(anonymous: TestClient) -> None:
    answer = anonymous.get("/healthz", headers={"Origin": PAGE})
    assert not [name for name in answer.headers if name.lower().startswith("access-control")]


@pytest.mark.parametrize("origin", ["bench.example.org", "https://bench.example.org/", "*", "https://*.example.org"])
def test_an_origin_is_written_in_full(origin: str) -> None:
    with pytest.raises(ValueError, match="NEXTBATCH_CORS_ORIGINS"):
        read_settings(cors_origins=origin)


def test_a_ticket_opens_one_stream_once(address: str, tmp_path: Path) -> None:
    with running(address, tmp_path) as live, httpx.Client(base_url=live.url) as client:
        key = {"Authorization": f"Bearer {live.key}"}
        for name in ("s", "t"):
            client.put(f"/v1/studies/{name}", json={}, headers=key).raise_for_status()
        made = client.post("/v1/studies/s/events/ticket", headers=key).json()
        assert client.get("/v1/studies/t/events/live", params={"ticket": made["ticket"]}).status_code == 401
        assert client.get("/v1/studies/s", params={"ticket": made["ticket"]}).status_code in (401, 422)
        with client.stream("GET", "/v1/studies/s/events/live", params={"ticket": made["ticket"], "after": 0}) as stream:
            assert stream.status_code == 200
            assert any("study-created" in line for line in stream.iter_lines())
        assert client.get("/v1/studies/s/events/live", params={"ticket": made["ticket"]}).status_code == 401


def test_a_stream_that_a_ticket_opened_is_recorded_as_a_read(address: str, tmp_path: Path) -> None:
    with running(address, tmp_path, audit_reads=True) as live, httpx.Client(base_url=live.url) as client:
        key = {"Authorization": f"Bearer {live.key}"}
        client.put("/v1/studies/s", json={}, headers=key).raise_for_status()
        ticket = client.post("/v1/studies/s/events/ticket", headers=key).json()["ticket"]
        with client.stream("GET", "/v1/studies/s/events/live", params={"ticket": ticket, "after": 0}) as stream:
            assert stream.status_code == 200
        log = client.get("/v1/audit", headers=key).json()["entries"]
        reads = [(entry["actor"], json.loads(entry["details"])["path"]) for entry in log if entry["action"] == "read"]
        me = client.get("/v1/keys/me", headers=key).json()["id"]
        assert reads == [(me, "/v1/studies/s/events/live"), (me, "/v1/audit")]


def test_a_ticket_expires_and_ends_with_its_key(
    admin: TestClient, study: str, new_key: Callable[..., str], monkeypatch: pytest.MonkeyPatch
) -> None:
    headers = {"Authorization": f"Bearer {new_key('dashboard', study)}"}
    me = admin.get("/v1/keys/me", headers=headers).json()["id"]
    path = f"/v1/studies/{study}/events"
    for_revoked = admin.post(f"{path}/ticket", headers=headers).json()["ticket"]
    admin.post(f"/v1/keys/{me}/revocation").raise_for_status()
    problem(admin.get(f"{path}/live", params={"ticket": for_revoked}), 401, "unauthenticated")
    monkeypatch.setattr(tickets, "SECONDS", 0)
    late = admin.post(f"{path}/ticket").json()["ticket"]
    problem(admin.get(f"{path}/live", params={"ticket": late}), 401, "unauthenticated")
    other = {"Authorization": f"Bearer {new_key('dashboard')}"}
    problem(admin.post(f"{path}/ticket", headers=other), 404, "study-not-found")


def test_what_is_no_ticket_never_waits_for_a_turn_to_write(
    anonymous: TestClient, study: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Anyone could make the server write, and on SQLite keep others from writing, without any key."""
    anonymous.headers.pop("Authorization", None)
    monkeypatch.setattr(keys, "take_ticket", None)  # which takes a turn to write
    invented = anonymous.get(f"/v1/studies/{study}/events/live", params={"ticket": "invented"})
    problem(invented, 401, "unauthenticated")
