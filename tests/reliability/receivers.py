"""Programs that receive webhooks and behave badly: they fail, hang, cut, redirect, stammer and lie."""

import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from random import Random
from threading import Event, Thread
from time import time
from typing import Any

STAMMER_SECONDS = 0.05  # between two bytes
OUTLASTING = 1_000_000  # bytes that nobody waits for
ACCEPTED, NOT_ACCEPTED = True, False


@dataclass(frozen=True)
class Arrival:
    path: str
    headers: Mapping[str, str]
    body: bytes
    accepted: bool  # whether the sender was to be told 2xx
    moment: float

    @property
    def message(self) -> dict[str, Any]:
        document: dict[str, Any] = json.loads(self.body)
        return document

    @property
    def event(self) -> int:
        return int(self.message["data"]["event"])


@dataclass
class BadReceiver:
    """Keeps what arrives, in that order; `elsewhere` is where its redirects lead."""

    random: Random
    elsewhere: str
    url: str = ""
    honest: bool = False  # accepts everything from now on
    arrivals: list[Arrival] = field(default_factory=list)
    ended: Event = field(default_factory=Event)

    def draw(self) -> tuple[Callable[["BadReceiver", "_Handler"], None], bool]:
        """How to answer next, and whether that is an acceptance."""
        if self.honest or self.random.random() < 0.5:
            return self.random.choice((_no_content, _created, _endless_body)), ACCEPTED
        return self.random.choice(MISBEHAVIOUR), NOT_ACCEPTED


class _Handler(BaseHTTPRequestHandler):
    receiver: BadReceiver

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:
            return  # the sender died while it told this
        headers = {name.lower(): value for name, value in self.headers.items()}
        answer, accepted = self.receiver.draw()
        self.receiver.arrivals.append(Arrival(self.path, headers, body, accepted, time()))
        self.close_connection = True
        with suppress(OSError):  # the sender has left
            answer(self.receiver, self)

    def do_GET(self) -> None:
        """What a redirect leads to; nobody may come here."""
        self.receiver.arrivals.append(Arrival(self.path, {}, b"", NOT_ACCEPTED, time()))

    def log_message(self, *_: object) -> None: ...

    def head(self, status: int, **headers: str) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()


def _no_content(_receiver: BadReceiver, handler: _Handler) -> None:
    handler.head(204)


def _created(_receiver: BadReceiver, handler: _Handler) -> None:
    handler.head(201)
    handler.wfile.write(b"thank you")


def _endless_body(receiver: BadReceiver, handler: _Handler) -> None:
    """Accepted; the rest of the answer never comes."""
    handler.head(200, **{"Content-Length": str(OUTLASTING)})
    _stammer(receiver, handler)


def _endless_head(receiver: BadReceiver, handler: _Handler) -> None:
    """One byte at a time, so that no single read takes long, and no status is ever told."""
    handler.wfile.write(b"HTTP/1.1 2")
    _stammer(receiver, handler)


def _stammer(receiver: BadReceiver, handler: _Handler) -> None:
    while not receiver.ended.wait(STAMMER_SECONDS):
        handler.wfile.write(b"0")


def _refuse(receiver: BadReceiver, handler: _Handler) -> None:
    handler.head(receiver.random.choice((400, 401, 404, 408, 429, 500, 502, 503)))


def _redirect(receiver: BadReceiver, handler: _Handler) -> None:
    handler.head(receiver.random.choice((301, 302, 303, 307, 308)), Location=f"{receiver.elsewhere}/hooks/trap")


def _hint(_receiver: BadReceiver, handler: _Handler) -> None:
    """An early hint, and no answer after it."""
    handler.wfile.write(b"HTTP/1.1 103 Early Hints\r\nLink: </200>\r\n\r\n")


def _gibberish(receiver: BadReceiver, handler: _Handler) -> None:
    lies = (
        b"\x00\xff\r\n\r\n",
        b"HTTP/1.1 2000 OK\r\n\r\n",
        b"HTTP/1.1 -204 x\r\n\r\n",
        b"200 OK\r\n\r\n",
        b"\r\n" * 200,
    )
    handler.wfile.write(receiver.random.choice(lies))


def _hang(receiver: BadReceiver, _handler: _Handler) -> None:
    receiver.ended.wait(1.0)


def _cut(_receiver: BadReceiver, _handler: _Handler) -> None:
    """Close the connection without a word."""


MISBEHAVIOUR = (_refuse, _refuse, _redirect, _redirect, _hint, _gibberish, _hang, _cut, _endless_head)


@contextmanager
def receiving(random: Random, elsewhere: str = "") -> Iterator[BadReceiver]:
    receiver = BadReceiver(random, elsewhere)
    handler = type("Handler", (_Handler,), {"receiver": receiver})
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        server.daemon_threads = True
        receiver.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        try:
            yield receiver
        finally:
            receiver.ended.set()
            server.shutdown()
            thread.join()
