"""Connections that send slowly, nothing, or nonsense: closed after a while, with an answer where there can be one."""

import json
import socket
from collections.abc import Iterator
from contextlib import closing
from itertools import chain
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from app.api import dependencies
from app.cli import connections
from tests.conftest import on_sqlite
from tests.live import Live, running

pytestmark = on_sqlite  # no database has a part in it


@pytest.fixture
def live(address: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Live]:
    monkeypatch.setattr(connections, "IDLE_SECONDS", 0.3)
    with running(address, tmp_path, body_seconds=0.3) as live:
        yield live


def said_to(live: Live, sent: bytes) -> bytes:
    """Everything the server answers to these bytes, until it closes the connection."""
    with closing(socket.create_connection((urlsplit(live.url).hostname, urlsplit(live.url).port), timeout=60)) as line:
        line.sendall(sent)
        answer = bytearray()
        while piece := line.recv(65536):
            answer += piece
        return bytes(answer)


HEAD = b"PUT /v1/studies/s HTTP/1.1\r\nHost: 127.0.0.1\r\n"


@pytest.mark.parametrize("sent", [b"", b"GET", HEAD, HEAD + b"X-Slow: "])
def test_a_connection_on_which_no_request_comes_is_closed(live: Live, sent: bytes) -> None:
    assert said_to(live, sent) == b""


def test_a_second_request_that_never_comes_closes_the_connection_too(live: Live) -> None:
    answer = said_to(live, b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n" + HEAD)
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize("media_type", [b"application/json", b"text/csv"])
def test_a_body_that_does_not_come_is_a_408(live: Live, media_type: bytes) -> None:
    key = f"Authorization: Bearer {live.key}\r\n".encode()
    path = HEAD.replace(b"/s ", b"/s/candidates ") if b"csv" in media_type else HEAD
    answer = said_to(live, path + key + b"Content-Type: " + media_type + b"\r\nContent-Length: 100\r\n\r\n{")
    assert answer.startswith(b"HTTP/1.1 408")
    head, _, body = answer.partition(b"\r\n\r\n")
    assert json.loads(body)["code"] == "body-too-slow"
    assert b"connection: close" in head.lower()


@pytest.mark.parametrize("length", [b"Content-Length: 100000", b"Transfer-Encoding: chunked"])
def test_who_sends_slowly_takes_no_thread(live: Live, monkeypatch: pytest.MonkeyPatch, length: bytes) -> None:
    """Nor a read of the database: honest requests would wait behind a crowd of them."""
    looked_at = []
    monkeypatch.setattr(dependencies, "authenticate", lambda *key: looked_at.append(key))
    head = HEAD.replace(b"/s ", b"/s/candidates ") + f"Authorization: Bearer {live.key}\r\n".encode()
    assert said_to(live, head + length + b"\r\n\r\n").startswith(b"HTTP/1.1 408")
    assert looked_at == []


def test_a_body_in_pieces_arrives_whole(live: Live) -> None:
    """Also one of which only the beginning is waited for."""
    pieces = (b"K%d,%d\n" % (n, n) for n in range(20_000))
    with httpx.Client(base_url=live.url, headers={"Authorization": f"Bearer {live.key}"}) as client:
        client.put("/v1/studies/s", json={}).raise_for_status()
        content, headers = chain([b"key,t\n"], pieces), {"Content-Type": "text/csv"}
        answer = client.put("/v1/studies/s/candidates", content=content, headers=headers)
    assert answer.json()["candidates"] == 20_000, answer.text


@pytest.mark.parametrize("sent", [b"\0\1\2\r\n\r\n", b"GET /\r\n\r\n", HEAD + b"Content-Length: x\r\n\r\n"])
def test_what_is_no_http_gets_a_problem_document(live: Live, sent: bytes) -> None:
    head, _, body = said_to(live, sent).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400")
    assert b"application/problem+json" in head
    assert json.loads(body)["code"] == "refused"
