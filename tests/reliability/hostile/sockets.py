"""Attacks on a server in a process of its own: each holds what it can for as long as its block lasts."""

import resource
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from threading import Event
from urllib.parse import urlsplit

import httpx

from tests.server import Server

HEAD = "PUT /v1/studies/{path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {key}\r\n"
CHUNKED = "Content-Type: {kind}\r\nTransfer-Encoding: chunked\r\n\r\n"
MEBIBYTE, GIBIBYTE = 1 << 20, 1 << 30
CROWD = 40  # of those who ask, or look, all the time


def _line(server: Server) -> socket.socket:
    place = urlsplit(server.address)
    return socket.create_connection((place.hostname, place.port), timeout=30)


def _most_sockets() -> int:
    return min(2000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] // 4)


@contextmanager
def slow_sockets(server: Server, study: str) -> Iterator[None]:
    """Two thousand connections: silent, in the middle of a header, in the middle of a body."""
    beginnings = ("", "GET / HTT", HEAD, HEAD + "Content-Type: text/csv\r\nContent-Length: 99999\r\n\r\nkey,t\n")
    with ExitStack() as stack:
        for number in range(_most_sockets()):
            line = stack.enter_context(_line(server))
            line.sendall(
                beginnings[number % len(beginnings)].format(path=f"{study}/candidates", key=server.key).encode()
            )
        yield


@contextmanager
def _endless(server: Server, path: str, kind: str) -> Iterator[None]:
    """A body of a gibibyte in pieces, of which no length was told."""
    over = Event()

    def send() -> None:
        with suppress(OSError), _line(server) as line:
            line.sendall((HEAD + CHUNKED).format(path=path, key=server.key, kind=kind).encode())
            piece = b"1,2\n" * (MEBIBYTE // 4)
            for _ in range(GIBIBYTE // MEBIBYTE):
                if over.is_set():
                    return
                line.sendall(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")

    with ThreadPoolExecutor(1) as pool:
        pool.submit(send)
        try:
            yield
        finally:
            over.set()


@contextmanager
def endless_csv(server: Server, study: str) -> Iterator[None]:
    with _endless(server, f"{study}/candidates", "text/csv"):
        yield


@contextmanager
def endless_json(server: Server, study: str) -> Iterator[None]:
    with _endless(server, study, "application/json"):
        yield


@contextmanager
def _crowd(server: Server, method: str, path: str, body: bytes | None = None) -> Iterator[None]:
    """Forty who send the same all the time, whatever they are told."""
    over = Event()

    def send(number: int) -> None:
        headers = {"Authorization": f"Bearer {server.key}", "Content-Type": "application/json"}
        with httpx.Client(base_url=server.address, headers=headers, timeout=60) as client:
            while not over.is_set():
                with suppress(httpx.TransportError):
                    client.request(method, path, content=body and body.replace(b"{n}", str(number).encode()))

    with ThreadPoolExecutor(CROWD) as pool:
        for number in range(CROWD):
            pool.submit(send, number)
        try:
            yield
        finally:
            over.set()


@contextmanager
def deep_json(server: Server, study: str) -> Iterator[None]:
    """JSON of a hundred thousand levels."""
    with _crowd(server, "PUT", f"/v1/studies/{study}", b"[" * 100_000):
        yield


@contextmanager
def ask_flood(server: Server, study: str) -> Iterator[None]:
    with _crowd(server, "POST", f"/v1/studies/{study}/batches", b'{"worker": "w{n}", "max_size": 1, "wait": 5}'):
        yield


@contextmanager
def polling(server: Server, study: str) -> Iterator[None]:
    with _crowd(server, "GET", f"/v1/studies/{study}/summary"):
        yield


ATTACKS = (endless_json, slow_sockets, endless_csv, deep_json, ask_flood, polling)
