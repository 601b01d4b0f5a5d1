"""A program that receives webhooks: keeps what it gets, and answers as it is told."""

import base64
import hmac
import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any


@dataclass
class Receiver:
    url: str = ""
    answers: list[int] = field(default_factory=list)  # the next statuses; then 204
    got: list[tuple[str, dict[str, str], bytes]] = field(default_factory=list)  # path, headers, body

    @property
    def messages(self) -> list[dict[str, Any]]:
        return [json.loads(body) for _, _, body in self.got]

    @property
    def ids(self) -> list[str]:
        return [headers["webhook-id"] for _, headers, _ in self.got]

    def told(self) -> list[tuple[str, int]]:
        return [(message["type"], message["data"]["event"]) for message in self.messages]


def is_signed(secret: str, headers: dict[str, str], body: bytes) -> bool:
    """Whether one of the signatures is that of the secret, as standardwebhooks.com says."""
    key = base64.b64decode(secret.removeprefix("whsec_"))
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.{body.decode()}".encode()
    expected = "v1," + base64.b64encode(hmac.new(key, signed, sha256).digest()).decode()
    return expected in headers["webhook-signature"].split(" ")


@contextmanager
def receiving() -> Iterator[Receiver]:
    receiver = Receiver()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            receiver.got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(receiver.answers.pop(0) if receiver.answers else 204)
            self.send_header("Location", f"{receiver.url}/elsewhere")
            self.end_headers()

        def log_message(self, *_: object) -> None: ...

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        receiver.url = f"http://127.0.0.1:{server.server_port}"
        thread = Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02})
        thread.start()
        yield receiver
        server.shutdown()
        thread.join()
