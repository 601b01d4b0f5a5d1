"""What holds for every request: an id, headers, limits, and errors of one shape."""

import json
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from app.api.middleware import SECURITY_HEADERS
from app.main import create_app
from app.settings import Settings
from app.storage.database import Database
from tests.api.conftest import problem
from tests.conftest import on_sqlite

pytestmark = on_sqlite  # the same before either database


@pytest.fixture
def narrow(settings: Settings, admin: TestClient) -> Iterator[TestClient]:
    """A server that takes 2 kB of JSON and 4 kB of anything else."""
    small = settings.model_copy(update={"max_json_bytes": 2_000, "max_body_bytes": 4_000})
    with TestClient(create_app(small), headers=admin.headers) as client:
        yield client


def test_an_unknown_address_is_a_404(anonymous: TestClient) -> None:
    for path in ("/nothing", "/v1", "/v1/", "/v1/studies/", "/v1/nothing", "/healthz/", "/%00"):
        problem(anonymous.get(path), 404, "not-found")


def test_a_name_that_no_study_can_have_is_a_404_to_read_and_a_422_to_make(admin: TestClient) -> None:
    problem(admin.get("/v1/studies/.hidden"), 404, "not-found")
    problem(admin.put("/v1/studies/.hidden", json={}), 422, "invalid-input")
    problem(admin.put(f"/v1/studies/{'x' * 101}", json={}), 422, "invalid-input")


def test_a_wrong_method_is_a_405_that_names_the_right_ones(anonymous: TestClient) -> None:
    for method, path in (("POST", "/healthz"), ("DELETE", "/v1/keys"), ("BREW", "/v1/studies")):
        answer = anonymous.request(method, path)
        problem(answer, 405, "method-not-allowed")
        assert "GET" in answer.headers["Allow"]


def test_a_body_that_says_it_is_too_large_is_refused_at_once(narrow: TestClient) -> None:
    problem(narrow.put("/v1/studies/s", json={"description": "x" * 2_000}), 413, "body-too-large")


def test_a_body_that_turns_out_too_large_is_refused_then(narrow: TestClient) -> None:
    def pieces() -> Iterator[bytes]:
        yield b'{"description": "'
        yield from [b"x" * 100] * 100
        yield b'"}'

    answer = narrow.put("/v1/studies/s", content=pieces(), headers={"Content-Type": "application/json"})
    problem(answer, 413, "body-too-large")


@pytest.mark.parametrize("media_type", ["text/csv", "multipart/form-data; boundary=b"])
def test_an_upload_that_turns_out_too_large_is_refused_and_stores_nothing(narrow: TestClient, media_type: str) -> None:
    narrow.put("/v1/studies/s", json={})

    def pieces() -> Iterator[bytes]:
        yield b'--b\r\nContent-Disposition: form-data; name="features"; filename="f"\r\n\r\n'
        yield from [b"1\n2\n" * 100] * 50

    answer = narrow.put("/v1/studies/s/candidates", content=pieces(), headers={"Content-Type": media_type})
    problem(answer, 413, "body-too-large")
    assert narrow.get("/v1/studies/s").json()["candidates"] == 0


def test_anything_but_json_may_be_larger(narrow: TestClient) -> None:
    narrow.put("/v1/studies/s", json={})
    rows = "t\n" + "".join(f"{number}\n" for number in range(700))
    uploaded = narrow.put("/v1/studies/s/candidates", content=rows, headers={"Content-Type": "text/csv"})
    assert uploaded.status_code == 201, uploaded.text


def test_a_length_that_is_no_number_is_no_bug(admin: TestClient) -> None:
    answer = admin.put("/v1/studies/s", content=b"{}", headers={"Content-Length": "²".encode("latin-1")})
    assert answer.status_code < 500


@pytest.mark.parametrize("media_type", ["", "text/plain", "application/xml", "application/x-npyz"])
def test_candidates_of_an_unknown_type_are_a_415(admin: TestClient, study: str, media_type: str) -> None:
    answer = admin.put("/v1/studies/s/candidates", content=b"x", headers={"Content-Type": media_type})
    document = problem(answer, 415, "unsupported-media-type")
    assert "text/csv" in document["detail"]


@pytest.mark.parametrize("host", ["evil.example", "testserver.evil.example", "", "localhost"])
def test_another_host_name_is_a_421(anonymous: TestClient, host: str) -> None:
    problem(anonymous.get("/healthz", headers={"Host": host}), 421, "misdirected-host")


@pytest.mark.parametrize("host", ["testserver", "testserver:8000", "TESTSERVER"])
def test_its_own_host_name_is_answered(anonymous: TestClient, host: str) -> None:
    assert anonymous.get("/healthz", headers={"Host": host}).status_code == 200


def test_a_star_allows_any_host(settings: Settings) -> None:
    with TestClient(create_app(settings.model_copy(update={"allowed_hosts": ("*",)}))) as client:
        assert client.get("/healthz", headers={"Host": "lab.example"}).status_code == 200


def test_every_request_has_an_id_of_its_own(anonymous: TestClient) -> None:
    ids = {anonymous.get("/healthz").headers["X-Request-ID"] for _ in range(3)}
    assert len(ids) == 3


def test_a_client_cannot_choose_the_id(anonymous: TestClient) -> None:
    for claimed in ("bench-2.7", "two words", "x" * 101, "a\\nb", ""):
        assert anonymous.get("/healthz", headers={"X-Request-ID": claimed}).headers["X-Request-ID"] != claimed


def test_the_id_is_in_the_log_and_in_the_ledger_and_the_clients_own_beside_it(
    admin: TestClient, capsys: pytest.CaptureFixture[str], database: Database
) -> None:
    made = admin.put("/v1/studies/s", json={}, headers={"X-Request-ID": "bench-2.7"})
    admin.get("/v1/studies/s", headers={"X-Request-ID": "two words"})
    lines = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    noted = [(line["request_id"], line.get("client_request_id")) for line in lines if line["event"] == "request"]
    assert noted[0] == (made.headers["X-Request-ID"], "bench-2.7")
    assert noted[1][1] is None
    with database.read() as connection:
        assert connection.exec_driver_sql("SELECT request_id FROM events").scalars().all() == [noted[0][0]]


def test_every_answer_has_the_security_headers(anonymous: TestClient) -> None:
    for answer in (
        anonymous.get("/healthz"),
        anonymous.get("/nothing"),
        anonymous.get("/healthz", headers={"Host": "x"}),
    ):
        assert {name: answer.headers[name] for name in SECURITY_HEADERS} == SECURITY_HEADERS
        assert "Server" not in answer.headers


def test_a_bug_is_a_500_with_the_incidents_id_and_nothing_else(
    anonymous: TestClient, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def broken(*_: object) -> None:
        raise KeyError("a secret of the server")

    monkeypatch.setattr("app.api.routes.operations.must_be_ready", broken)
    answer = anonymous.get("/readyz", headers={"X-Request-ID": "incident"})
    problem(answer, 500, "internal-error")
    assert "secret" not in answer.text
    assert "a secret of the server" in capsys.readouterr().out


def test_a_client_that_leaves_in_the_middle_is_no_bug(admin: TestClient, capsys: pytest.CaptureFixture[str]) -> None:
    messages = [{"type": "http.request", "body": b"key", "more_body": True}, {"type": "http.disconnect"}]
    headers = {"host": "testserver", "content-type": "text/csv", "authorization": admin.headers["Authorization"]}
    scope = {
        "type": "http",
        "method": "PUT",
        "path": "/v1/studies/s/candidates",
        "query_string": b"",
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }
    answers: list[object] = []

    async def receive() -> object:
        return messages.pop(0)

    async def send(message: object) -> None:
        answers.append(message)

    assert admin.portal is not None
    admin.portal.call(admin.app, scope, receive, send)
    assert answers == []
    assert [json.loads(line)["event"] for line in capsys.readouterr().out.splitlines()] == [
        "the client left",
        "request",
    ]
