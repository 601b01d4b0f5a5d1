"""Bodies that are no uploads: large ones are read only from a key that may send them, and only if there is memory."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from fastapi.testclient import TestClient

from app.api.bodies import SMALL
from app.services.memory import PER_TABLE_BYTE
from tests.api.conftest import problem
from tests.conftest import on_sqlite

pytestmark = on_sqlite
PIECE = b" " * SMALL
MANY = 1_000  # pieces: more than any body may have that is no upload
BEGINNING = 4  # pieces
JSON = {"Content-Type": "application/json"}
OWN_PAGE = {"Sec-Fetch-Site": "same-origin"}


def sent_piece_by_piece(client: TestClient, method: str, path: str, headers: Mapping[str, str]) -> tuple[int, int, str]:
    """How many pieces of an endless body were taken, the status, and the code."""
    taken, messages = 0, list[dict[str, Any]]()

    async def receive() -> dict[str, Any]:
        nonlocal taken
        taken += 1
        return {"type": "http.request", "body": PIECE, "more_body": taken < MANY}

    async def send(message: Any) -> None:
        messages.append(message)

    given = {"host": "testserver", "transfer-encoding": "chunked", **client.headers, **headers}
    scope = {
        "type": "http",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "scheme": "http",
        "server": ("testserver", 80),
        "client": ("testclient", 1),
        "http_version": "1.1",
        "headers": [(name.lower().encode(), value.encode()) for name, value in given.items()],
    }
    assert client.portal is not None
    client.portal.call(client.app, scope, receive, send)
    body = b"".join(message.get("body", b"") for message in messages)
    return taken, messages[0]["status"], json.loads(body)["code"]


@pytest.mark.parametrize("media_type", ["application/json", "text/csv"])
@pytest.mark.parametrize(("method", "path"), [("PUT", "/v1/studies/other"), ("POST", "/v1/studies/s/batches")])
def test_only_the_beginning_of_a_body_is_taken_from_a_stranger(
    admin: TestClient, method: str, path: str, media_type: str
) -> None:
    headers = {"authorization": "Bearer nb_nobody", "content-type": media_type}
    taken, status, code = sent_piece_by_piece(admin, method, path, headers)
    assert (status, code) == (401, "unauthenticated")
    assert taken <= BEGINNING


def test_only_the_beginning_is_taken_from_a_key_that_may_not_do_it(admin: TestClient, new_key: Any) -> None:
    headers = {"authorization": f"Bearer {new_key('technician')}", "content-type": "application/json"}
    taken, status, code = sent_piece_by_piece(admin, "PUT", "/v1/studies/other", headers)
    assert (status, code) == (403, "forbidden")
    assert taken <= BEGINNING


def test_a_sign_in_has_a_small_body(admin: TestClient) -> None:
    taken, status, code = sent_piece_by_piece(admin, "POST", "/session", OWN_PAGE | {"content-type": "text/plain"})
    assert (status, code) == (413, "body-too-large")
    assert taken <= BEGINNING


@pytest.mark.parametrize(
    ("method", "path"),
    [("PUT", "/v1/studies/other"), ("POST", "/v1/studies/s/batches/1/close"), ("DELETE", "/v1/studies/s/grants/x")],
)
def test_a_body_that_is_no_upload_may_be_no_larger_than_json(admin: TestClient, method: str, path: str) -> None:
    taken, status, code = sent_piece_by_piece(admin, method, path, {"content-type": "text/csv"})
    assert (status, code) == (413, "body-too-large")
    most = admin.app.state.resources.settings.max_json_bytes  # type: ignore[attr-defined]
    assert taken <= most / SMALL + BEGINNING


def test_a_large_body_takes_its_share_of_the_memory_until_it_is_answered(admin: TestClient) -> None:
    memory = admin.app.state.resources.memory  # type: ignore[attr-defined]
    body = json.dumps({"description": "fine"}).encode() + PIECE * 100
    assert PER_TABLE_BYTE * len(body) > memory._most_bytes / 16
    with memory.reserve(int(0.7 * memory._most_bytes)):
        problem(admin.put("/v1/studies/other", content=body, headers=JSON), 503, "overloaded")
    assert admin.put("/v1/studies/other", content=body, headers=JSON).status_code == 201
    assert admin.get("/v1/studies/other").json()["configuration"]["description"] == "fine"
    assert memory.reserved == 0


def test_a_large_body_counts_as_one_request(admin: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[str] = []
    monkeypatch.setattr(admin.app.state.rate_limit, "count", counted.append)  # type: ignore[attr-defined]
    assert admin.put("/v1/studies/other", content=b"{}" + PIECE * 2, headers=JSON).status_code == 201
    assert len(counted) == 1
