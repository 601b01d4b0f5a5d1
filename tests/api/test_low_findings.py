"""Small things that an attacker found: each was accepted, incomplete or left behind before."""

import socket
import subprocess
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest
from fastapi.testclient import TestClient

from app.cli.connections import HttpConnection
from tests.api.conftest import Upload, problem
from tests.conftest import on_sqlite
from tests.server import NEXTBATCH, ROOT, environment, running

MEGABYTE = 2**20


@pytest.mark.parametrize("key", [".", ".."])
@on_sqlite
def test_a_key_that_no_address_can_name_is_refused(study: str, upload: Upload, key: str) -> None:
    refused = problem(upload(f"key,t\n{key},1\nb,2\n"), 422, "invalid-candidates")
    assert refused["errors"][0]["code"] == "key-dots"


@pytest.mark.parametrize(
    ("path", "methods"),
    [
        ("/v1/studies/s", "DELETE, GET, PATCH, PUT"),
        ("/v1/keys", "GET, POST"),
        ("/v1/studies/s/candidates", "GET, PATCH, POST, PUT"),
    ],
)
@on_sqlite
def test_allow_names_every_method(admin: TestClient, path: str, methods: str) -> None:
    refused = admin.request("OPTIONS", path)
    problem(refused, 405, "method-not-allowed")
    assert refused.headers["Allow"] == methods


def test_a_stored_answer_is_not_given_to_a_key_that_lost_its_grant(admin: TestClient, filled: str, new_key) -> None:
    key = new_key("client", filled)
    sent = {
        "json": {"candidate": "A1", "value": 1},
        "headers": {"Authorization": f"Bearer {key}", "Idempotency-Key": "one"},
    }
    path = f"/v1/studies/{filled}/observations"
    assert [admin.post(path, **sent).status_code for _ in range(2)] == [201, 201]
    asked = {"json": {"worker": "w"}, "headers": sent["headers"] | {"Idempotency-Key": "two"}}
    assert admin.post(f"/v1/studies/{filled}/batches", **asked).status_code == 201
    admin.delete(f"/v1/studies/{filled}/grants/{key.split('_')[1]}").raise_for_status()
    problem(admin.post(path, **sent), 404, "study-not-found")
    problem(admin.post(f"/v1/studies/{filled}/batches", **asked), 404, "study-not-found")


def test_bodies_that_nobody_reads_are_refused_and_cookies_are_secure_behind_a_trusted_proxy(tmp_path: Path) -> None:
    with running(tmp_path / "data") as server:
        place = urlsplit(server.address)
        with socket.create_connection((place.hostname, place.port), timeout=30) as line:
            head = (
                "POST /session HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n"
            )
            line.sendall(f"{head}0\r\n\r\n".encode())
            assert line.recv(1000).startswith(b"HTTP/1.1 400 ")
        assert "Secure" in signed_in(server.address, server.key)
        with socket.create_connection((place.hostname, place.port), timeout=30) as line:
            line.sendall(b"PUT /v1/studies/s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 400000000\r\n\r\n")
            with pytest.raises(OSError, match=r"reset|pipe"):
                line.sendall(bytes(200 * MEGABYTE))
        too_much = httpx.put(f"{server.address}/v1/studies/s", content=iter([bytes(MEGABYTE)] * 100))
        assert (too_much.status_code, too_much.json()["code"]) == (401, "unauthenticated")
    with running(tmp_path / "data", NEXTBATCH_TRUSTED_PROXIES="[]") as server:
        key = (tmp_path / "data/admin.key").read_text().strip()
        assert "Secure" not in signed_in(server.address, key)


def signed_in(address: str, key: str | None) -> str:
    """The cookie that a browser gets behind a proxy that speaks TLS."""
    headers = {"X-Forwarded-Proto": "https", "Sec-Fetch-Site": "same-origin"}
    answer = httpx.post(f"{address}/session", json={"key": key}, headers=headers)
    return answer.headers["Set-Cookie"]


def test_a_refused_start_prints_one_line(tmp_path: Path) -> None:
    command = [*NEXTBATCH, "serve", "--host", "0.0.0.0"]  # noqa: S104
    ended = subprocess.run(command, cwd=ROOT, env=environment(tmp_path), capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout) == (1, "")
    assert len(ended.stderr.splitlines()) == 1
    assert ended.stderr.startswith("nextbatch: ")


class StalledTransport:
    """A connection whose client has stopped reading: so many bytes wait at each look."""

    def __init__(self, waiting: list[int]) -> None:
        self.waiting = waiting
        self.aborted = False

    def is_closing(self) -> bool:
        return self.aborted

    def get_write_buffer_size(self) -> int:
        return self.waiting.pop(0)

    def abort(self) -> None:
        self.aborted = True


class NoLoop:
    def call_later(self, *_: object) -> None:
        pass


class RunningRequest:
    response_complete = False


@pytest.mark.parametrize(
    ("waiting", "aborted"), [([70_000, 70_000], True), ([70_000, 65_000], False), ([0, 0], False), ([0, 9], False)]
)
def test_a_connection_that_is_never_read_is_closed(waiting: list[int], aborted: bool) -> None:
    connection = HttpConnection.__new__(HttpConnection)
    transport = StalledTransport(waiting)
    connection.transport, connection.loop, connection.cycle = transport, NoLoop(), RunningRequest()
    connection._check_idle()
    connection._check_idle()
    assert transport.aborted is aborted
